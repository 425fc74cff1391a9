import { readFileSync } from 'node:fs'

import { beforeAll, describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { HISTORY_SOURCE } from '../fixtures/contract.ts'
import { requestsTo } from '../fixtures/service.ts'
import { rowsOf } from '../fixtures/rows.ts'
import { frankfurterPayload } from '../fixtures/upstream-payloads.ts'
import * as oracle from '../oracle.ts'
import type { Period, Point } from '../oracle.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'

/** An instant, and the newest day published by then; written by hand to be independent of the calendar code. */
type Moment = readonly [now: string, newest: string]

/** The evening of `day`, after publication. */
const evening = (day: string): Moment => [`${day}T18:00:00Z`, day]

type Feed = ReturnType<typeof feedOf>

/** A market in the format of Frankfurter, from the text of each day in ascending order. */
function feedOf(rows: readonly { date: string; text: string }[]) {
  return {
    days: oracle.readDays(rows.map(({ text }) => text).join()),
    /** The body of `/v1/{start}..{end}`. */
    body(start: string, end: string, [, newest]: Moment): string {
      const last = end < newest ? end : newest
      // Frankfurter snaps the start back to the published day before it.
      const first = rows.findLast(({ date }) => date <= start)?.date ?? start
      const included = rows.filter(({ date }) => date >= first && date <= last)
      const rates = included.map(({ text }) => text).join()
      return `{"amount":1.0,"base":"EUR","start_date":"${first}","end_date":"${last}","rates":{${rates}}}`
    },
  }
}

function syntheticFeed(): Feed {
  const [start, end, now] = ['2016-01-01', '2029-01-01', Date.parse('2029-01-01')]
  const body = frankfurterPayload({ start, end, now, seed: 7 })
  const days = body.matchAll(/"(\d{4}-\d\d-\d\d)":\{[^}]*\}/g)
  return feedOf(Array.from(days, ([text, date = '']) => ({ date, text })))
}

/** The original table of the central bank, with its codes and digits. */
function recordedFeed(): Feed {
  const table = readFileSync(recording('data/ecb/eurofxref-hist.csv'), 'utf8')
  const [head = '', ...lines] = table.trim().split('\n')
  const [, ...codes] = head.split(',')
  return feedOf(
    lines.toReversed().map((line) => {
      const [date = '', ...cells] = line.split(',')
      const quoted = codes.flatMap((code, column) =>
        /\d/.test(cells[column] ?? '') ? [`"${code}":${cells[column]}`] : [],
      )
      return { date, text: `"${date}":{${quoted.toSorted().join()}}` }
    }),
  )
}

interface Params {
  from: string
  to: string
  period: Period
}

/** The status of a response, and its body or error code. */
type Outcome = [status: number, content: string]

/** Creates a handler on `feed`, with a clock that stands at `clock.moment`. */
function open(feed: Feed, moment: Moment) {
  const calls: string[] = []
  const clock = { moment }
  const handler = createRatesHandler({
    now: () => Date.parse(clock.moment[0]),
    fetch: async (input) => {
      const { url } = new Request(input)
      if (!url.startsWith('https://api.frankfurter.dev/')) return Response.error()
      const [, range = ''] = url.split('/v1/')
      calls.push(range)
      const [start = '', end = ''] = range.split('..')
      return new Response(feed.body(start, end, clock.moment))
    },
  })
  async function request({ from, to, period }: Params): Promise<Outcome> {
    const query = `from=${from}&to=${to}&period=${period}`
    const response = await requestsTo(handler).get(`/api/v1/history?${query}`)
    const body = await response.text()
    return [response.status, response.ok ? body : JSON.parse(body).error.code]
  }
  return { calls, clock, handler, request }
}

/** Computes the expected outcome if `newest` is the newest day. */
function oracleOf({ days }: Feed) {
  const cached = new Map<string, Point[]>()
  return ({ from, to, period }: Params, newest: string): Outcome => {
    const covered = oracle.coveredCodes(days, newest)
    if (!covered.includes(from) || !covered.includes(to)) return [400, 'unsupported_currency']
    const all = cached.get(from + to) ?? oracle.pairPoints(days, from, to)
    cached.set(from + to, all)
    const points = oracle.inWindow(all, newest, period)
    if (points.length === 0) return [404, 'no_data']
    const stats = oracle.statsOf(points)
    return [200, JSON.stringify({ from, to, period, points, stats, source: HISTORY_SOURCE })]
  }
}

/** Strong and weak, EUR on either side, one currency twice; the last three are not always quoted. */
const PAIRS =
  'EUR-USD USD-EUR IDR-EUR JPY-GBP KRW-IDR DKK-EUR EUR-EUR CHF-CHF TRY-ISK BGN-USD EUR-RUB'

const REQUESTS: Params[] = PAIRS.split(' ').flatMap((pair) => {
  const [from = '', to = ''] = pair.split('-')
  return oracle.PERIODS.map((period) => ({ from, to, period }))
})

const momentsOf = (text: string): Moment[] =>
  rowsOf(text).map(([now = '', newest]) => (newest ? [`${now}:00Z`, newest] : evening(now)))

