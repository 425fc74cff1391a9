import { afterEach, describe, expect, it, vi } from 'vitest'

import { createFrankfurterProvider } from '../../src/index.ts'
import type { HistoryDays, LatestTable, ProviderContext } from '../../src/index.ts'
import { createFrankfurterV2Provider } from '../../src/providers/index.ts'
import { addDays } from '../fixtures/dates.ts'
import { answerAsBank, ecbDays } from '../fixtures/ecb-files.ts'
import { answerOfFrankfurterV2, frankfurterV2EcbRows } from '../fixtures/feeds/frankfurter-v2.ts'
import { frankfurterPayload } from '../fixtures/upstream-payloads.ts'
import { NOW, manyRates, respondingWith, upstream } from './upstream.ts'

const TODAY = '2026-11-20'

const RANGE = { start: '2026-11-07', end: TODAY }

const row = (quote: string, date: string, rate = 2) => ({ date, base: 'USD', quote, rate })

/** Rows of enough currencies for a market, all of the same day and at 2. */
const manyRows = (date: string) => Object.keys(manyRates()).map((code) => row(code, date))

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

  it('may be none of a few days on which the bank is closed', async () => {
    const rates = { '2026-11-06': { USD: 1.1 } }
    const weekend = { start: '2026-11-07', end: '2026-11-08' }
    expect((await read({ ...good, rates }, weekend)).days).toEqual([])
  })

  it('are rejected if some are invalid, naming five of them', async () => {
    const invalid = ['09', '10', '11', '12', '13', '16'].map((day) => [`2026-11-${day}`, 1.1])
    const rates = { '2026-11-06': { USD: 1.1 }, ...Object.fromEntries(invalid) }
    const message = /^api\.frankfurter\.dev .*: day 2, day 3, day 4, day 5, day 6; /
    await expect(read({ ...good, rates })).rejects.toThrow(message)
  })
})

