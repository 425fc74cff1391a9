import { readFileSync } from 'node:fs'

import { beforeAll, describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { HISTORY_SOURCE } from '../fixtures/contract.ts'
import { requestsTo } from '../fixtures/service.ts'
import { frankfurterPayload } from '../fixtures/upstream-payloads.ts'
import {
  PERIODS,
  coveredCodes,
  daysBefore,
  inWindow,
  monthsBefore,
  pairPoints,
  readDays,
  statsOf,
} from '../oracle.ts'
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
    days: readDays(rows.map(({ text }) => text).join()),
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
  const days = frankfurterPayload({ start, end, now, seed: 7 }).matchAll(
    /"(\d{4}-\d\d-\d\d)":\{[^}]*\}/g,
  )
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
      const quoted = codes.flatMap((code, column) => {
        const digits = cells[column] || 'N/A'
        return digits === 'N/A' ? [] : [`"${code}":${digits}`]
      })
      return { date, text: `"${date}":{${quoted.toSorted().join()}}` }
    }),
  )
}

/** Creates a handler on `feed`, with a clock that stands at `clock.moment`. */
function open(feed: Feed, moment: Moment) {
  const calls: string[] = []
  const clock = { moment }
  const handler = createRatesHandler({
    now: () => Date.parse(clock.moment[0]),
    fetch: async (input) => {
      const { url } = new Request(input)
      if (!url.startsWith('https://api.frankfurter.dev/')) return Response.error()
      calls.push(url)
      const [start = '', end = ''] = url.split('/v1/')[1]?.split('..') ?? []
      return new Response(feed.body(start, end, clock.moment))
    },
  })
  return {
    calls,
    clock,
    handler,
    async request({ from, to, period }: Params): Promise<Outcome> {
      const query = `from=${from}&to=${to}&period=${period}`
      const response = await requestsTo(handler).get(`/api/v1/history?${query}`)
      const body = await response.text()
      return [response.status, response.ok ? body : JSON.parse(body).error.code]
    },
  }
}

/** The status of a response, and its body or error code. */
type Outcome = [status: number, content: string]

/** Computes the expected outcome if `newest` is the newest day. */
function oracleOf({ days }: Feed) {
  const cached = new Map<string, Point[]>()
  return ({ from, to, period }: Params, newest: string): Outcome => {
    const covered = coveredCodes(days, newest)
    if (!covered.includes(from) || !covered.includes(to)) return [400, 'unsupported_currency']
    const all = cached.get(from + to) ?? pairPoints(days, from, to)
    cached.set(from + to, all)
    const points = inWindow(all, newest, period)
    if (points.length === 0) return [404, 'no_data']
    const record = { from, to, period, points, stats: statsOf(points), source: HISTORY_SOURCE }
    return [200, JSON.stringify(record)]
  }
}

interface Params {
  from: string
  to: string
  period: Period
}

/** Strong and weak, EUR on either side, one currency twice; the last three are not always quoted. */
const PAIRS =
  'EUR-USD USD-EUR IDR-EUR JPY-GBP KRW-IDR DKK-EUR EUR-EUR CHF-CHF TRY-ISK BGN-USD EUR-RUB'

const REQUESTS: Params[] = PAIRS.split(' ').flatMap((pair) => {
  const [from = '', to = ''] = pair.split('-')
  return PERIODS.map((period) => ({ from, to, period }))
})

const MOMENTS: Moment[] = [
  evening('2022-02-28'), // the month in which the ruble leaves
  evening('2022-03-01'), // its last day
  evening('2022-03-11'),
  evening('2022-03-14'), // its last day is the first of the 14
  ['2022-03-15T14:59:00Z', '2022-03-14'], // 15:59 in Frankfurt
  ['2022-03-15T15:01:00Z', '2022-03-15'], // 16:01: not one of the 14 any more
  evening('2024-02-29'), // a leap day
  evening('2024-12-31'),
  evening('2025-03-31'), // a month before is 28 February
  ['2025-07-15T13:59:00Z', '2025-07-14'], // 15:59 in Frankfurt, summer time
  ['2025-07-15T14:01:00Z', '2025-07-15'], // 16:01
  ['2025-08-31T12:00:00Z', '2025-08-29'], // a Sunday that ends a month
  evening('2025-12-31'), // the last day of the lev
  ['2026-01-01T18:00:00Z', '2025-12-31'], // New Year
  evening('2026-01-13'), // the last day of the lev is the first of the 14
  evening('2026-01-14'),
  ['2026-02-27T14:59:00Z', '2026-02-26'],
  ['2026-02-27T15:01:00Z', '2026-02-27'],
  ['2026-02-28T23:59:00Z', '2026-02-27'], // a Saturday
  ['2026-03-31T13:59:00Z', '2026-03-30'], // the second day of summer time
  ['2026-03-31T14:01:00Z', '2026-03-31'],
  ['2026-04-06T18:00:00Z', '2026-04-02'], // Easter Monday
]

