import { describe, expect, it } from 'vitest'

import { toHistoryDays, toLatestTable } from '../../src/providers/frankfurter-v2-rows.ts'
import {
  createFrankfurterV2EcbProvider,
  createFrankfurterV2Provider,
} from '../../src/providers/frankfurter-v2.ts'
import { createFrankfurterProvider } from '../../src/providers/frankfurter.ts'
import { addDays } from '../../src/rates/day.ts'
import {
  answerOfFrankfurterV2,
  frankfurterV2EcbRows,
  frankfurterV2Rows,
} from '../fixtures/feed-payloads.ts'
import { frankfurterPayload } from '../fixtures/upstream-payloads.ts'
import { upstream } from './upstream.ts'
import type { Upstream } from './upstream.ts'

const NOW = Date.UTC(2026, 10, 20, 18)
const TODAY = '2026-11-20'

const RANGE = { start: '2026-11-07', end: TODAY }

function answer(body: unknown, status = 200): Parameters<typeof toHistoryDays>[0] {
  return { host: 'api.frankfurter.dev', status, body }
}

function row(quote: string, date: string, rate = 2): object {
  return { date, base: 'USD', quote, rate }
}

/** The service itself, which remembers what it was asked. */
function service(): Upstream {
  const { context, asked } = upstream([])
  const fetch: typeof context.fetch = async (input, init = {}) => {
    const url = String(input instanceof Request ? input.url : input)
    asked.push({ url, init })
    return answerOfFrankfurterV2(url, NOW)
  }
  return { context: { ...context, fetch, now: () => NOW }, asked }
}

describe('createFrankfurterV2Provider()', () => {
  it('asks for every rate against the dollar, and names the service', async () => {
    const { context, asked } = service()
    const provider = createFrankfurterV2Provider()
    const { rates } = await provider.fetchLatest(context)
    expect(asked.map(({ url }) => url)).toEqual(['https://api.frankfurter.dev/v2/rates?base=USD'])
    expect(Object.keys(rates)).toHaveLength(frankfurterV2Rows(NOW).length)
    expect(provider.attribution.name).toBe('Frankfurter')
  })

  it('asks for the blend of the banks that are named, below its root', async () => {
    const { context, asked } = service()
    const url = 'http://127.0.0.1:8080/'
    await createFrankfurterV2Provider({ url, providers: ['ECB', 'BOC'] }).fetchLatest(context)
    expect(asked[0]?.url).toBe('http://127.0.0.1:8080/v2/rates?base=USD&providers=ECB,BOC')
  })

  it.each([[[]], [['ECB&date=1999-01-04']], [['']]])('refuses the banks %j', (providers) => {
    expect(() => createFrankfurterV2Provider({ providers })).toThrow(TypeError)
  })

  it('refuses half a table', async () => {
    const { context } = upstream([Response.json(frankfurterV2Rows(NOW).slice(0, 12))])
    const call = createFrankfurterV2Provider().fetchLatest(context)
    await expect(call).rejects.toThrow('12 codes are not a market')
  })
})

describe('toLatestTable()', () => {
  it('is of the newest day up to today, whatever other rows have', () => {
    const rows = [row('AUD', '2026-11-18'), row('EUR', '2026-11-19'), row('CAD', '2026-11-11')]
    expect(toLatestTable(answer(rows), NOW).updatedAt).toBe(Date.UTC(2026, 10, 19))
  })

  it('counts the day that comes next as today', () => {
    const rows = [row('AUD', '2026-11-18'), row('NZD', '2026-11-21', 1.75)]
    const { updatedAt, rates } = toLatestTable(answer(rows), NOW)
    expect(updatedAt).toBe(Date.UTC(2026, 10, 20))
    expect(rates).toEqual({ AUD: 2, NZD: 1.75 })
  })

  it.each([
    ['further ahead', '2026-11-22'],
    ['of more than 14 days before', '2026-11-05'],
  ])('leaves out a row from %s', (_, date) => {
    const rows = [row('EUR', TODAY), row('AUD', '2026-11-06'), row('RUB', date)]
    expect(toLatestTable(answer(rows), NOW).rates).toEqual({ EUR: 2, AUD: 2 })
  })

  it('is due again at the next full hour', () => {
    const next = (now: number): number =>
      toLatestTable(answer([row('EUR', TODAY)]), now).nextUpdateAt
    expect(next(NOW)).toBe(NOW + 3_600_000)
    expect(next(NOW + 1)).toBe(NOW + 3_600_000)
    expect(next(NOW + 3_599_999)).toBe(NOW + 3_600_000)
  })

  it.each([[[]], [[row('EUR', '2026-12-24')]]])('refuses %j, which has no day', (rows) => {
    expect(() => toLatestTable(answer(rows), NOW)).toThrow(
      'api.frankfurter.dev answered without a day up to today',
    )
  })

  it.each([
    [{ status: 422, message: 'invalid currency: XXX' }, 'all of it'],
    [[row('EUR', TODAY), { ...row('AUD', TODAY), base: 'EUR' }], 'row 1'],
    [[row('EUR', '2026-02-30')], 'row 0'],
    [[{ ...row('EUR', TODAY), date: [TODAY] }], 'row 0'],
    [[{ date: TODAY, base: 'USD', rate: 1 }], 'row 0'],
    [[null], 'row 0'],
  ])('refuses another form: %j', (body, where) => {
    expect(() => toLatestTable(answer(body), NOW)).toThrow(`answered in another form: ${where}`)
  })

  it.each([404, 422, 503])('tells the status %d and not the message', (status) => {
    const body = { status, message: 'a long story' }
    expect(() => toLatestTable(answer(body, status), NOW)).toThrow(
      expect.objectContaining({ message: `api.frankfurter.dev answered with status ${status}` }),
    )
  })
})