describe('createFrankfurterV2Provider()', () => {
  it('requests the blend of the named banks, below its root', async () => {
    const { context, requests } = upstream([(url) => answerOfFrankfurterV2(url, NOW)])
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

afterEach(() => {
  vi.useRealTimers()
})

type Respond = (url: string) => Response | Promise<Response>

const firstVersion: Respond = (url) => {
  const [, start = '', end = ''] = /\/v1\/([\d-]+)\.\.([\d-]+)$/.exec(url) ?? []
  return new Response(frankfurterPayload({ start, end, now: NOW }))
}

const gone: Respond = () => new Response('<h1>Gone</h1>', { status: 410 })

const hanging: Respond = () => new Promise(() => undefined)

/** Creates the context of a call with all sources of the default history, and lists of its requests and reported failures. */
function sources({
  first = firstVersion,
  second = (url: string) => answerOfFrankfurterV2(url, NOW),
  bank = (url: string) => answerAsBank({ url }, NOW),
}: Partial<Record<'first' | 'second' | 'bank', Respond>> = {}) {
  const requests: string[] = []
  const signals: (AbortSignal | null | undefined)[] = []
  const failures: unknown[] = []
  const { context } = upstream([])
  const fetch: ProviderContext['fetch'] = async (input, init) => {
    const { url } = new Request(input)
    requests.push(url)
    signals.push(init?.signal)
    const respond = url.includes('/v1/') ? first : url.includes('/v2/') ? second : bank
    const aborted = new Promise<never>((_, reject) => {
      init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
    })
    return Promise.race([respond(url), aborted])
  }
  const onFailure = (error: unknown): void => void failures.push(error)
  return { context: { ...context, fetch, onFailure }, requests, signals, failures }
}

const FIRST_URL = 'https://api.frankfurter.dev/v1/2026-11-07..2026-11-20'
const SECOND_URL =
  'https://api.frankfurter.dev/v2/rates?providers=ECB&from=2026-11-07&to=2026-11-20'
const BANK_URL = 'https://www.ecb.europa.eu/stats/eurofxref/eurofxref-hist-90d.xml'

const OF_THE_BANK = { base: 'EUR', attribution: { name: 'European Central Bank' } }

describe('createFrankfurterProvider()', () => {
  const provider = createFrankfurterProvider()

  it('sends one request while the first version works', async () => {
    const { context, requests, failures } = sources()
    const { days, attribution } = await provider.fetchHistory(RANGE, context)
    expect([days.length, attribution, failures]).toEqual([10, undefined, []])
    expect(requests).toEqual([FIRST_URL])
  })

  const good = Object(JSON.parse(frankfurterPayload({ ...RANGE, now: NOW })))
  const answer = (changes: object) => (): Response => Response.json({ ...good, ...changes })
  const early = { '2026-11-06': { USD: 1.1 } }

  it.each<[what: string, first: Respond]>([
    ['is gone', gone],
    ['does not find the range', () => new Response('{}', { status: 404 })],
    ['cannot be reached', () => Promise.reject(new TypeError('fetch failed'))],
    ['has another base', answer({ base: 'USD' })],
    ['has another amount', answer({ amount: 2 })],
    ['has no days', answer({ rates: {} })],
    ['has none of fourteen days', answer({ rates: early })],
  ])(
    'has the same days from the second version, in the same call, if the first %s',
    async (_, first) => {
      const expected = await provider.fetchHistory(RANGE, sources().context)
      const { context, requests, failures } = sources({ first })
      expect(await provider.fetchHistory(RANGE, context)).toEqual(expected)
      expect(requests).toEqual([FIRST_URL, SECOND_URL])
      expect(failures).toHaveLength(1)
    },
  )

  it('has the days and the name of the bank if both versions fail, and reports both failures', async () => {
    const { context, requests, failures } = sources({ first: gone, second: gone })
    const { days, ...others } = await provider.fetchHistory(RANGE, context)
    expect(others).toMatchObject(OF_THE_BANK)
    expect(days).toEqual(ecbDays(RANGE.start, RANGE.end, NOW))
    expect(requests).toEqual([FIRST_URL, SECOND_URL, BANK_URL])
    const error = { name: 'UpstreamError', status: 410, retryAfterMs: 900_000 }
    expect(failures).toMatchObject([error, error])
  })

  it('requests the second version after 2.5 s, the bank after 5 s, and ends the other calls', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { context, requests, signals, failures } = sources({ first: hanging, second: hanging })
    const reading = provider.fetchHistory(RANGE, context)
    await vi.advanceTimersByTimeAsync(2_499)
    expect(requests).toEqual([FIRST_URL])
    // After its timer, a hedged call has one more turn for a received response.
    await vi.advanceTimersByTimeAsync(2)
    expect(requests).toEqual([FIRST_URL, SECOND_URL])
    await vi.advanceTimersByTimeAsync(2_502)
    vi.useRealTimers()
    expect(await reading).toMatchObject(OF_THE_BANK)
    const message = 'api.frankfurter.dev has not responded for 2500 ms'
    expect(failures).toMatchObject([{ message }, { message }])
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true, true])
  })

  it('sends no request to another host if it has a root', async () => {
    const { context, requests } = sources({ first: gone, second: gone })
    const other = createFrankfurterProvider({ url: 'https://relay.example/' })
    const error = { message: expect.stringMatching(/^relay\.example [^;]*410[^;]*$/), status: 410 }
    await expect(other.fetchHistory(RANGE, context)).rejects.toMatchObject(error)
    expect(requests.map((url) => new URL(url).host)).toEqual(['relay.example', 'relay.example'])
  })
})

describe('the days of the second version', () => {
  const rows = frankfurterV2EcbRows(RANGE.start, RANGE.end, NOW)

  async function read(body: unknown): Promise<HistoryDays> {
    const { context } = sources({ first: gone, second: () => Response.json(body), bank: gone })
    return createFrankfurterProvider().fetchHistory(RANGE, context)
  }

  it('are fetched in pieces of five years, each once', async () => {
    const { context, requests } = sources({ first: gone, second: endsOnly })
    const range = { start: '1999-01-01', end: TODAY }
    const { days } = await createFrankfurterProvider().fetchHistory(range, context)
    const pieces = requests.slice(1).map((url) => new URL(url).searchParams)
    expect(pieces).toHaveLength(6)
    const lasts = pieces.map((piece) => piece.get('to') ?? '')
    const firsts = [range.start, ...lasts.slice(0, -1).map((last) => addDays(last, 1))]
    expect(pieces.map((piece) => piece.get('from'))).toEqual(firsts)
    expect(lasts.at(-1)).toBe(TODAY)
    expect(days.map(({ date }) => date)).toEqual(firsts.flatMap((first, at) => [first, lasts[at]]))
  })

  it('fail as a whole when one piece does, which ends the other', async () => {
    const week = Response.json(frankfurterV2EcbRows('1999-01-04', '1999-01-08', NOW))
    const answers = [week, new Response('', { status: 503 })]
    const second = (): Response => answers.shift() ?? Response.error()
    const { context, requests, signals, failures } = sources({ first: gone, second, bank: gone })
    const range = { start: '1999-01-04', end: TODAY }
    await expect(createFrankfurterProvider().fetchHistory(range, context)).rejects.toThrow(/503/)
    expect([requests.length, failures]).toMatchObject([4, [{ status: 410 }, { status: 503 }]])
    expect(signals.slice(1, 3).map((signal) => signal?.aborted)).toEqual([true, true])
  })

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

  it('are rejected if a row has another base', async () => {
    const wrong = { date: TODAY, base: 'USD', quote: 'GBP', rate: 0.8 }
    await expect(read([wrong])).rejects.toThrow(/; api\.frankfurter\.dev [^;]*: row 0; /)
  })
})