const feeds: { name: string; load: () => Feed; isMissing: boolean; moments: Moment[] }[] = [
  {
    name: 'a synthetic feed',
    load: syntheticFeed,
    isMissing: false,
    moments: [
      ...MOMENTS,
      ['2026-10-26T14:59:00Z', '2026-10-23'], // the first publication after summer time, not yet
      ['2026-10-26T15:01:00Z', '2026-10-26'],
      ['2027-12-27T00:00:00Z', '2027-12-24'], // Christmas on a weekend
      evening('2028-02-29'), // five years before is not a leap year
    ],
  },
  {
    name: `the recorded feed ${NEEDS_RECORDINGS}`,
    load: recordedFeed,
    isMissing: !HAS_RECORDINGS,
    moments: [
      ...MOMENTS,
      evening('2002-01-02'), // the feed is younger than five years
      evening('2004-12-31'), // the old lira's last day
      evening('2005-01-03'), // the new lira's first
      evening('2005-01-14'),
      evening('2008-12-22'), // no rates of Iceland's krona since 9 December
      evening('2018-02-01'), // the krona is back
      evening('2018-07-31'),
      evening('2023-01-12'),
      evening('2026-04-13'),
    ],
  },
]

for (const { name, load, isMissing, moments } of feeds) {
  describe.skipIf(isMissing)(`history over ${name}`, () => {
    let feed: Feed
    let oracle: ReturnType<typeof oracleOf>

    beforeAll(() => {
      feed = load()
      oracle = oracleOf(feed)
    })

    it.each(moments)('at %s, newest %s, returns every pair and period', async (...moment) => {
      const { request, calls, handler } = open(feed, moment)
      for (const params of REQUESTS) {
        const label = JSON.stringify(params)
        expect(await request(params), label).toEqual(oracle(params, moment[1]))
      }
      const unknown = handler.rates.history({ from: 'XYZ', to: 'EUR' })
      const message = await unknown.then(String, (error) => error.message)
      const covered = coveredCodes(feed.days, moment[1])
      expect(message.match(/\b[A-Z]{3}\b/g)).toEqual(['XYZ', ...covered])
      const today = moment[0].slice(0, 10)
      const start = daysBefore(monthsBefore(today, 60), 14)
      expect(calls).toEqual([`https://api.frankfurter.dev/v1/${start}..${today}`])
    })

    it.each<[Moment, Moment, string]>([
      [evening('2026-03-31'), evening('2026-04-01'), '2026-03-23..2026-04-01'],
      [
        // A refresh comes up to five minutes after 16:00 in Frankfurt.
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
      expect(calls).toHaveLength(2)
      expect(calls[1]).toBe(`https://api.frankfurter.dev/v1/${range}`)
      const fresh = open(feed, after)
      for (const params of REQUESTS) {
        expect(await request(params)).toEqual(await fresh.request(params))
      }
      expect(calls).toHaveLength(2)
    })
  })
}

describe('a window', () => {
  const feed = syntheticFeed()

  it.each([
    ['2025-03-31', '1M', '2025-02-28'],
    ['2025-05-30', '3M', '2025-02-28'],
    ['2022-12-30', '1M', '2022-11-30'],
    ['2024-02-29', '5Y', '2019-02-28'],
    ['2028-02-29', '5Y', '2023-02-28'],
    ['2024-02-29', '1Y', '2023-02-28'],
    ['2024-08-30', '6M', '2024-02-29'],
    ['2026-03-18', '1W', '2026-03-11'],
    ['2026-03-18', '5Y', '2021-03-18'],
    // The first day has no rates.
    ['2026-03-31', '1M', '2026-03-02'],
    ['2026-04-13', '1W', '2026-04-07'],
    ['2026-01-02', '1Y', '2025-01-02'],
    ['2026-04-07', '1W', '2026-03-31'],
  ] as const)('to %s over %s starts with the rates of %s', async (today, period, first) => {
    const { handler } = open(feed, evening(today))
    const { points } = await handler.rates.history({ from: 'USD', to: 'EUR', period })
    expect(points[0]?.d).toBe(first)
  })

  it('keeps every published digit from EUR, and 10 digits of derived rates', async () => {
    const body = '{"amount":1.0,"base":"EUR","rates":{"2026-03-18":{"USD":1.234567890123}}}'
    const { handler } = open({ ...feed, body: () => body }, evening('2026-03-18'))
    const [published, derived] = await Promise.all([
      handler.rates.history({ from: 'EUR', to: 'USD' }),
      handler.rates.history({ from: 'USD', to: 'EUR' }),
    ])
    expect(published.points).toEqual([{ d: '2026-03-18', r: 1.234567890123 }])
    expect(published.stats).toMatchObject({ close: 1.234567890123, average: 1.23456789 })
    expect(derived.points).toEqual([{ d: '2026-03-18', r: 0.8100000073 }])
  })
})
