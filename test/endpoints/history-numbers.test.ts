import { readFileSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { createFrankfurterProvider, createRatesHandler } from '../../src/index.ts'
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
import type { Day, Period, Point } from '../oracle.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'

const SOURCE = { name: 'European Central Bank (via Frankfurter)', url: 'https://frankfurter.dev' }

/** An instant, and the newest day published by then: written down by hand, so that no calendar is trusted. */
type Moment = readonly [now: string, newest: string]

/** A market as Frankfurter relays it. */
interface Feed {
  /** Every day that there is, ascending. */
  days: Day[]
  /** The body of `/v1/{start}..{end}`. */
  body(start: string, end: string, moment: Moment): string
}

/** The text of a day, as it stands in an answer. */
interface Row {
  date: string
  text: string
}

function feedOf(rows: readonly Row[]): Feed {
  return {
    days: readDays(rows.map(({ text }) => text).join()),
    body(start, end, [, newest]) {
      const last = end < newest ? end : newest
      // Frankfurter snaps the start back to the published day before it.
      const first = rows.findLast(({ date }) => date <= start)?.date ?? start
      const answered = rows.filter(({ date }) => date >= first && date <= last)
      const rates = answered.map(({ text }) => text).join()
      return `{"amount":1.0,"base":"EUR","start_date":"${first}","end_date":"${last}","rates":{${rates}}}`
    },
  }
}

function syntheticFeed(): Feed {
  const [start, end, now] = ['2016-01-01', '2029-01-01', Date.parse('2029-01-01')]
  const text = frankfurterPayload({ start, end, now, seed: 7 })
  return feedOf(
    Array.from(text.matchAll(/"(\d{4}-\d\d-\d\d)":\{[^}]*\}/g), ([row, date = '']) => ({
      date,
      text: row,
    })),
  )
}

/** The central bank's own table: the codes of a day are those quoted on it, their digits those of the table. */
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

/** A handler on `feed` whose clock stands at `moment` until that is replaced. */
function open(feed: Feed, moment: Moment) {
  const asked: string[] = []
  const clock = { moment }
  const handler = createRatesHandler({
    now: () => Date.parse(clock.moment[0]),
    fetch: async (input) => {
      const { url } = new Request(input)
      if (!url.startsWith('https://api.frankfurter.dev/')) return Response.error()
      asked.push(url)
      const [start = '', end = ''] = url.split('/v1/')[1]?.split('..') ?? []
      return new Response(feed.body(start, end, clock.moment))
    },
  })
  return {
    asked,
    clock,
    handler,
    async ask({ from, to, period }: Question): Promise<Answer> {
      const query = `from=${from}&to=${to}&period=${period}`
      const response = await handler(new Request(`http://localhost/api/v1/history?${query}`))
      const body = await response.text()
      return [response.status, response.ok ? body : JSON.parse(body).error.code]
    },
  }
}

/** The status of an answer, and its body or the code of its error. */
type Answer = [status: number, content: string]

/** What answers a question while `newest` is the newest day. */
type Oracle = (question: Question, newest: string) => Answer

function oracleOf({ days }: Feed): Oracle {
  const known = new Map<string, Point[]>()
  return ({ from, to, period }, newest) => {
    const covered = coveredCodes(days, newest)
    if (!covered.includes(from) || !covered.includes(to)) return [400, 'unsupported_currency']
    const all = known.get(from + to) ?? pairPoints(days, from, to)
    known.set(from + to, all)
    const points = inWindow(all, newest, period)
    if (points.length === 0) return [404, 'no_data']
    const record = { from, to, period, points, stats: statsOf(points), source: SOURCE }
    return [200, JSON.stringify(record)]
  }
}

interface Question {
  from: string
  to: string
  period: Period
}

/** Strong and weak, EUR on either side, one currency twice; the last three are not always there. */
const PAIRS = [
  'EUR USD',
  'USD EUR',
  'IDR EUR',
  'JPY GBP',
  'KRW IDR',
  'DKK EUR',
  'EUR EUR',
  'CHF CHF',
  'TRY ISK',
  'BGN USD',
  'EUR RUB',
]

const QUESTIONS: Question[] = PAIRS.flatMap((pair) => {
  const [from = '', to = ''] = pair.split(' ')
  return PERIODS.map((period) => ({ from, to, period }))
})

