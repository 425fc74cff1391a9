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

/** The codes of latest rates and of reference rates. */
let latestCodes: string[] = []
let quotedCodes: string[] = []

beforeAll(async () => {
  const { currencies } = await handler.rates.currencies()
  latestCodes = currencies.filter(({ latest }) => latest).map(({ code }) => code)
  quotedCodes = currencies.filter(({ history }) => history).map(({ code }) => code)
})

async function ask<Asked = Conversion>(query: string): Promise<Asked> {
  const response = await handler(new Request(`http://localhost/api/v1/convert?${query}`))
  const body: Asked = await response.json()
  expect(response.status, JSON.stringify(body)).toBe(200)
  return body
}

/** `from` converted into each of `codes`, one question for each. */
async function oneByOne(query: string, codes: readonly string[]) {
  const results: Record<string, ConvertedAmount> = {}
  for (const to of codes) {
    const { rate, result } = await ask(`${query}&to=${to}`)
    results[to] = { rate, result }
  }
  return results
}

/** A code of `codes` for any whole number. */
function pick(codes: readonly string[], index: number): string {
  return codes[index % codes.length] ?? ''
}

function pairOf(codes: readonly string[], one: number, other: number): string {
  return `from=${pick(codes, one)}&to=${pick(codes, other)}`
}

/** Any two currencies of the latest rates, which are loaded by the time that it is run. */
const latestPair = fc.tuple(fc.nat(), fc.nat()).map((pair) => pairOf(latestCodes, ...pair))

/** A decimal of up to 15 digits, from 1e-15 to 1e15. */
const amount = fc
  .integer({ min: 1, max: 15 })
  .chain((length) => fc.integer({ min: 10 ** (length - 1), max: 10 ** length - 1 }))
  .chain((whole) => {
    const power = fc.integer({ min: -15, max: 15 - String(whole).length })
    return power.map((tens) => Number(`${whole}e${tens}`))
  })

describe('several currencies', () => {
  it('are all that there are', () => {
    expect([latestCodes.length, quotedCodes.length]).toEqual([161, 30])
  })

  it.each([
    ...['USD', 'EUR', 'JPY', 'KWD', 'IDR'].map((from) => `from=${from}&amount=1234.56789`),
    ...['2026-03-15', '2021-06-30', '2008-02-29', '1999-01-04'].map(
      (date) => `from=GBP&amount=0.07&date=${date}`,
    ),
  ])('have each what they have alone: %s', async (conversion) => {
    const codes = conversion.includes('date=') ? quotedCodes : latestCodes
    for (const query of [conversion, `${conversion}&reverse=true`]) {
      const batch = await ask<ConversionList>(`${query}&to=${codes.join()}`)
      expect(JSON.stringify(batch.results)).toBe(JSON.stringify(await oneByOne(query, codes)))
    }
  })
})

describe('a conversion on a day', () => {
  it('is at the point of the history of that day, or of the last before it, for every pair', async () => {
    const dates = oracle.daysOf('2021-04-01', TODAY).filter((_, index) => index % 29 === 0)
    expect(dates.length).toBeGreaterThan(60)
    for (const from of quotedCodes) {
      const series = await Promise.all(
        quotedCodes.map((to) => handler.rates.history({ from, to, period: '5Y' })),
      )
      for (const date of dates) {
        const asked = `from=${from}&date=${date}&to=${quotedCodes.join()}`
        const answer = await ask<ConversionList & { date: string }>(asked)
        const expected = series.map(({ points }) => points.findLast(({ d }) => d <= date))
        expect(Object.values(answer.results).map(({ rate }) => rate)).toEqual(
          expected.map((point) => point?.r),
        )
        expect(new Set(expected.map((point) => point?.d))).toEqual(new Set([answer.date]))
      }
    }
  })

  it('is the exact quotient of what was published, back to 1999', async () => {
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
      const answer = await ask<ConversionList>(`from=${from}&date=${date}&to=${codes.join()}`)
      for (const to of codes) {
        const rate = oracle.crossRate(published, 'EUR', from, to)
        expect(answer.results[to], `${from} in ${to} on ${date}`).toEqual({ rate, result: rate })
      }
    }
  })
})

describe('a conversion in reverse', () => {
  it('has the rate of the conversion, and the exact quotient to 15 digits', async () => {
    const property = fc.asyncProperty(amount, latestPair, async (wanted, pair) => {
      const { rate } = await ask(pair)
      const reverse = await ask(`${pair}&reverse=true&amount=${encodeURIComponent(wanted)}`)
      const exact = oracle.divide(oracle.toExact(wanted), oracle.toExact(rate))
      const result = oracle.nearestDouble(oracle.roundSignificant(exact, 15))
      expect(reverse).toMatchObject({ amount: wanted, rate, result, reverse: true })
    })
    await fc.assert(property, RUNS)
  })

  it('gives back every amount of up to 15 digits that was converted, on any day', async () => {
    const dates = fc.constantFrom('', '&date=2026-03-01', '&date=2023-12-25', '&date=2005-07-01')
    const property = fc.asyncProperty(
      amount,
      fc.nat(),
      fc.nat(),
      dates,
      async (start, one, other, on) => {
        const pair = pairOf(on === '' ? latestCodes : quotedCodes, one, other) + on
        const { result } = await ask(`${pair}&amount=${encodeURIComponent(start)}`)
        const back = await ask(`${pair}&reverse=true&amount=${encodeURIComponent(result)}`)
        expect(back.result).toBe(start)
      },
    )
    await fc.assert(property, { ...RUNS, numRuns: 4_000 })
  })

  it('gives, converted, what was wanted to within its own last digit, and needs the same again', async () => {
    const property = fc.asyncProperty(amount, latestPair, async (wanted, pair) => {
      const needed = await ask(`${pair}&reverse=true&amount=${encodeURIComponent(wanted)}`)
      const given = await ask(`${pair}&amount=${encodeURIComponent(needed.result)}`)
      // Half a unit of the 15th digit is 5e-15 of it at most.
      expect(Math.abs(given.result / wanted - 1)).toBeLessThan(5.5e-15)
      const again = await ask(`${pair}&reverse=true&amount=${encodeURIComponent(given.result)}`)
      expect(again.result).toBe(needed.result)
    })
    await fc.assert(property, RUNS)
  })

  it('is the conversion of the other way round, as far as the two rates are reciprocal', async () => {
    const property = fc.asyncProperty(amount, fc.nat(), fc.nat(), async (wanted, one, other) => {
      const sent = `amount=${encodeURIComponent(wanted)}`
      const needed = await ask(`${pairOf(latestCodes, one, other)}&reverse=true&${sent}`)
      const converted = await ask(`${pairOf(latestCodes, other, one)}&${sent}`)
      expect(Math.abs(needed.result / converted.result - 1)).toBeLessThan(1e-9)
    })
    await fc.assert(property, RUNS)
  })
})
