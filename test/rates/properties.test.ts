import { createRatesHandler } from '../../src/index.ts'
import type { HistoryRangeParams, Point, RateHistory, RatesHandler } from '../../src/index.ts'
import { crossRate } from '../../src/rates/arithmetic.ts'
import type { RateTable } from '../../src/rates/rate-table.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { DAY_MS, addDays, toDay } from '../fixtures/dates.ts'
import { longService } from '../fixtures/long-market.ts'
import { rowsOf } from '../fixtures/rows.ts'
import { PERIODS, daysOf, isWeekend, product } from '../oracle.ts'
import { decimal } from './arbitrary-numbers.ts'
import { handlerOfDays, handlerOfTable } from './markets.ts'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const NOW = Date.parse('2026-03-18T18:30:00Z')
const RUNS = { seed: 20_261_120, numRuns: 150 }

/** Rates as printed by feeds: 1 to 10 digits, from 1e-8 to 1e8. */
const rate = decimal(10, 7)

/** Codes and their rates against the first code. */
const table = fc
  .dictionary(fc.stringMatching(/^[A-Z]{3}$/), rate, { minKeys: 3, maxKeys: 8 })
  .map((rates) => Object.entries(rates))
  .map(([[base] = ['', 1], ...others]) => ({
    handler: handlerOfTable(Object.fromEntries([[base, 1], ...others]), base, NOW),
    codes: [base, ...others.map(([code]) => code)],
  }))

/** Returns the deviations of reciprocals, and of triangles through some codes, as shares. */
async function disagreements(handler: RatesHandler, codes: string[], through: string[]) {
  const rows = new Map<string, Record<string, number>>()
  for (const base of codes) rows.set(base, (await handler.rates.latest({ base })).rates)
  const at = (from: string, to: string): number => rows.get(from)?.[to] ?? NaN
  let [reciprocal, triangle] = [0, 0]
  for (const a of codes) {
    for (const b of codes) {
      reciprocal = Math.max(reciprocal, Math.abs(at(a, b) * at(b, a) - 1))
      for (const c of through) {
        triangle = Math.max(triangle, Math.abs((at(a, c) * at(c, b)) / at(a, b) - 1))
      }
    }
  }
  return { reciprocal, triangle }
}

/** Expects the same rate of a pair at every endpoint, and the exact product with an amount. */
async function expectOneRate(handler: RatesHandler, from: string, to: string, amount: number) {
  const pair = `from=${from}&to=${to}&amount=${encodeURIComponent(amount)}`
  const targets = [
    `/v1/latest?base=${from}`,
    `/v1/latest?base=${from}&symbols=${to}`,
    `/rates?base=${from}`,
    `/v1/convert?${pair}`,
    `/convert?${pair}`,
  ]
  const responses = targets.map((target) => handler(new Request(`http://localhost/api${target}`)))
  const records = await Promise.all(responses.map(async (response) => (await response).json()))
  const rates = records.map((record) => record.rate ?? record.rates[to])
  expect(rates).toEqual(targets.map(() => rates[0]))
  const result = product(amount, rates[0])
  expect(records.slice(3).map((record) => record.result)).toEqual([result, result])
}

describe('any table', () => {
  it('has consistent reciprocals and triangles', async () => {
    const property = fc.asyncProperty(table, async ({ handler, codes }) => {
      const { reciprocal, triangle } = await disagreements(handler, codes, codes)
      expect(reciprocal).toBeLessThan(1e-9)
      expect(triangle).toBeLessThan(2e-9)
    })
    await fc.assert(property, RUNS)
  })

  it('has the same rate of a pair at every endpoint, and its exact product', async () => {
    const amounts = fc.oneof(rate, fc.double({ min: 0, max: 1e290, noNaN: true }))
    const pairs = table.chain(({ handler, codes }) =>
      fc.tuple(fc.constant(handler), fc.constantFrom(...codes), fc.constantFrom(...codes)),
    )
    const property = fc.asyncProperty(pairs, amounts, async (pair, amount) =>
      expectOneRate(...pair, amount),
    )
    await fc.assert(property, RUNS)
  })
})

it.each([1, 42])('the synthetic market of seed %i has consistent rates', async (seed) => {
  const handler = createRatesHandler({ providers: fakeProviders({ seed }), now: () => NOW })
  const codes = Object.keys((await handler.rates.latest()).rates)
  expect(codes.length).toBeGreaterThan(160)
  const through = ['USD', 'EUR', 'JPY', 'KWD', 'LBP', 'GBP']
  const { reciprocal, triangle } = await disagreements(handler, codes, through)
  expect(reciprocal).toBeLessThan(1e-9)
  expect(triangle).toBeLessThan(2e-9)
  for (const [i, from] of codes.entries()) {
    await expectOneRate(handler, from, codes[(i * 31 + 5) % codes.length] ?? '', i / 10)
  }
})

/** Returns the violated invariants of a history. */
function violations({ points, stats }: RateHistory): string[] {
  const rates = points.map(({ r }) => r)
  const dates = points.map(({ d }) => d)
  const claims = {
    'low is the lowest': stats.low === Math.min(...rates),
    'high is the highest': stats.high === Math.max(...rates),
    'open is the first': stats.open === rates.at(0),
    'close is the last': stats.close === rates.at(-1),
    'the average is between low and high':
      stats.low <= stats.average && stats.average <= stats.high,
    'highDate is the first of the highest': stats.highDate === dates[rates.indexOf(stats.high)],
    'lowDate is the first of the lowest': stats.lowDate === dates[rates.indexOf(stats.low)],
    'the change has the sign of the difference':
      stats.changePct === 0 || stats.changePct > 0 === stats.close > stats.open,
    'dates ascend strictly': dates.every((date, i) => i === 0 || date > (dates[i - 1] ?? '')),
  }
  return Object.entries(claims).flatMap(([claim, holds]) => (holds ? [] : [claim]))
}

