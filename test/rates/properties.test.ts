import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/handler.ts'
import type { RatesHandler } from '../../src/handler.ts'
import type { HistoryProvider, LatestProvider } from '../../src/providers/provider.ts'
import type { HistoryRecord } from '../../src/records/history.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { PERIODS, daysOf, isWeekend, product } from '../oracle.ts'

const NOW = Date.parse('2026-03-18T18:30:00Z')
const RUNS = { seed: 20_261_120, numRuns: 300 }

const attribution = { name: 'Generated', url: 'https://example.com' }

/** What a feed may print: 1 to 10 digits, from 1e-8 to 1e8. */
const rate = fc
  .tuple(fc.integer({ min: 1, max: 9_999_999_999 }), fc.integer({ min: -8, max: 7 }))
  .map(([digits, power]) => Number(`${digits}e${power - String(digits).length + 1}`))

/** Codes and their rates against the first of them. */
const table = fc
  .uniqueArray(fc.tuple(fc.stringMatching(/^[A-Z]{3}$/), rate), {
    minLength: 3,
    maxLength: 8,
    selector: ([code]) => code,
  })
  .map(([[base] = ['', 1], ...others]) => ({
    base,
    rates: Object.fromEntries([[base, 1], ...others]),
  }))

function handlerOf({ base, rates }: { base: string; rates: Record<string, number> }): RatesHandler {
  const latest: LatestProvider = {
    attribution,
    fetchLatest: async () => ({ base, updatedAt: NOW, nextUpdateAt: NOW + 86_400_000, rates }),
  }
  return createRatesHandler({ providers: { latest }, now: () => NOW })
}

/** How far reciprocals, and triangles through some codes, are from agreeing; as shares. */
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

/** What every door says of one pair and one amount. */
async function everyDoor(handler: RatesHandler, from: string, to: string, amount: number) {
  const pair = `from=${from}&to=${to}&amount=${encodeURIComponent(amount)}`
  const targets = [
    `/v1/latest?base=${from}`,
    `/v1/latest?base=${from}&symbols=${to}`,
    `/rates?base=${from}`,
    `/v1/convert?${pair}`,
    `/convert?${pair}`,
  ]
  const answers = targets.map(async (target) => {
    const response = await handler(new Request(`http://localhost/api${target}`))
    return response.json()
  })
  const records = await Promise.all(answers)
  return {
    rates: records.map((record) => record.rate ?? record.rates[to]),
    results: records.slice(3).map((record) => record.result),
  }
}

/** What is said of a rate wherever it is shown. */
function atEveryDoor(shown: number, amount: number): Awaited<ReturnType<typeof everyDoor>> {
  const result = product(amount, shown)
  return { rates: [shown, shown, shown, shown, shown], results: [result, result] }
}

describe('any table', () => {
  it('gives reciprocals and triangles that agree', async () => {
    const property = fc.asyncProperty(table, async (published) => {
      const codes = Object.keys(published.rates)
      const { reciprocal, triangle } = await disagreements(handlerOf(published), codes, codes)
      expect(reciprocal).toBeLessThan(1e-9)
      expect(triangle).toBeLessThan(2e-9)
    })
    await fc.assert(property, RUNS)
  })

  it('gives one rate for one pair at every door, and a result that is its exact product', async () => {
    const amounts = fc.oneof(rate, fc.double({ min: 0, max: 1e290, noNaN: true }))
    const property = fc.asyncProperty(
      table,
      amounts,
      fc.nat(),
      fc.nat(),
      async (published, amount, one, other) => {
        const codes = Object.keys(published.rates)
        const from = codes[one % codes.length] ?? ''
        const to = codes[other % codes.length] ?? ''
        const answers = await everyDoor(handlerOf(published), from, to, amount)
        expect(answers).toEqual(atEveryDoor(answers.rates[0], amount))
      },
    )
    await fc.assert(property, RUNS)
  })
})

describe('the synthetic market', () => {
  it.each([1, 2, 42])('of seed %i gives reciprocals and triangles that agree', async (seed) => {
    const handler = createRatesHandler({ providers: fakeProviders({ seed }), now: () => NOW })
    const codes = Object.keys((await handler.rates.latest()).rates)
    expect(codes.length).toBeGreaterThan(160)
    const through = ['USD', 'EUR', 'JPY', 'KWD', 'LBP', 'GBP']
    const { reciprocal, triangle } = await disagreements(handler, codes, through)
    expect(reciprocal).toBeLessThan(1e-9)
    expect(triangle).toBeLessThan(2e-9)
  })

  it('gives one rate for one pair at every door', async () => {
    const handler = createRatesHandler({ providers: fakeProviders(), now: () => NOW })
    const codes = Object.keys((await handler.rates.latest()).rates)
    for (const [i, from] of codes.entries()) {
      const to = codes[(i * 31 + 5) % codes.length] ?? ''
      const answers = await everyDoor(handler, from, to, i / 10)
      expect(answers).toEqual(atEveryDoor(answers.rates[0], i / 10))
    }
  })
})

/** What ought to be true of a record and is not. */
function violations({ points, stats }: HistoryRecord): string[] {
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
    'there is no weekend': !dates.some(isWeekend),
  }
  return Object.entries(claims).flatMap(([claim, holds]) => (holds ? [] : [claim]))
}

describe('history', () => {
  it('has stats that bound its points, which ascend and miss every weekend', async () => {
    const question = fc.record({
      seed: fc.integer(),
      hours: fc.integer({ min: 0, max: 20_000 }),
      from: fc.constantFrom('EUR', 'USD', 'IDR', 'JPY'),
      to: fc.constantFrom('EUR', 'DKK', 'GBP', 'IDR', 'TRY'),
    })
    const property = fc.asyncProperty(question, async ({ seed, hours, from, to }) => {
      const now = (): number => NOW + hours * 3_600_000
      const { rates } = createRatesHandler({ providers: fakeProviders({ seed }), now })
      for (const period of PERIODS) {
        expect(violations(await rates.history({ from, to, period }))).toEqual([])
      }
    })
    await fc.assert(property, { ...RUNS, numRuns: 20 })
  })

  it('has them for any rates on any days, in whatever order they come', async () => {
    const today = '2026-03-18'
    const dates = daysOf('2021-03-01', '2026-03-17').filter((date) => !isWeekend(date))
    const quotes = fc.record({ USD: rate, JPY: rate })
    const market = fc
      .shuffledSubarray(dates, { maxLength: 40 })
      // The newest day anchors every window, so that none is empty.
      .map((some) => [...some.slice(0, 20), today, ...some.slice(20)])
      .chain((some) =>
        fc.tuple(...some.map((date) => fc.record({ date: fc.constant(date), rates: quotes }))),
      )
    const property = fc.asyncProperty(market, async (days) => {
      const history: HistoryProvider = {
        attribution,
        fetchHistory: async () => ({ base: 'EUR', days }),
      }
      const { rates } = createRatesHandler({ providers: { history }, now: () => NOW })
      for (const period of PERIODS) {
        expect(violations(await rates.history({ from: 'EUR', to: 'USD', period }))).toEqual([])
        expect(violations(await rates.history({ from: 'JPY', to: 'USD', period }))).toEqual([])
      }
    })
    await fc.assert(property, RUNS)
  })
})
