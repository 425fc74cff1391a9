import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { amountNeeded } from '../../src/rates/amount-needed.ts'
import { exactProduct } from '../../src/rates/rounding.ts'
import * as oracle from '../oracle.ts'

const RUNS = { seed: 20_261_122, numRuns: 10_000 }

/** The least double that keeps all of 15 digits. */
const LEAST_WHOLE = 2.3e-308

/** A decimal of up to `digits` digits between 10 ** -span and 10 ** span. */
function decimal(digits: number, span: number): fc.Arbitrary<number> {
  const mantissa = fc
    .integer({ min: 1, max: digits })
    .chain((length) => fc.integer({ min: 10 ** (length - 1), max: 10 ** length - 1 }))
  return fc
    .tuple(mantissa, fc.integer({ min: -span, max: span }))
    .map(([whole, power]) => Number(`${whole}e${power - String(whole).length + 1}`))
}

/** As published with up to 15 digits, derived with 10, or any. */
const rate = fc.oneof(
  decimal(10, 9),
  decimal(15, 12),
  fc.double({ min: 1e-12, max: 1e12, noNaN: true }),
  fc.integer({ min: -12, max: 12 }).map((power) => Number(`1e${power}`)),
)

const anything = fc.oneof(
  decimal(15, 30),
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: 0, max: 1e-300, noNaN: true }),
  fc.integer({ min: 0, max: 100_000 }).map((steps) => steps * 5e-324),
)

function expected(result: number, by: number): number {
  if (result === 0) return 0
  const exact = oracle.divide(oracle.toExact(result), oracle.toExact(by))
  return oracle.nearestDouble(oracle.roundSignificant(exact, 15))
}

describe('amountNeeded()', () => {
  it.each([
    [0, 1.5, 0],
    [1, 1, 1],
    [1, 3, 0.333333333333333],
    [2, 3, 0.666666666666667],
    [100, 0.8537, 117.137167623287],
    [85.37, 0.8537, 100],
    [0.3, 3, 0.1],
    [1e15, 1, 1e15],
    [1_234_567_890_123_456, 1, 1_234_567_890_123_460],
    [9.99999999999999e22, 1e-3, 9.99999999999999e25],
    [999_999_999_999_999.5, 1, 1e15], // up to another power of ten
    [1.000000000000005, 1, 1.00000000000001], // a tie
    [1.000000000000004, 1, 1],
    [1e308, 0.1, Infinity],
    [1.7976931348623157e308, 1, Infinity], // 15 digits of it are more than it
    [5e-324, 1, 5e-324],
    [5e-324, 4, 0],
  ])('%d / %d is %d to 15 significant digits', (result, by, amount) => {
    expect(amountNeeded(result, by)).toBe(amount)
    expect(expected(result, by)).toBe(amount)
  })

  it('rounds the exact quotient of the printed digits, half up, whatever the doubles', () => {
    const property = fc.property(anything, rate, (result, by) => {
      expect(amountNeeded(result, by)).toBe(expected(result, by))
    })
    fc.assert(property, RUNS)
  })

  it('finds its digits next to every power of ten', () => {
    for (let power = -300; power <= 300; power += 7) {
      for (const mantissa of [
        '1',
        '0.9999999999999995',
        '0.9999999999999994',
        '1.000000000000005',
      ]) {
        const result = Number(`${mantissa}e${power}`)
        expect(amountNeeded(result, 1)).toBe(expected(result, 1))
        expect(amountNeeded(result, 7e-5)).toBe(expected(result, 7e-5))
      }
    }
  })

  it('gives back every amount of up to 15 digits that was multiplied', () => {
    const amount = fc.oneof(
      decimal(15, 15),
      decimal(15, 250),
      fc.nat().map((cents) => cents / 100),
    )
    const property = fc.property(amount, rate, (start, by) => {
      expect(amountNeeded(exactProduct(start, by), by)).toBe(start)
    })
    fc.assert(property, RUNS)
  })

  it('gives back the hardest amounts, at which a unit of the 15th digit is least', () => {
    const nines = fc.integer({ min: 999_999_999_000_000, max: 999_999_999_999_999 })
    const property = fc.property(nines, rate, (start, by) => {
      expect(amountNeeded(exactProduct(start, by), by)).toBe(start)
    })
    fc.assert(property, RUNS)
  })

  it('is stable: what it gives, multiplied, needs the same again', () => {
    const property = fc.property(anything, rate, (start, by) => {
      const needed = amountNeeded(start, by)
      fc.pre(needed >= LEAST_WHOLE && needed < Infinity)
      const given = exactProduct(needed, by)
      fc.pre(given >= LEAST_WHOLE && given < Infinity)
      expect(amountNeeded(given, by)).toBe(needed)
    })
    fc.assert(property, RUNS)
  })

  it('gives, multiplied, the start to within half a unit of its 15th digit times the rate', () => {
    const property = fc.property(decimal(15, 15), rate, (start, by) => {
      const needed = amountNeeded(start, by)
      const [, power] = needed.toExponential(14).split('e')
      const halfUnit = oracle.toExact(`5e${Number(power) - 15}`)
      const most = oracle.multiply(halfUnit, oracle.toExact(by))
      const given = oracle.multiply(oracle.toExact(needed), oracle.toExact(by))
      const wanted = oracle.toExact(start)
      const off = given.n * wanted.d - wanted.n * given.d
      expect((off < 0n ? -off : off) * most.d <= most.n * given.d * wanted.d).toBe(true)
    })
    fc.assert(property, RUNS)
  })
})
