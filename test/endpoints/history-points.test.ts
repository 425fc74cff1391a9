import { readFileSync } from 'node:fs'

import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { RatesError } from '../../src/index.ts'
import type { Attribution, Interval, IntervalValue, Point, RatesHandler } from '../../src/index.ts'
import { addDays } from '../fixtures/dates.ts'
import { requestsTo } from '../fixtures/service.ts'
import * as oracle from '../oracle.ts'
import { decimal } from '../rates/arbitrary-numbers.ts'
import { handlerOfDays } from '../rates/markets.ts'
import type { Days } from '../rates/markets.ts'
import { HAS_RECORDINGS, NEEDS_RECORDINGS, recording } from '../recorded.ts'

const RUNS = { seed: 20_261_123, numRuns: 150 }

const CODES = ['EUR', 'USD', 'GBP', 'JPY']

const ALL_RATES = { USD: decimal(5, 1), GBP: decimal(5, 1), JPY: decimal(5, 3) }

const gaps = fc.oneof(
  { weight: 6, arbitrary: fc.constant(1) },
  { weight: 2, arbitrary: fc.integer({ min: 2, max: 5 }) },
  { weight: 1, arbitrary: fc.integer({ min: 12, max: 120 }) },
)

/** Days after gaps of a day to many weeks. Only the first quotes all currencies. */
const markets: fc.Arbitrary<Days> = fc
  .tuple(
    fc.nat(27 * 365),
    fc.record(ALL_RATES),
    fc.array(fc.tuple(gaps, fc.record(ALL_RATES, { requiredKeys: ['USD'] })), { maxLength: 40 }),
  )
  .map(([count, first, steps]) => {
    let day = addDays('1999-01-04', count)
    const others = steps.map(([step, rates]): [string, Record<string, number>] => {
      day = addDays(day, step)
      return [day, rates]
    })
    return { [addDays('1999-01-04', count)]: first, ...Object.fromEntries(others) }
  })

describe('a currency that lost zeros and kept its code', () => {
  const { rates } = handlerOfDays({
    '2021-09-29': { VES: 4.7e6, USD: 1.16 },
    '2021-09-30': { VES: 4.8e6, USD: 1.16 },
    '2021-10-04': { VES: 4.9, USD: 1.16 },
    '2021-10-05': { VES: 4.85, USD: 1.16 },
  })
  const redenominated = [{ code: 'VES', date: '2021-10-01', ratio: 1_000_000 }]

  it.each([
    ['EUR/VES', { start: '2021-09-29', end: '2021-10-05' }, true],
    ['VES/USD', { start: '2021-09-30', end: '2021-10-04' }, true],
    ['EUR/VES', { start: '2021-09-20', end: '2021-10-06', interval: 'year' }, true],
    // The first day has the rate of 30 September.
    ['EUR/VES', { start: '2021-10-02', end: '2021-10-05', fill: 'previous' }, true],
    ['EUR/VES', { start: '2021-10-04', end: '2021-10-05', fill: 'previous' }, false],
    ['EUR/VES', { start: '2021-09-29', end: '2021-09-30' }, false],
    ['EUR/VES', { start: '2021-10-01', end: '2021-10-05' }, false],
    ['EUR/USD', { start: '2021-09-29', end: '2021-10-05' }, false],
  ] as const)('flags %s in %j: %s', async (pair, range, isFlagged) => {
    const [from = '', to = ''] = pair.split('/')
    const record = await rates.history({ from, to, ...range })
    expect(record.redenominated).toEqual(isFlagged ? redenominated : undefined)
    expect('redenominated' in record).toBe(isFlagged)
  })

  it('flags the series of a list, in the same bytes over HTTP', async () => {
    const handler = handlerOfDays({
      '2021-09-30': { VES: 4e6, USD: 1 },
      '2021-10-01': { VES: 4, USD: 1 },
    })
    const range = { start: '2021-09-30', end: '2021-10-01' }
    const list = await handler.rates.history({ from: 'EUR', to: ['VES', 'USD'], ...range })
    expect(list.series).toMatchObject({ VES: { redenominated } })
    expect(list.series['USD']).not.toHaveProperty('redenominated')
    const { text } = requestsTo(handler, '/api/v1')
    const query = new URLSearchParams({ from: 'EUR', ...range })
    expect(await text(`/history?to=VES,USD&${query}`)).toBe(JSON.stringify(list))
    expect(await text(`/history?to=VES&format=csv&${query}`)).not.toContain('redenominated')
  })
})

/** Returns the published points of a pair, ascending, computed from the texts of the rates. */
function publishedPoints(days: Days, from: string, to: string): oracle.Point[] {
  const one = oracle.toExact(1)
  const listed = Object.entries(days).map(([date, rates]) => {
    const exact = Object.entries(rates).map(([code, rate]) => [code, oracle.toExact(rate)] as const)
    return { date, rates: new Map(exact).set('EUR', one) }
  })
  return oracle.pairPoints(listed, from, to)
}