const MOMENTS: Moment[] = [
  ['2022-02-28T18:00:00Z', '2022-02-28'], // the month in which the ruble leaves
  ['2022-03-01T18:00:00Z', '2022-03-01'], // its last day
  ['2022-03-11T18:00:00Z', '2022-03-11'],
  ['2022-03-14T18:00:00Z', '2022-03-14'], // its last day is the first of the 14
  ['2022-03-15T14:59:00Z', '2022-03-14'], // 15:59 in Frankfurt
  ['2022-03-15T15:01:00Z', '2022-03-15'], // 16:01: not one of the 14 any more
  ['2024-02-29T18:00:00Z', '2024-02-29'], // a leap day
  ['2024-12-31T18:00:00Z', '2024-12-31'],
  ['2025-03-31T18:00:00Z', '2025-03-31'], // a month before is 28 February
  ['2025-07-15T13:59:00Z', '2025-07-14'], // 15:59 in Frankfurt, summer time
  ['2025-07-15T14:01:00Z', '2025-07-15'], // 16:01
  ['2025-08-31T12:00:00Z', '2025-08-29'], // a Sunday that ends a month
  ['2025-12-31T18:00:00Z', '2025-12-31'], // the last day of the lev
  ['2026-01-01T18:00:00Z', '2025-12-31'], // New Year
  ['2026-01-13T18:00:00Z', '2026-01-13'], // the last day of the lev is the first of the 14
  ['2026-01-14T18:00:00Z', '2026-01-14'],
  ['2026-02-27T14:59:00Z', '2026-02-26'],
  ['2026-02-27T15:01:00Z', '2026-02-27'],
  ['2026-02-28T23:59:00Z', '2026-02-27'], // a Saturday
  ['2026-03-31T13:59:00Z', '2026-03-30'], // the second day of summer time
  ['2026-03-31T14:01:00Z', '2026-03-31'],
  ['2026-04-06T18:00:00Z', '2026-04-02'], // Easter Monday
]

interface FeedCase {
  name: string
  load: () => Feed
  isMissing?: boolean
  moments: Moment[]
}

const feeds: FeedCase[] = [
  {
    name: 'a synthetic feed',
    load: syntheticFeed,
    moments: [
      ...MOMENTS,
      ['2026-10-26T14:59:00Z', '2026-10-23'], // the first publication after summer time, not yet
      ['2026-10-26T15:01:00Z', '2026-10-26'],
      ['2027-12-27T00:00:00Z', '2027-12-24'], // Christmas on a weekend
      ['2028-02-29T18:00:00Z', '2028-02-29'], // five years before is no leap year
    ],
  },
  {
    name: `the recorded feed ${NEEDS_RECORDINGS}`,
    load: recordedFeed,
    isMissing: !HAS_RECORDINGS,
    moments: [
      ...MOMENTS,
      ['2002-01-02T18:00:00Z', '2002-01-02'], // the feed is younger than five years
      ['2004-12-31T18:00:00Z', '2004-12-31'], // the old lira's last day
      ['2005-01-03T18:00:00Z', '2005-01-03'], // the new lira's first
      ['2005-01-14T18:00:00Z', '2005-01-14'],
      ['2008-12-22T18:00:00Z', '2008-12-22'], // Iceland's krona stays away from 9 December on
      ['2018-02-01T18:00:00Z', '2018-02-01'], // and is back
      ['2018-07-31T18:00:00Z', '2018-07-31'],
      ['2023-01-12T18:00:00Z', '2023-01-12'],
      ['2026-04-13T18:00:00Z', '2026-04-13'],
    ],
  },
]

