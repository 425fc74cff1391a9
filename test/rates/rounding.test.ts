import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import {
  amountNeeded,
  exactProduct,
  mean as meanOf,
  percentChange,
  quotient,
} from '../../src/rates/arithmetic.ts'
import { numberRows } from '../fixtures/rows.ts'
import * as oracle from '../oracle.ts'
import { decimal, rate } from './arbitrary-numbers.ts'

const RUNS = { seed: 20_261_120, numRuns: 3_000 }

const power = fc.integer({ min: -11, max: 3 })

/** 11 digits that end in 5: halfway between two numbers of 10 digits. */
const tie = fc
  .integer({ min: 1_000_000_000, max: 9_999_999_999 })
  .map((digits) => BigInt(digits) * 10n + 5n)

const divisor = fc.constantFrom(1n, 2n, 3n, 7n, 13n, 97n, 997n, 9_973n, 99_991n, 999_983n)

function exactQuotient(dividend: number, by: number): number {
  const fraction = oracle.divide(oracle.toExact(dividend), oracle.toExact(by))
  return oracle.nearestDouble(oracle.roundSignificant(fraction, 10))
}

function expectExactQuotient(dividend: number, by: number): void {
  expect(quotient(dividend, by)).toBe(exactQuotient(dividend, by))
}

describe('quotient()', () => {
  it.each(
    numberRows(`
      1 3 0.3333333333        | 2 3 0.6666666667            | 1 7 0.1428571429 | 10 1 10
      1.0000000005 1 1.000000001 | 1.0000000015 1 1.000000002 | 1.000000000499999 1 1
      99999999995 1e11 1      | 99999999994 1e11 0.9999999999 | 9.9999999999 1 10
      1e12 1e-12 1e24 | 1e-12 1e12 1e-24 | 1 20082.05 0.00004979571309 | 123456789012 1 123456789000`),
  )('%d / %d is %d to 10 significant digits', (dividend, by, expected) => {
    expect(quotient(dividend, by)).toBe(expected)
    expect(exactQuotient(dividend, by)).toBe(expected)
  })

  it('rounds the exact quotient of the printed digits, half up', () => {
    const property = fc.property(rate, rate, (dividend, by) => expectExactQuotient(dividend, by))
    fc.assert(property, RUNS)
  })

  it('rounds ties up, and near ties by their exact value', () => {
    const offset = fc.constantFrom(-1n, 0n, 1n)
    const property = fc.property(tie, divisor, power, offset, (t, by, p, o) => {
      expectExactQuotient(Number(`${t * by + o}e${p}`), Number(by))
      expectExactQuotient(Number(`${t * by + o}`), Number(`${by}e${-p}`))
    })
    fc.assert(property, RUNS)
    expect(quotient(7_000_000_003.5, 7)).toBe(1_000_000_001)
  })

  it('finds its digits next to every power of ten', () => {
    for (let p = -24; p <= 24; p += 1) {
      for (const mantissa of ['1', '0.99999999995', '0.99999999994', '0.9999999999999999']) {
        const dividend = Number(`${mantissa}e${Math.ceil(p / 2)}`)
        expectExactQuotient(dividend, Number(`1e${-Math.floor(p / 2)}`))
      }
    }
  })
})

describe('mean()', () => {
  const mean = (values: number[]): number => meanOf(Float64Array.from(values))
  const expectExactMean = (values: number[]): void => {
    expect(mean(values)).toBe(oracle.mean(values))
  }

  it.each([
    [[5], 5],
    [[1, 2], 1.5],
    [[1, 1, 2], 1.333333333],
    [[0.1, 0.2, 0.3], 0.2],
    [[1.000000001, 1.000000002], 1.000000002], // a tie
    [[1e12, 1e-12], 500_000_000_000],
  ])('of %j is %d', (values, expected) => {
    expect(mean(values)).toBe(expected)
    expect(oracle.mean(values)).toBe(expected)
  })

  it('rounds the exact mean to 10 significant digits', () => {
    const values = fc.array(rate, { minLength: 1, maxLength: 40 })
    const property = fc.property(values, (some) => expectExactMean(some))
    fc.assert(property, RUNS)
  })

  it('is exact for 100,000 rates', () => {
    const meanOfMany = (rate: number): number => mean(Array.from({ length: 100_000 }, () => rate))
    expect(meanOfMany(7.000_000_000_500_5)).toBe(7.000_000_001)
    expect(meanOfMany(7.000_000_000_499_5)).toBe(7)
  })

  it('rounds ties up, and near ties by their exact value', () => {
    const spread = fc.integer({ min: 0, max: 999_999_999 }).map(BigInt)
    const offset = fc.constantFrom(-1n, 0n, 1n)
    const property = fc.property(tie, spread, offset, power, (t, s, o, p) => {
      const values = [t - s, t + s + o, t].map((digits) => Number(`${digits}e${p}`))
      expectExactMean(values)
      expectExactMean(values.slice(0, 2))
    })
    fc.assert(property, RUNS)
  })

  it('rounds a mean of five years that is a near tie by its exact value', () => {
    const spread = fc.bigInt({ min: 0n, max: 9_999_999_999n })
    const spreads = fc.array(spread, { minLength: 640, maxLength: 650 })
    const offset = fc.bigInt({ min: -20n, max: 20n })
    const property = fc.property(tie, spreads, offset, power, (t, some, o, p) => {
      const middle = t * 10n
      const digits = [middle + o, ...some.flatMap((s) => [middle - s, middle + s])]
      expectExactMean(digits.map((whole) => Number(`${whole}e${p}`)))
    })
    fc.assert(property, { ...RUNS, numRuns: 200 })
  })
})