/** Names the interval of a day, found by steps of one day. */
const NAMES: Record<Exclude<Interval, 'day'>, (day: string) => string> = {
  week(day) {
    let monday = day
    while (!isMonday(monday)) monday = oracle.daysBefore(monday, 1)
    return monday
  },
  month: (day) => day.slice(0, 7),
  quarter: (day) => `${day.slice(0, 4)} ${Math.ceil(Number(day.slice(5, 7)) / 3)}`,
  year: (day) => day.slice(0, 4),
}

function isMonday(day: string): boolean {
  return !oracle.isWeekend(day) && oracle.isWeekend(oracle.daysBefore(day, 1))
}

/** Returns the point of the points of one interval. */
function chosenPoint(points: readonly oracle.Point[], value: IntervalValue): oracle.Point {
  const rates = points.map(({ r }) => r)
  const [first = { d: '', r: NaN }] = points
  const last = points.at(-1) ?? first
  const extreme = value === 'high' ? Math.max(...rates) : Math.min(...rates)
  if (value === 'open') return first
  if (value === 'last') return last
  if (value === 'average') return { d: last.d, r: oracle.mean(rates) }
  return points.find(({ r }) => r === extreme) ?? first
}

/** Returns the expected record without its source, or the code of the error if it has no points. */
function recordOf(
  params: object,
  points: readonly Point[],
  summarized: readonly oracle.Point[] = points,
): unknown {
  if (points.length === 0) return 'no_data'
  return { ...params, points, stats: oracle.statsOf(summarized) }
}

/** Returns a record without its source, or the code of an error. */
async function recordOrCode(record: Promise<{ source: Attribution }>): Promise<unknown> {
  try {
    const { source: _source, ...rest } = await record
    return rest
  } catch (error) {
    return error instanceof RatesError ? error.code : error
  }
}

const pairs = fc.tuple(fc.constantFrom(...CODES), fc.constantFrom(...CODES))
const values = fc.constantFrom<IntervalValue>('last', 'average', 'open', 'high', 'low')

/** The first and last day of a window around days of a market. */
function windowOf(days: Days, [before, after]: readonly [number, number]) {
  const published = Object.keys(days)
  const [first = '', last = ''] = [published[0], published.at(-1)]
  return { start: addDays(first, before), end: addDays(last, after) }
}

const shifts = fc.tuple(fc.integer({ min: -20, max: 60 }), fc.integer({ min: -40, max: 20 }))

describe('the value of an interval', () => {
  it('is that of the days of the window in the interval', async () => {
    const intervals = fc.constantFrom('week', 'month', 'quarter', 'year')
    const property = fc.asyncProperty(
      fc.tuple(markets, pairs, shifts),
      fc.tuple(intervals, values),
      async ([days, [from, to], shift], [interval, value]) => {
        const { start, end } = windowOf(days, shift)
        fc.pre(start <= end)
        const daily = publishedPoints(days, from, to).filter(({ d }) => d >= start && d <= end)
        const groups = Object.groupBy(daily, ({ d }) => NAMES[interval](d))
        const expected = Object.values(groups).map((points = []) => chosenPoint(points, value))
        const { rates } = handlerOfDays(days, Object.keys(days).at(-1))
        const params = { from, to, start, end, interval, value }
        const outcome = await recordOrCode(rates.history(params))
        expect(outcome).toEqual(recordOf(params, expected))
      },
    )
    await fc.assert(property, RUNS)
  })

  it('has the last day of each interval by default, also in a leap year', async () => {
    const listed = oracle
      .daysOf('2023-12-30', '2025-01-01')
      .map((day, at) => [day, { USD: at + 1 }])
    const { rates } = handlerOfDays(Object.fromEntries(listed), '2025-01-01')
    const daysOf = async (interval: Interval, end: string) => {
      const params = { from: 'EUR', to: 'USD', start: '2023-12-30', end, interval } as const
      return (await rates.history(params)).points.map(({ d }) => d).join(' ')
    }
    const quarters = '2023-12-31 2024-03-31 2024-06-30 2024-09-30 2024-12-31 2025-01-01'
    expect(await daysOf('quarter', '2025-01-01')).toBe(quarters)
    expect(await daysOf('year', '2025-01-01')).toBe('2023-12-31 2024-12-31 2025-01-01')
    expect(await daysOf('month', '2024-02-29')).toBe('2023-12-31 2024-01-31 2024-02-29')
  })

  it('is in the record only if requested, and an average is exact to 10 digits', async () => {
    const { rates } = handlerOfDays({
      '2026-11-18': { USD: 1 },
      '2026-11-19': { USD: 1.000000001 },
    })
    const pair = { from: 'EUR', to: 'USD' }
    const plain = await rates.history(pair)
    expect(plain).not.toHaveProperty('value')
    const daily = { interval: 'day', value: 'last' } as const
    expect(await rates.history({ ...pair, ...daily })).toEqual({ ...plain, ...daily })
    const month = { start: '2026-11-01', interval: 'month', value: 'average' } as const
    const { points } = await rates.history({ ...pair, ...month })
    expect(points).toEqual([{ d: '2026-11-19', r: 1.000000001 }])
  })
})

