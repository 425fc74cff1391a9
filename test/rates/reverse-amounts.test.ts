import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { RatesError } from '../../src/index.ts'
import { codes } from '../fixtures/codes.ts'
import { numberRows } from '../fixtures/rows.ts'
import * as oracle from '../oracle.ts'
import { decimal, rate } from './arbitrary-numbers.ts'
import { handlerOfTable } from './markets.ts'

const RUNS = { seed: 20_261_122, numRuns: 2_000 }

const RATES = fc.sample(rate, { seed: 20_261_122, numRuns: 500 })
const CODES = codes(RATES.length)
const table = Object.fromEntries(CODES.map((code, index) => [code, RATES[index] ?? NaN]))
const market = handlerOfTable({ USD: 1, ...table })

/** A currency of the market, and its rate against the dollar. */
const quoted = fc
  .nat(RATES.length - 1)
  .map((index) => ({ to: CODES[index] ?? '', by: RATES[index] ?? NaN }))

const anything = fc.oneof(
  decimal(15, 30),
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: 0, max: 1e-300, noNaN: true }),
  fc.nat(100_000).map((steps) => steps * 5e-324),
)

/** Returns the result of a conversion from USD; Infinity if it is rejected as too large. */
async function convert(to: string, amount: number, reverse: boolean, handler = market) {
  return handler.rates.convert({ from: 'USD', to, amount, reverse }).then(
    ({ result }) => result,
    (error: RatesError) => (error.code === 'invalid_amount' ? Infinity : NaN),
  )
}

function expected(result: number, by: number): number {
  if (result === 0) return 0
  const exact = oracle.divide(oracle.toExact(result), oracle.toExact(by))
  return oracle.nearestDouble(oracle.roundSignificant(exact, 15))
}

describe('a conversion in reverse', () => {
  // Of the last rows, some round up to another power of ten, some are ties, and 15 digits of one are more than it.
  it.each(
    numberRows(`
      0 1.5 0 | 1 1 1 | 1 3 0.333333333333333 | 2 3 0.666666666666667 | 100 0.8537 117.137167623287
      85.37 0.8537 100 | 0.3 3 0.1 | 1e15 1 1e15 | 1234567890123456 1 1234567890123460
      9.99999999999999e22 1e-3 9.99999999999999e25 | 999999999999999.5 1 1e15
      1.000000000000005 1 1.00000000000001 | 1.000000000000004 1 1 | 1e308 0.1 Infinity
      1.7976931348623157e308 1 Infinity | 5e-324 1 5e-324 | 5e-324 4 0`),
  )('for the result %d at %d needs the amount %d', async (result, by, amount) => {
    expect(await convert('EUR', result, true, handlerOfTable({ EUR: by }))).toBe(amount)
    expect(expected(result, by)).toBe(amount)
  })

  it('rounds the exact quotient of the printed digits half up to 15 digits', async () => {
    const property = fc.asyncProperty(anything, quoted, async (result, { to, by }) => {
      expect(await convert(to, result, true)).toBe(expected(result, by))
    })
    await fc.assert(property, RUNS)
  })

  it('finds its digits next to every power of ten', async () => {
    const handler = handlerOfTable({ USD: 1, EUR: 7e-5 })
    const ties = ['1', '0.9999999999999995', '0.9999999999999994', '1.000000000000005']
    for (let power = -300; power <= 300; power += 7) {
      for (const result of ties.map((mantissa) => Number(`${mantissa}e${power}`))) {
        expect(await convert('USD', result, true, handler)).toBe(expected(result, 1))
        expect(await convert('EUR', result, true, handler)).toBe(expected(result, 7e-5))
      }
    }
  })
})