/** The ruble and its last 14 days, minutes around 16:00 in Frankfurt, ends of months and of the lev, holidays. */
const MOMENTS = momentsOf(`
  2022-02-28 | 2022-03-11 | 2022-03-14 | 2022-03-15T14:59 2022-03-14 | 2022-03-15T15:01 2022-03-15
  2024-02-29 | 2025-03-31 | 2025-07-15T13:59 2025-07-14 | 2025-07-15T14:01 2025-07-15
  2025-08-31T12:00 2025-08-29 | 2025-12-31 | 2026-01-01T18:00 2025-12-31 | 2026-01-13 | 2026-01-14
  2026-02-28T23:59 2026-02-27 | 2026-03-31T13:59 2026-03-30 | 2026-03-31T14:01 2026-03-31
  2026-04-06T18:00 2026-04-02`)

/** The end of summer time, Christmas on a weekend, a leap day five years after none. */
const SYNTHETIC = momentsOf(`
  2026-10-26T14:59 2026-10-23 | 2026-10-26T15:01 2026-10-26 | 2027-12-27T00:00 2027-12-24 | 2028-02-29`)

/** A feed younger than five years, the end of the old lira, the gap of the krona. */
const RECORDED = momentsOf(
  '2002-01-02 | 2004-12-31 | 2005-01-14 | 2008-12-22 | 2018-02-01 | 2018-07-31 | 2026-04-13',
)

describe.each([
  ['a synthetic feed', syntheticFeed, [...MOMENTS, ...SYNTHETIC], false],
  [
    `the recorded feed ${NEEDS_RECORDINGS}`,
    recordedFeed,
    [...MOMENTS, ...RECORDED],
    !HAS_RECORDINGS,
  ],
] as const)('history over %s', (_name, load, moments, isMissing) => {
  let feed: Feed
  let expected: ReturnType<typeof oracleOf>

  beforeAll(() => {
    if (isMissing) return
    feed = load()
    expected = oracleOf(feed)
  })

  it.skipIf(isMissing).each(moments)(
    'at %s, newest %s, has every pair and period',
    async (...moment) => {
      const { request, calls, handler } = open(feed, moment)
      for (const params of REQUESTS) {
        expect([params, ...(await request(params))]).toEqual([
          params,
          ...expected(params, moment[1]),
        ])
      }
      const unknown = handler.rates.history({ from: 'XYZ', to: 'EUR' })
      const message = await unknown.then(String, (error) => error.message)
      const covered = oracle.coveredCodes(feed.days, moment[1])
      expect(message.match(/\b[A-Z]{3}\b/g)).toEqual(['XYZ', ...covered])
      const today = moment[0].slice(0, 10)
      const start = oracle.daysBefore(oracle.monthsBefore(today, 60), 14)
      expect(calls).toEqual([`${start}..${today}`])
    },
  )

  it.skipIf(isMissing).each<[Moment, Moment, string]>([
    [evening('2026-03-31'), evening('2026-04-01'), '2026-03-23..2026-04-01'],
    // A refresh comes up to five minutes after 16:00 in Frankfurt.
    [
      ['2026-03-31T13:40:00Z', '2026-03-30'],
      ['2026-03-31T14:06:00Z', '2026-03-31'],
      '2026-03-20..2026-03-31',
    ],
    [evening('2026-03-13'), evening('2026-03-16'), '2026-03-05..2026-03-16'],
    [evening('2025-12-30'), evening('2026-01-09'), '2025-12-18..2026-01-09'],
    [evening('2022-03-01'), evening('2022-03-15'), '2022-02-21..2022-03-15'],
  ])('after a refresh at %s and one at %s, requests only %s', async (before, after, range) => {
    const { request, calls, clock, handler } = open(feed, before)
    await handler.refresh()
    clock.moment = after
    await handler.refresh()
    for (const params of REQUESTS) {
      expect([params, ...(await request(params))]).toEqual([params, ...expected(params, after[1])])
    }
    expect(calls).toEqual([expect.any(String), range])
  })
})

it('a window keeps every published digit from EUR, and 10 digits of derived rates', async () => {
  const body = () => '{"amount":1.0,"base":"EUR","rates":{"2026-03-18":{"USD":1.234567890123}}}'
  const { handler } = open({ days: [], body }, evening('2026-03-18'))
  const published = await handler.rates.history({ from: 'EUR', to: 'USD' })
  expect(published.points).toEqual([{ d: '2026-03-18', r: 1.234567890123 }])
  expect(published.stats).toMatchObject({ close: 1.234567890123, average: 1.23456789 })
  const derived = await handler.rates.history({ from: 'USD', to: 'EUR' })
  expect(derived.points).toEqual([{ d: '2026-03-18', r: 0.8100000073 }])
})

const synthetic = syntheticFeed()

// Some of the first days have no rates.
it.each(
  rowsOf(`
  2025-03-31 1M 2025-02-28 | 2025-05-30 3M 2025-02-28 | 2022-12-30 1M 2022-11-30 | 2024-02-29 5Y 2019-02-28
  2028-02-29 5Y 2023-02-28 | 2024-02-29 1Y 2023-02-28 | 2024-08-30 6M 2024-02-29 | 2026-03-18 1W 2026-03-11
  2026-03-18 5Y 2021-03-18 | 2026-03-31 1M 2026-03-02 | 2026-04-13 1W 2026-04-07 | 2026-01-02 1Y 2025-01-02
  2026-04-07 1W 2026-03-31`),
)('a window to %s over %s starts with the rates of %s', async (today = '', period = '', first) => {
  const { request } = open(synthetic, evening(today))
  const known = oracle.PERIODS.find((each) => each === period) ?? '1M'
  const [, body] = await request({ from: 'USD', to: 'EUR', period: known })
  expect(JSON.parse(body).points[0].d).toBe(first)
})
