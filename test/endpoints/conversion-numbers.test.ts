import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { Conversion, ConversionList, ConvertedAmount } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import * as oracle from '../oracle.ts'

const NOW = Date.parse('2026-03-18T18:30:00Z')
const TODAY = '2026-03-18'
const RUNS = { seed: 20_261_122, numRuns: 2_000 }

const handler = createRatesHandler({ providers: fakeProviders({ seed: 5 }), now: () => NOW })

/** Codes of the latest rates and of the reference rates. */
let latestCodes: string[] = []
let quotedCodes: string[] = []

beforeAll(async () => {
  const { currencies } = await handler.rates.currencies()
  latestCodes = currencies.filter(({ latest }) => latest).map(({ code }) => code)
  quotedCodes = currencies.filter(({ history }) => history).map(({ code }) => code)
})

async function convert<Result = Conversion>(query: string): Promise<Result> {
  const response = await handler(new Request(`http://localhost/api/v1/convert?${query}`))
  const body: Result = await response.json()
  expect(response.status, JSON.stringify(body)).toBe(200)
  return body
}

/** Converts to each of `codes` with its own request. */
async function oneByOne(query: string, codes: readonly string[]) {
  const results: Record<string, ConvertedAmount> = {}
  for (const to of codes) {
    const { rate, result } = await convert(`${query}&to=${to}`)
    results[to] = { rate, result }
  }
  return results
}

/** Returns a code for any whole number. */
function pick(codes: readonly string[], index: number): string {
  return codes[index % codes.length] ?? ''
}

function pairOf(codes: readonly string[], one: number, other: number): string {
  return `from=${pick(codes, one)}&to=${pick(codes, other)}`
}

/** Two random currencies; evaluated when the codes are loaded. */
const latestPair = fc.tuple(fc.nat(), fc.nat()).map((pair) => pairOf(latestCodes, ...pair))

/** A decimal of up to 15 digits, from 1e-15 to 1e15. */
const amount = fc
  .integer({ min: 1, max: 15 })
  .chain((length) => fc.integer({ min: 10 ** (length - 1), max: 10 ** length - 1 }))
  .chain((whole) => {
    const power = fc.integer({ min: -15, max: 15 - String(whole).length })
    return power.map((tens) => Number(`${whole}e${tens}`))
  })

describe('a conversion to several currencies', () => {
  it('covers all currencies', () => {
    expect([latestCodes.length, quotedCodes.length]).toEqual([161, 30])
  })

  it.each([
    ...['USD', 'EUR', 'JPY', 'KWD', 'IDR'].map((from) => `from=${from}&amount=1234.56789`),
    ...['2026-03-15', '2021-06-30', '2008-02-29', '1999-01-04'].map(
      (date) => `from=GBP&amount=0.07&date=${date}`,
    ),
  ])('has the same results as single conversions: %s', async (conversion) => {
    const codes = conversion.includes('date=') ? quotedCodes : latestCodes
    for (const query of [conversion, `${conversion}&reverse=true`]) {
      const batch = await convert<ConversionList>(`${query}&to=${codes.join()}`)
      expect(JSON.stringify(batch.results)).toBe(JSON.stringify(await oneByOne(query, codes)))
    }
  })
})