describe('createFrankfurterV2EcbProvider()', () => {
  it('has the very days and source of the first version', async () => {
    const ours = createFrankfurterV2EcbProvider()
    const theirs = createFrankfurterProvider()
    const body = frankfurterPayload({ ...RANGE, now: NOW })
    const expected = await theirs.fetchHistory(RANGE, upstream([new Response(body)]).context)
    expect(await ours.fetchHistory(RANGE, service().context)).toEqual(expected)
    expect(expected.days).toHaveLength(10)
    expect(ours.attribution).toEqual(theirs.attribution)
  })

  it('asks for five years at once', async () => {
    const { context, asked } = service()
    await createFrankfurterV2EcbProvider().fetchHistory(
      { start: '2021-11-22', end: TODAY },
      context,
    )
    expect(asked.map(({ url }) => url)).toEqual([
      'https://api.frankfurter.dev/v2/rates?providers=ECB&from=2021-11-22&to=2026-11-20',
    ])
  })

  it('asks for more than five years in pieces, and has every day once', async () => {
    const { context, asked } = service()
    const start = '1999-01-01'
    const { days } = await createFrankfurterV2EcbProvider().fetchHistory(
      { start, end: TODAY },
      context,
    )
    const ranges = asked.map(({ url }) => new URL(url).searchParams)
    expect(ranges).toHaveLength(6)
    const ends = ranges.map((range) => range.get('to') ?? '')
    expect(ranges.map((range) => range.get('from'))).toEqual([
      start,
      ...ends.slice(0, -1).map((end) => addDays(end, 1)),
    ])
    expect(ends.at(-1)).toBe(TODAY)
    const rows = frankfurterV2EcbRows(start, TODAY, NOW)
    expect(days.map(({ date }) => date)).toEqual([...new Set(rows.map(({ date }) => date))])
  })

  it('asks for nothing where the range ends before it begins', async () => {
    const { context, asked } = service()
    const range = { start: TODAY, end: RANGE.start }
    const { days } = await createFrankfurterV2EcbProvider().fetchHistory(range, context)
    expect([days, asked]).toEqual([[], []])
  })

  it('fails as a whole when one piece does', async () => {
    const rows = Response.json(frankfurterV2EcbRows('1999-01-04', '1999-01-08', NOW))
    const { context, asked } = upstream([rows, new Response('', { status: 503 })])
    const range = { start: '1999-01-04', end: TODAY }
    const call = createFrankfurterV2EcbProvider().fetchHistory(range, context)
    await expect(call).rejects.toThrow('api.frankfurter.dev answered 503 without JSON')
    expect(asked).toHaveLength(2)
    expect(asked.map(({ init }) => init.signal?.aborted)).toEqual([true, true])
  })
})

describe('toHistoryDays()', () => {
  const rows = frankfurterV2EcbRows(RANGE.start, RANGE.end, NOW)

  it('drops the rows of the day before, and the euro against itself', () => {
    expect(rows[0]?.date).toBe('2026-11-06')
    const { base, days } = toHistoryDays(answer(rows), RANGE)
    expect([base, days[0]?.date]).toEqual(['EUR', '2026-11-09'])
    expect(days.flatMap(({ rates }) => Object.keys(rates))).not.toContain('EUR')
  })

  it('puts days in order, and fills none in', () => {
    const shuffled = [...rows.slice(95), ...rows.slice(0, 95)]
    const expected = toHistoryDays(answer(rows), RANGE)
    expect(toHistoryDays(answer(shuffled), RANGE)).toEqual(expected)
    const gap = rows.filter(({ date, quote }) => date !== '2026-11-12' || quote === 'EUR')
    expect(toHistoryDays(answer(gap), RANGE).days.map(({ date }) => date)).toEqual(
      expected.days.map(({ date }) => date).filter((date) => date !== '2026-11-12'),
    )
  })

  it('has the first day and the last, no others, and currencies at par', () => {
    const rows = ['2026-11-06', '2026-11-07', '2026-11-20', '2026-11-21'].map((date) => {
      return { date, base: 'EUR', quote: 'BAM', rate: 1 }
    })
    expect(toHistoryDays(answer(rows), RANGE).days).toEqual([
      { date: '2026-11-07', rates: { BAM: 1 } },
      { date: '2026-11-20', rates: { BAM: 1 } },
    ])
  })

  it.each(['2026-02-30', 'today', ''])('refuses the day %j', (date) => {
    const rows = [{ date, base: 'EUR', quote: 'USD', rate: 1.1 }]
    expect(() => toHistoryDays(answer(rows), RANGE)).toThrow('answered in another form: row 0')
  })

  it('leaves an odd euro to be refused', () => {
    const odd = rows.map((each) => (each.quote === 'EUR' ? { ...each, rate: 1.1 } : each))
    expect(toHistoryDays(answer(odd), RANGE).days[0]?.rates).toHaveProperty('EUR', 1.1)
  })

  it('refuses rows against another base', () => {
    const other = rows.map((each) => ({ ...each, base: 'USD' }))
    expect(() => toHistoryDays(answer(other), RANGE)).toThrow('answered in another form: row 0')
  })
})
