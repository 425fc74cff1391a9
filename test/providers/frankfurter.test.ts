import { describe, expect, it } from 'vitest'

import { createFrankfurterProvider } from '../../src/index.ts'
import type { HistoryDays, LatestTable } from '../../src/index.ts'
import {
  createFrankfurterV2EcbProvider,
  createFrankfurterV2Provider,
} from '../../src/providers/frankfurter-v2.ts'
import { addDays } from '../fixtures/dates.ts'
import {
  answerOfFrankfurterV2,
  frankfurterV2EcbRows,
  frankfurterV2Rows,
} from '../fixtures/feeds/frankfurter-v2.ts'
import { frankfurterPayload } from '../fixtures/upstream-payloads.ts'
import { NOW, manyRates, respondingWith, upstream } from './upstream.ts'
import type { Upstream } from './upstream.ts'

const TODAY = '2026-11-20'

const RANGE = { start: '2026-11-07', end: TODAY }

const row = (quote: string, date: string, rate = 2) => ({ date, base: 'USD', quote, rate })

/** Rows of enough currencies for a market, all of the same day and at 2. */
const manyRows = (date: string) => Object.keys(manyRates()).map((code) => row(code, date))

/** Creates the service, which records its requests. */
function service(respond = (url: string) => answerOfFrankfurterV2(url, NOW)): Upstream {
  const market = upstream([() => respond(market.requests.at(-1)?.url ?? '')])
  return market
}

/** Rates of the first and the last day of a request, and of the day before. */
function endsOnly(url: string): Response {
  const { from = '', to = '' } = Object.fromEntries(new URL(url).searchParams)
  const dates = [addDays(from, -1), from, to]
  return Response.json(dates.map((date) => ({ date, base: 'EUR', quote: 'USD', rate: 1.1 })))
}

describe('the days of Frankfurter', () => {
  const provider = createFrankfurterProvider()
  const good: Record<string, unknown> = JSON.parse(frankfurterPayload({ ...RANGE, now: NOW }))

  function read(body: unknown, range = RANGE): Promise<HistoryDays> {
    return provider.fetchHistory(range, respondingWith(body))
  }

  it('exclude the day before the start that the relay adds', async () => {
    expect(Object.keys(Object(good['rates']))[0]).toBe('2026-11-06')
    const { base, days } = await read(good)
    expect([base, days[0]?.date, days.length]).toEqual(['EUR', '2026-11-09', 10])
  })

  it.each([
    ['the first day of the range', good, '2026-11-09', '2026-11-09'],
    ['no day if the relay has none', { ...good, rates: {} }, RANGE.start, undefined],
  ])('begin with %s', async (_what, body, start, first) => {
    expect((await read(body, { ...RANGE, start })).days[0]?.date).toBe(first)
  })

  it('are rejected if some are invalid, naming five of them', async () => {
    const invalid = ['09', '10', '11', '12', '13', '16'].map((day) => [`2026-11-${day}`, 1.1])
    const rates = { '2026-11-06': { USD: 1.1 }, ...Object.fromEntries(invalid) }
    const message = /^api\.frankfurter\.dev .*: day 2, day 3, day 4, day 5, day 6$/
    await expect(read({ ...good, rates })).rejects.toThrow(message)
  })
})

describe('createFrankfurterV2Provider()', () => {
  it('has every rate against the dollar', async () => {
    const { rates } = await createFrankfurterV2Provider().fetchLatest(service().context)
    expect(Object.keys(rates)).toHaveLength(frankfurterV2Rows(NOW).length)
  })

  it('requests the blend of the named banks, below its root', async () => {
    const { context, requests } = service()
    const url = 'http://127.0.0.1:8080/'
    await createFrankfurterV2Provider({ url, providers: ['ECB', 'BOC'] }).fetchLatest(context)
    expect(requests[0]?.url).toBe('http://127.0.0.1:8080/v2/rates?base=USD&providers=ECB,BOC')
  })

  it.each([[[]], [['ECB&date=1999-01-04']], [['']]])('throws for the banks %j', (providers) => {
    expect(() => createFrankfurterV2Provider({ providers })).toThrow(TypeError)
  })
})

describe('the table of the second version', () => {
  function read(body: unknown, now = NOW): Promise<LatestTable> {
    return createFrankfurterV2Provider().fetchLatest(respondingWith(body, {}, now))
  }

  it('is of the newest day up to today that any row has', async () => {
    const others = [row('EUR', '2026-11-19'), row('JPY', '2026-11-11', 155)]
    const { updatedAt } = await read([...manyRows('2026-11-18'), ...others])
    expect(updatedAt).toBe(Date.UTC(2026, 10, 19))
  })

  it('counts the day that comes next as today', async () => {
    const rows = [...manyRows('2026-11-18'), row('JPY', '2026-11-21', 156.5)]
    const { updatedAt, rates } = await read(rows)
    expect(updatedAt).toBe(Date.UTC(2026, 10, 20))
    expect(rates).toEqual({ ...manyRates(), JPY: 156.5 })
  })

  it.each([
    ['further ahead', '2026-11-22'],
    ['of more than 14 days before', '2026-11-05'],
  ])('leaves out a row from %s', async (_, date) => {
    const rows = [...manyRows(TODAY), row('JPY', '2026-11-06', 155), row('RUB', date)]
    expect((await read(rows)).rates).toEqual({ ...manyRates(), JPY: 155 })
  })

  it.each([0, 1, 3_599_999])('is due at the next full hour, %d ms after one', async (late) => {
    const { nextUpdateAt } = await read(manyRows(TODAY), NOW + late)
    expect(nextUpdateAt).toBe(NOW + 3_600_000)
  })

  it.each([
    [[], 'no rates up to 2026-11-21'],
    [[row('EUR', '2026-12-24')], 'no rates up to 2026-11-21'],
    [[row('EUR', TODAY), { ...row('AUD', TODAY), base: 'EUR' }], '.*: row 1'],
    [[row('EUR', '2026-02-30')], '.*: row 0'],
    [[{ ...row('EUR', TODAY), date: [TODAY] }], '.*: row 0'],
    [[{ date: TODAY, base: 'USD', rate: 1 }], '.*: row 0'],
    [[null], '.*: row 0'],
  ])('is rejected if the response is %j', async (body, reason) => {
    await expect(read(body)).rejects.toThrow(new RegExp(`^api\\.frankfurter\\.dev .*${reason}$`))
  })
})