it.skipIf(!HAS_RECORDINGS)(
  `the average of a year is what the European Central Bank publishes ${NEEDS_RECORDINGS}`,
  async () => {
    const file = readFileSync(recording('data/ecb/eurofxref-hist.csv'), 'utf8')
    const [head = '', ...lines] = file.trim().split(/\r?\n/)
    const [, ...codes] = head.split(',')
    const listed = lines.toReversed().map((line): [string, Record<string, number>] => {
      const [day = '', ...cells] = line.split(',')
      const quoted = codes.map((code, index) => [code.trim(), Number(cells[index])] as const)
      return [day, Object.fromEntries(quoted.filter(([, rate]) => rate > 0))]
    })
    const { rates } = handlerOfDays(Object.fromEntries(listed), '2026-04-13')
    const years = { start: '2019-01-01', end: '2023-12-31', interval: 'year' } as const
    const averages = async (to: string, digits: number): Promise<string> => {
      const { points } = await rates.history({ from: 'EUR', to, ...years, value: 'average' })
      return points.map(({ r }) => r.toFixed(digits)).join(' ')
    }
    expect(await averages('USD', 4)).toBe('1.1195 1.1422 1.1827 1.0530 1.0813')
    expect(await averages('GBP', 5)).toBe('0.87777 0.88970 0.85960 0.85276 0.86979')
  },
)

describe('filled days', () => {
  /** Returns the rate of a conversion on `date`; undefined without one. */
  async function rateOn({ rates }: RatesHandler, from: string, to: string, date: string) {
    try {
      const { rate, updatedAt, date: day } = await rates.convert({ from, to, date })
      expect(new Date(updatedAt).toISOString().slice(0, 10)).toBe(day)
      return { r: rate, day }
    } catch (error) {
      if (error instanceof RatesError && error.code === 'no_data') return undefined
      throw error
    }
  }

  it('have the rates of conversions on these days, from the start to the end or today', async () => {
    const property = fc.asyncProperty(markets, pairs, shifts, async (days, [from, to], shift) => {
      const { start, end } = windowOf(days, shift)
      fc.pre(start <= end)
      const today = addDays(Object.keys(days).at(-1) ?? '', Math.min(16, Math.max(0, shift[0])))
      const handler = handlerOfDays(days, today)
      const expected: Point[] = []
      for (const d of oracle.daysOf(start, end < today ? end : today)) {
        const found = await rateOn(handler, from, to, d)
        if (found) expected.push({ d, r: found.r, ...(found.day === d ? {} : { filled: true }) })
      }
      const params = { from, to, start, end, fill: 'previous' } as const
      const published = expected.filter(({ filled }) => !filled)
      const outcome = await recordOrCode(handler.rates.history(params))
      const summarized = published.length > 0 ? published : expected
      expect(outcome).toEqual(recordOf(params, expected, summarized))
    })
    await fc.assert(property, RUNS)
  })

  it('keep the points and statistics of a period', async () => {
    const listed = ['13', '16', '20'].map((day) => [`2026-11-${day}`, { USD: Number(day) }])
    const { rates } = handlerOfDays(Object.fromEntries(listed), '2026-11-22')
    const week = { from: 'EUR', to: 'USD', period: '1W' } as const
    const plain = await rates.history(week)
    const { points, ...rest } = await rates.history({ ...week, fill: 'previous' })
    expect(points.filter(({ filled }) => !filled)).toEqual(plain.points)
    expect(points.map(({ d, r }) => `${d.slice(8)} ${r}`).join(', ')).toBe(
      '13 13, 14 13, 15 13, 16 16, 17 16, 18 16, 19 16, 20 20',
    )
    expect({ ...rest, points: plain.points }).toEqual({ ...plain, fill: 'previous' })
  })

  it('are absent where a currency is not quoted', async () => {
    const days = {
      '2026-11-16': { USD: 1.1, ISK: 140 },
      '2026-11-17': { USD: 1.2 },
      '2026-11-20': { USD: 1.3, ISK: 141 },
    }
    const { rates } = handlerOfDays(days, '2026-11-22')
    const fill = { start: '2026-11-15', end: '2026-11-30', fill: 'previous' } as const
    const { points } = await rates.history({ from: 'EUR', to: 'ISK', ...fill })
    expect(points).toEqual([
      { d: '2026-11-16', r: 140 },
      { d: '2026-11-20', r: 141 },
      { d: '2026-11-21', r: 141, filled: true },
      { d: '2026-11-22', r: 141, filled: true },
    ])
  })
})