it('has stats that bound its points, which ascend, with any rates and days', async () => {
  const today = '2026-03-18'
  const dates = daysOf('2021-03-01', '2026-03-17').filter((date) => !isWeekend(date))
  const quotes = fc.record({ USD: rate, JPY: rate })
  const days = fc
    .shuffledSubarray(dates, { maxLength: 40 })
    // The newest day belongs to every window, so that none is empty.
    .map((some) => [...some.slice(0, 20), today, ...some.slice(20)])
    .chain((some) => fc.tuple(...some.map((date) => fc.tuple(fc.constant(date), quotes))))
  const property = fc.asyncProperty(days, async (some) => {
    const { rates } = handlerOfDays(Object.fromEntries(some), today)
    for (const period of PERIODS) {
      expect(violations(await rates.history({ from: 'EUR', to: 'USD', period }))).toEqual([])
      expect(violations(await rates.history({ from: 'JPY', to: 'USD', period }))).toEqual([])
    }
  })
  await fc.assert(property, RUNS)
})

describe('any range', () => {
  const { rates } = longService().handler
  const [first, last] = [Date.parse('1999-01-04'), Date.parse('2026-11-20')]
  const code = fc.constantFrom('EUR', 'USD', 'IDR', 'JPY', 'GBP', 'TRY')

  /** Some of all days, ascending. */
  const days = (count: number): fc.Arbitrary<string[]> =>
    fc
      .array(fc.nat((last - first) / DAY_MS), { minLength: count, maxLength: count })
      .map((numbers) => numbers.map((number) => toDay(first + number * DAY_MS)).toSorted())

  /** Returns none where the range has none. */
  async function pointsOf(params: HistoryRangeParams): Promise<Point[]> {
    const record = await rates.history(params).catch(() => ({ points: [] }))
    return record.points
  }

  it('is its first half followed by its second half', async () => {
    const property = fc.asyncProperty(code, code, days(3), async (from, to, [a, b, c]) => {
      const [start = '', middle = '', end = ''] = [a, b, c]
      const next = addDays(middle, 1)
      const whole = await pointsOf({ from, to, start, end })
      const before = await pointsOf({ from, to, start, end: middle })
      const behind = next > end ? [] : await pointsOf({ from, to, start: next, end })
      // As strings, because comparing thousands of points takes seconds.
      expect(JSON.stringify([...before, ...behind]) === JSON.stringify(whole)).toBe(true)
    })
    await fc.assert(property, { ...RUNS, numRuns: 40 })
  })

  /** Returns the Monday of the week, or the month, of a day. */
  const SPANS = {
    week: (day: string) => addDays(day, -((new Date(day).getUTCDay() + 6) % 7)),
    month: (day: string) => day.slice(0, 7),
  }

  it.each(['week', 'month'] as const)('has the last point of each %s', async (interval) => {
    const property = fc.asyncProperty(code, code, days(2), async (from, to, [a, b]) => {
      const params = { from, to, start: a ?? '', end: b ?? '' }
      const daily = await pointsOf(params)
      const some = daily.length === 0 ? [] : await pointsOf({ ...params, interval })
      const latest = new Map(daily.map((point) => [SPANS[interval](point.d), point]))
      expect(JSON.stringify(some) === JSON.stringify([...latest.values()])).toBe(true)
    })
    await fc.assert(property, { ...RUNS, numRuns: 40 })
  })

  it('has on every day exactly the rates of the table of that day', async () => {
    const property = fc.asyncProperty(code, days(1), async (base, [date = '']) => {
      const of = await rates.latest({ base, date })
      expect(of.date <= date).toBe(true)
      expect(await pointsOf({ from: base, to: 'EUR', start: of.date, end: date })).toHaveLength(1)
      expect(Object.keys(of.rates).length).toBeGreaterThanOrEqual(29)
      for (const [to, r] of Object.entries(of.rates)) {
        const points = await pointsOf({ from: base, to, start: of.date, end: of.date })
        expect(points).toEqual([{ d: of.date, r }])
      }
    })
    await fc.assert(property, { ...RUNS, numRuns: 20 })
  })
})

const TABLE: RateTable = {
  base: 'USD',
  updatedAt: 0,
  nextUpdateAt: 1,
  publishedAt: 0,
  rates: new Map(Object.entries({ USD: 1, EUR: 0.851_234_567_891_2, JPY: 154.5 })),
}

describe('crossRate()', () => {
  it.each([
    ['as it was published', 'USD', 'EUR', 0.851_234_567_891_2],
    ['to 10 digits if derived', 'EUR', 'USD', 1.174_764_322],
    ['to 10 digits between two others', 'EUR', 'JPY', 181.501_087_7],
    ['at 1 for the base itself', 'USD', 'USD', 1],
    ['at 1 for any other in itself', 'EUR', 'EUR', 1],
  ])('quotes %s: %s in %s', (_how, from, to, rate) => {
    expect(crossRate(TABLE, from, to)).toBe(rate)
  })

  it.each(rowsOf('USD QQQ | QQQ USD | QQQ QQQ'))('throws for %s in %s', (from = '', to = '') => {
    expect(() => crossRate(TABLE, from, to)).toThrow(`${from} or ${to}`)
  })
})