describe('createFrankfurterV2EcbProvider()', () => {
  const provider = createFrankfurterV2EcbProvider()

  it('has the same days as the first version', async () => {
    const { context } = upstream([new Response(frankfurterPayload({ ...RANGE, now: NOW }))])
    const expected = await createFrankfurterProvider().fetchHistory(RANGE, context)
    expect(await provider.fetchHistory(RANGE, service().context)).toEqual(expected)
    expect(expected.days).toHaveLength(10)
  })

  it('requests five years at once', async () => {
    const { context, requests } = service(endsOnly)
    await provider.fetchHistory({ start: '2021-11-22', end: TODAY }, context)
    expect(requests.map(({ url }) => url)).toEqual([
      'https://api.frankfurter.dev/v2/rates?providers=ECB&from=2021-11-22&to=2026-11-20',
    ])
  })

  it('requests more than five years in pieces, and has every day once', async () => {
    const { context, requests } = service(endsOnly)
    const range = { start: '1999-01-01', end: TODAY }
    const { days } = await provider.fetchHistory(range, context)
    const pieces = requests.map(({ url }) => new URL(url).searchParams)
    expect(pieces).toHaveLength(6)
    const lasts = pieces.map((piece) => piece.get('to') ?? '')
    const firsts = [range.start, ...lasts.slice(0, -1).map((last) => addDays(last, 1))]
    expect(pieces.map((piece) => piece.get('from'))).toEqual(firsts)
    expect(lasts.at(-1)).toBe(TODAY)
    expect(days.map(({ date }) => date)).toEqual(firsts.flatMap((first, at) => [first, lasts[at]]))
  })

  it('sends no request if the range ends before it begins', async () => {
    const { context, requests } = service()
    const { days } = await provider.fetchHistory({ start: TODAY, end: RANGE.start }, context)
    expect([days, requests]).toEqual([[], []])
  })

  it('fails as a whole when one piece does', async () => {
    const rows = Response.json(frankfurterV2EcbRows('1999-01-04', '1999-01-08', NOW))
    const { context, requests } = upstream([rows, new Response('', { status: 503 })])
    const call = provider.fetchHistory({ start: '1999-01-04', end: TODAY }, context)
    await expect(call).rejects.toThrow(/^api\.frankfurter\.dev .*HTTP 503/)
    expect(requests).toHaveLength(2)
    expect(requests.map(({ init }) => init.signal?.aborted)).toEqual([true, true])
  })
})

describe('the days of the second version', () => {
  const rows = frankfurterV2EcbRows(RANGE.start, RANGE.end, NOW)

  function read(body: unknown): Promise<HistoryDays> {
    return createFrankfurterV2EcbProvider().fetchHistory(RANGE, respondingWith(body))
  }

  it('exclude the rows of the day before, and the euro against itself', async () => {
    expect(rows[0]?.date).toBe('2026-11-06')
    const { base, days } = await read(rows)
    expect([base, days[0]?.date]).toEqual(['EUR', '2026-11-09'])
    expect(days.flatMap(({ rates }) => Object.keys(rates))).not.toContain('EUR')
  })

  it('are in ascending order, without days that have no rates', async () => {
    const shuffled = [...rows.slice(95), ...rows.slice(0, 95)]
    const expected = await read(rows)
    expect(await read(shuffled)).toEqual(expected)
    const gap = rows.filter(({ date, quote }) => date !== '2026-11-12' || quote === 'EUR')
    expect((await read(gap)).days.map(({ date }) => date)).toEqual(
      expected.days.map(({ date }) => date).filter((date) => date !== '2026-11-12'),
    )
  })

  it('include the first and the last of the range, no others, and currencies at par', async () => {
    const dates = ['2026-11-06', '2026-11-07', '2026-11-20', '2026-11-21']
    const par = dates.map((date) => ({ date, base: 'EUR', quote: 'BAM', rate: 1 }))
    const days = ['2026-11-07', '2026-11-20'].map((date) => ({ date, rates: { BAM: 1 } }))
    expect((await read(par)).days).toEqual(days)
  })

  it('include a euro that is not 1, which is rejected later', async () => {
    const wrong = rows.map((each) => (each.quote === 'EUR' ? { ...each, rate: 1.1 } : each))
    expect((await read(wrong)).days[0]?.rates).toHaveProperty('EUR', 1.1)
  })

  it('are rejected if a row has another base', async () => {
    const wrong = { date: TODAY, base: 'USD', quote: 'GBP', rate: 0.8 }
    await expect(read([wrong])).rejects.toThrow(/^api\.frankfurter\.dev .*: row 0$/)
  })
})
