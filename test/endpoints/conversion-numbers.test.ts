import * as fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'

import type { Conversion, ConversionList, ConvertedAmount } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { openService } from '../fixtures/service.ts'
import * as oracle from '../oracle.ts'

const NOW = Date.parse('2026-03-18T18:30:00Z')
const TODAY = '2026-03-18'

const providers = fakeProviders({ seed: 5 })
const { handler, get } = openService({ start: NOW, providers })

/** Codes of the latest rates and of the reference rates. */
let latestCodes: string[] = []
let quotedCodes: string[] = []

beforeAll(async () => {
  const { currencies } = await handler.rates.currencies()
  latestCodes = currencies.filter(({ latest }) => latest).map(({ code }) => code)
  quotedCodes = currencies.filter(({ history }) => history).map(({ code }) => code)
})

async function convert<Result = Conversion>(query: string): Promise<Result> {
  const response = await get(`/api/v1/convert?${query}`)
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

it('a conversion on a day is the exact quotient of the last rates published by then, back to 1999', async () => {
  const range = { start: '1999-01-04', end: TODAY }
  const context = { fetch, signal: new AbortController().signal, now: () => NOW }
  const { days } = await providers.history.fetchHistory(range, context)
  expect(days.length).toBeGreaterThan(6_000)
  const counts = { published: 0, daysOff: 0 }
  for (const [index, { date: published, rates }] of days.entries()) {
    if (index % 47 !== 0) continue
    const table = new Map(
      Object.entries({ ...rates, EUR: 1 }).map(([code, rate]) => [code, oracle.toExact(rate)]),
    )
    const codes = [...table.keys()]
    const from = pick(codes, index)
    const next = days[index + 1]?.date ?? TODAY
    for (const date of oracle.daysOf(published, oracle.daysBefore(next, 1))) {
      counts[date === published ? 'published' : 'daysOff'] += 1
      const query = `from=${from}&date=${date}&to=${codes.join()}`
      const response = await convert<ConversionList & { date: string }>(query)
      expect(response.date).toBe(published)
      for (const to of codes) {
        const rate = oracle.crossRate(table, 'EUR', from, to)
        expect(response.results[to], `${from} in ${to} on ${date}`).toEqual({ rate, result: rate })
      }
    }
  }
  expect(counts.published).toBeGreaterThan(140)
  expect(counts.daysOff).toBeGreaterThan(40)
})

it('a conversion in reverse has the rate of the conversion, and the exact quotient with 15 digits, on any day', async () => {
  const dates = fc.constantFrom('', '&date=2026-03-01', '&date=2023-12-25', '&date=2005-07-01')
  const property = fc.asyncProperty(
    amount,
    fc.nat(),
    fc.nat(),
    dates,
    async (wanted, one, other, on) => {
      const codes = on === '' ? latestCodes : quotedCodes
      const pair = `from=${pick(codes, one)}&to=${pick(codes, other)}${on}`
      const { rate } = await convert(pair)
      const reverse = await convert(`${pair}&reverse=true&amount=${encodeURIComponent(wanted)}`)
      const exact = oracle.divide(oracle.toExact(wanted), oracle.toExact(rate))
      const result = oracle.nearestDouble(oracle.roundSignificant(exact, 15))
      expect(reverse).toMatchObject({ amount: wanted, rate, result, reverse: true })
    },
  )
  await fc.assert(property, { seed: 20_261_122, numRuns: 2_000 })
})