describe('percentChange()', () => {
  // Half a unit is rounded away from 0, less than that to 0 and never to −0.
  it.each(
    numberRows(`
      1 1 0 | 1 1.1 10 | 1.1 1 -9.0909 | 1 1.0000005 0.0001 | 1 0.9999995 -0.0001 | 1 0.9999996 0
      1 1.0000004 0 | 1.1234 1.1234000001 0 | 1e-12 1e12 1e26 | 1e12 1e-12 -100 | 0.00005 0.000051 2`),
  )('from %d to %d is %d', (open, close, expected) => {
    expect(percentChange(open, close)).toBe(expected)
    expect(oracle.percentChange(open, close)).toBe(expected)
  })

  it('rounds the exact change to 4 decimals, half away from zero', () => {
    const nearby = fc.tuple(decimal(10), fc.integer({ min: -1_000_000, max: 1_000_000 }))
    const close = nearby.map(([open, drift]) => [open, open * (1 + drift / 1e8)] as const)
    const property = fc.property(fc.oneof(fc.tuple(rate, rate), close), ([from, to]) => {
      expect(percentChange(from, to)).toBe(oracle.percentChange(from, to))
    })
    fc.assert(property, RUNS)
  })

  it('rounds ties away from zero', () => {
    // An odd number of half units of the last decimal, from small to very large changes.
    const half = fc.oneof(fc.integer({ min: -900_000, max: 900_000 }), fc.nat(99_999_999_999_999))
    const property = fc.property(fc.integer({ min: 1, max: 20 }), half, power, (from, whole, p) => {
      const odd = 2n * BigInt(whole) + 1n
      const open = Number(`${BigInt(from) * 2_000_000n}e${p}`)
      const close = Number(`${BigInt(from) * (2_000_000n + odd)}e${p}`)
      const units = odd < 0n ? (odd - 1n) / 2n : (odd + 1n) / 2n
      expect(percentChange(open, close)).toBe(Number(units) / 10_000)
    })
    fc.assert(property, RUNS)
  })
})

describe('exactProduct()', () => {
  // 2.5e-324 is more than half of what is printed as 5e-324. The product of doubles in the last row ends in 27.
  it.each(
    numberRows(`
      0.1 3 0.3 | 1.1 1.1 1.21 | 7 1.1 7.7 | 0 1.5 0 | 1e21 1e-21 1 | 1e-11 1e-11 1e-22
      1e-11 1e-12 1e-23 | 0 5e-324 0 | 5e-324 1 5e-324 | 5e-324 0.4 0 | 5e-324 0.5 5e-324
      1.7976931348623157e308 1 1.7976931348623157e308 | 1.7976931348623157e308 1.0000000001 Infinity
      1e308 10 Infinity | 9007199254740992 1.1 9907919180215092
      123456789.98765433 1.1684 144246913.4215753 | 44671.662 7163.11815 319988392.8628653`),
  )('%d × %d is %d', (left, right, expected) => {
    expect(exactProduct(left, right)).toBe(expected)
    expect(oracle.product(left, right)).toBe(expected)
  })

  it('rounds the exact product of the printed digits once, for any doubles', () => {
    const anything = fc.oneof(
      rate,
      fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
      fc.double({ min: 0, max: 1e-300, noNaN: true }),
      fc.integer({ min: 0, max: 100_000 }).map((steps) => steps * 5e-324),
    )
    const property = fc.property(anything, anything, (left, right) => {
      expect(exactProduct(left, right)).toBe(oracle.product(left, right))
      expect(exactProduct(right, left)).toBe(exactProduct(left, right))
    })
    fc.assert(property, RUNS)
  })
})

describe('a negative amount', () => {
  const amount = fc.oneof(rate, fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }))
  const opposite = (value: number): number => (value === 0 ? 0 : -value)

  it('converts to the opposite of what the positive one does, and never to −0', () => {
    const property = fc.property(amount, rate, (value, by) => {
      expect(exactProduct(-value, by)).toBe(opposite(exactProduct(value, by)))
      expect(exactProduct(by, -value)).toBe(opposite(exactProduct(value, by)))
      expect(amountNeeded(-value, by)).toBe(opposite(amountNeeded(value, by)))
    })
    fc.assert(property, RUNS)
    expect(exactProduct(-0.1, -3)).toBe(0.3)
  })
})

it('the oracle reads every double exactly', () => {
  const double = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true })
  const property = fc.property(double, (value) => {
    expect(oracle.nearestDouble(oracle.toExact(value))).toBe(value)
  })
  fc.assert(property, RUNS)
})