for (const { name, load, isMissing = false, moments } of feeds) {
  describe.skipIf(isMissing)(`history over ${name}`, () => {
    let loaded: { feed: Feed; oracle: Oracle } | undefined
    function ready() {
      if (loaded) return loaded
      const feed = load()
      return (loaded = { feed, oracle: oracleOf(feed) })
    }

    it.each(moments)('at %s, newest %s, answers every pair and period', async (...moment) => {
      const { feed, oracle } = ready()
      const { ask, asked, handler } = open(feed, moment)
      for (const question of QUESTIONS) {
        const label = JSON.stringify(question)
        expect(await ask(question), label).toEqual(oracle(question, moment[1]))
      }
      const stranger = handler.rates.history({ from: 'XYZ', to: 'EUR' })
      const message = await stranger.then(String, (error) => error.message)
      const covered = coveredCodes(feed.days, moment[1])
      expect(message.match(/\b[A-Z]{3}\b/g)).toEqual(['XYZ', ...covered])
      const today = moment[0].slice(0, 10)
      const start = daysBefore(monthsBefore(today, 60), 14)
      expect(asked).toEqual([`https://api.frankfurter.dev/v1/${start}..${today}`])
    })

    it('answers the same without HTTP', async () => {
      const { feed, oracle } = ready()
      const { handler } = open(feed, ['2026-01-14T18:00:00Z', '2026-01-14'])
      for (const question of QUESTIONS) {
        const content = await handler.rates
          .history(question)
          .then(JSON.stringify, (error) => error.code)
        expect(content).toBe(oracle(question, '2026-01-14')[1])
      }
    })

    it.each<[Moment, Moment, string]>([
      [
        ['2026-03-31T18:00:00Z', '2026-03-31'],
        ['2026-04-01T18:00:00Z', '2026-04-01'],
        '2026-04-01..2026-04-01',
      ],
      [
        // A refresh comes up to five minutes after 16:00 in Frankfurt.
        ['2026-03-31T13:40:00Z', '2026-03-30'],
        ['2026-03-31T14:06:00Z', '2026-03-31'],
        '2026-03-31..2026-03-31',
      ],
      [
        ['2026-03-13T18:00:00Z', '2026-03-13'],
        ['2026-03-16T18:00:00Z', '2026-03-16'],
        '2026-03-14..2026-03-16',
      ],
      [
        ['2025-12-30T18:00:00Z', '2025-12-30'],
        ['2026-01-09T18:00:00Z', '2026-01-09'],
        '2025-12-31..2026-01-09',
      ],
      [
        ['2022-03-01T18:00:00Z', '2022-03-01'],
        ['2022-03-15T18:00:00Z', '2022-03-15'],
        '2022-03-02..2022-03-15',
      ],
    ])('moved on from %s to %s, asks only for %s', async (before, after, range) => {
      const { feed } = ready()
      const { ask, asked, clock, handler } = open(feed, before)
      await handler.refresh()
      clock.moment = after
      await handler.refresh()
      expect(asked).toHaveLength(2)
      expect(asked[1]).toBe(`https://api.frankfurter.dev/v1/${range}`)
      const fresh = open(feed, after)
      for (const question of QUESTIONS) {
        expect(await ask(question)).toEqual(await fresh.ask(question))
      }
      expect(asked).toHaveLength(2)
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
    // Whose first day has no rates.
    ['2026-03-31', '1M', '2026-03-02'],
    ['2026-04-13', '1W', '2026-04-07'],
    ['2026-01-02', '1Y', '2025-01-02'],
    ['2026-04-07', '1W', '2026-03-31'],
  ] as const)('to %s over %s starts with the rates of %s', async (today, period, first) => {
    const { handler } = open(feed, [`${today}T20:00:00Z`, today])
    const { points } = await handler.rates.history({ from: 'USD', to: 'EUR', period })
    expect(points[0]?.d).toBe(first)
  })

  it('keeps every published digit from EUR, and 10 of what is derived', async () => {
    const body = '{"amount":1.0,"base":"EUR","rates":{"2026-03-18":{"USD":1.234567890123}}}'
    const { handler } = open({ ...feed, body: () => body }, ['2026-03-18T18:00:00Z', '2026-03-18'])
    const [published, derived] = await Promise.all([
      handler.rates.history({ from: 'EUR', to: 'USD' }),
      handler.rates.history({ from: 'USD', to: 'EUR' }),
    ])
    expect(published.points).toEqual([{ d: '2026-03-18', r: 1.234567890123 }])
    expect(published.stats).toMatchObject({ close: 1.234567890123, average: 1.23456789 })
    expect(derived.points).toEqual([{ d: '2026-03-18', r: 0.8100000073 }])
  })

  it('ends with today, whatever the feed says of tomorrow', async () => {
    const day = (date: string, usd: number): string => `"${date}":{"USD":${usd}}`
    const rates = [day('2026-03-17', 1.1), day('2026-03-18', 1.3), day('2026-03-19', 1.9)]
    const body = `{"amount":1.0,"base":"EUR","rates":{${rates.join()}}}`
    const { handler } = open({ ...feed, body: () => body }, ['2026-03-18T18:00:00Z', '2026-03-18'])
    const record = await handler.rates.history({ from: 'EUR', to: 'USD', period: '1W' })
    expect(record.points.map(({ d }) => d)).toEqual(['2026-03-17', '2026-03-18'])
    expect(record.stats).toMatchObject({ close: 1.3, high: 1.3, changePct: 18.1818 })
  })

  it('has no points from before its download: the relay snaps back to a published day', async () => {
    const moment: Moment = ['2026-03-18T18:00:00Z', '2026-03-18']
    const { body } = feed
    const [start, end] = ['2026-03-15', '2026-03-18']
    expect(readDays(body(start, end, moment))[0]?.date).toBe('2026-03-13')
    const { days } = await createFrankfurterProvider().fetchHistory(
      { start, end },
      {
        fetch: async () => new Response(body(start, end, moment)),
        signal: new AbortController().signal,
        now: () => Date.parse(moment[0]),
      },
    )
    expect(days.map(({ date }) => date)).toEqual(['2026-03-16', '2026-03-17', '2026-03-18'])
  })
})