describe('a conversion on a day', () => {
  it('uses the history point of that day, or the last point before it, for every pair', async () => {
    const dates = oracle.daysOf('2021-04-01', TODAY).filter((_, index) => index % 29 === 0)
    expect(dates.length).toBeGreaterThan(60)
    for (const from of quotedCodes) {
      const series = await Promise.all(
        quotedCodes.map((to) => handler.rates.history({ from, to, period: '5Y' })),
      )
      for (const date of dates) {
        const query = `from=${from}&date=${date}&to=${quotedCodes.join()}`
        const response = await convert<ConversionList & { date: string }>(query)
        const expected = series.map(({ points }) => points.findLast(({ d }) => d <= date))
        expect(Object.values(response.results).map(({ rate }) => rate)).toEqual(
          expected.map((point) => point?.r),
        )
        expect(new Set(expected.map((point) => point?.d))).toEqual(new Set([response.date]))
      }
    }
  })

  it('is the exact quotient of the published rates, back to 1999', async () => {
    const { history } = fakeProviders({ seed: 5 })
    const signal = new AbortController().signal
    const range = { start: '1999-01-04', end: TODAY }
    const { days } = await history.fetchHistory(range, { fetch, signal, now: () => NOW })
    expect(days.length).toBeGreaterThan(6_000)
    for (const [index, { date, rates }] of days.entries()) {
      if (index % 97 !== 0) continue
      const published = new Map(
        Object.entries({ ...rates, EUR: 1 }).map(([code, rate]) => [code, oracle.toExact(rate)]),
      )
      const codes = [...published.keys()]
      const from = pick(codes, index)
      const response = await convert<ConversionList>(`from=${from}&date=${date}&to=${codes.join()}`)
      for (const to of codes) {
        const rate = oracle.crossRate(published, 'EUR', from, to)
        expect(response.results[to], `${from} in ${to} on ${date}`).toEqual({ rate, result: rate })
      }
    }
  })
})

describe('a conversion in reverse', () => {
  it('has the rate of the conversion, and the exact quotient with 15 digits', async () => {
    const property = fc.asyncProperty(amount, latestPair, async (wanted, pair) => {
      const { rate } = await convert(pair)
      const reverse = await convert(`${pair}&reverse=true&amount=${encodeURIComponent(wanted)}`)
      const exact = oracle.divide(oracle.toExact(wanted), oracle.toExact(rate))
      const result = oracle.nearestDouble(oracle.roundSignificant(exact, 15))
      expect(reverse).toMatchObject({ amount: wanted, rate, result, reverse: true })
    })
    await fc.assert(property, RUNS)
  })

  it('returns every converted amount of up to 15 digits, on any day', async () => {
    const dates = fc.constantFrom('', '&date=2026-03-01', '&date=2023-12-25', '&date=2005-07-01')
    const property = fc.asyncProperty(
      amount,
      fc.nat(),
      fc.nat(),
      dates,
      async (start, one, other, on) => {
        const pair = pairOf(on === '' ? latestCodes : quotedCodes, one, other) + on
        const { result } = await convert(`${pair}&amount=${encodeURIComponent(start)}`)
        const back = await convert(`${pair}&reverse=true&amount=${encodeURIComponent(result)}`)
        expect(back.result).toBe(start)
      },
    )
    await fc.assert(property, { ...RUNS, numRuns: 4_000 })
  })

  it('converts back to the requested amount within its last digit, and is stable', async () => {
    const property = fc.asyncProperty(amount, latestPair, async (wanted, pair) => {
      const needed = await convert(`${pair}&reverse=true&amount=${encodeURIComponent(wanted)}`)
      const given = await convert(`${pair}&amount=${encodeURIComponent(needed.result)}`)
      // Half a unit of the 15th digit is at most 5e-15 of the amount.
      expect(Math.abs(given.result / wanted - 1)).toBeLessThan(5.5e-15)
      const again = await convert(`${pair}&reverse=true&amount=${encodeURIComponent(given.result)}`)
      expect(again.result).toBe(needed.result)
    })
    await fc.assert(property, RUNS)
  })

  it('equals the opposite conversion as far as the two rates are reciprocal', async () => {
    const property = fc.asyncProperty(amount, fc.nat(), fc.nat(), async (wanted, one, other) => {
      const sent = `amount=${encodeURIComponent(wanted)}`
      const needed = await convert(`${pairOf(latestCodes, one, other)}&reverse=true&${sent}`)
      const converted = await convert(`${pairOf(latestCodes, other, one)}&${sent}`)
      expect(Math.abs(needed.result / converted.result - 1)).toBeLessThan(1e-9)
    })
    await fc.assert(property, RUNS)
  })
})
