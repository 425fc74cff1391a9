import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { RatesError } from '../../src/index.ts'
import {
  amountNeeded,
  exactProduct,
  mean as meanOf,
  percentChange,
  quotient,
} from '../../src/rates/arithmetic.ts'
import { codes } from '../fixtures/codes.ts'
import { addDays } from '../fixtures/dates.ts'
import { numberRows } from '../fixtures/rows.ts'
import * as oracle from '../oracle.ts'
import { decimal, rate } from './arbitrary-numbers.ts'
import { handlerOfDays, handlerOfTable } from './markets.ts'

const RUNS = { seed: 20_261_120, numRuns: 3_000 }

const power = fc.integer({ min: -11, max: 3 })

/** Any double, and those next to 0. */
const anything = fc.oneof(
  rate,
  decimal(15, 30),
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  fc.double({ min: 0, max: 1e-300, noNaN: true }),
  fc.nat(100_000).map((steps) => steps * 5e-324),
)

/** 11 digits that end in 5: halfway between two numbers of 10 digits. */
const tie = fc
  .integer({ min: 1_000_000_000, max: 9_999_999_999 })
  .map((digits) => BigInt(digits) * 10n + 5n)

const offset = fc.constantFrom(-1n, 0n, 1n)

/** The exact quotient of two printed numbers, rounded half up to some digits. */
function exactQuotient(dividend: number, by: number, digits = 10): number {
  if (dividend === 0) return 0
  const fraction = oracle.divide(oracle.toExact(dividend), oracle.toExact(by))
  return oracle.nearestDouble(oracle.roundSignificant(fraction, digits))
}

const expectExactQuotient = (dividend: number, by: number): void => {
  expect(quotient(dividend, by)).toBe(exactQuotient(dividend, by))
}

describe('quotient()', () => {
  it.each(
    numberRows(`
      1 3 0.3333333333        | 2 3 0.6666666667            | 1 7 0.1428571429 | 10 1 10
      1.0000000005 1 1.000000001 | 1.0000000015 1 1.000000002 | 1.000000000499999 1 1
      99999999995 1e11 1      | 99999999994 1e11 0.9999999999 | 9.9999999999 1 10
      1e12 1e-12 1e24 | 1e-12 1e12 1e-24 | 1 20082.05 0.00004979571309 | 123456789012 1 123456789000
      7000000003.5 7 1000000001`),
  )('%d / %d is %d to 10 significant digits', (dividend, by, expected) => {
    expect(quotient(dividend, by)).toBe(expected)
    expect(exactQuotient(dividend, by)).toBe(expected)
  })

  it('rounds the exact quotient of the printed digits half up, near ties by their exact value', () => {
    fc.assert(fc.property(rate, rate, expectExactQuotient), RUNS)
    const divisor = fc.constantFrom(1n, 2n, 3n, 7n, 13n, 97n, 997n, 9_973n, 99_991n, 999_983n)
    const property = fc.property(tie, divisor, power, offset, (t, by, p, o) => {
      expectExactQuotient(Number(`${t * by + o}e${p}`), Number(by))
      expectExactQuotient(Number(`${t * by + o}`), Number(`${by}e${-p}`))
    })
    fc.assert(property, RUNS)
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

  it('is exact for 100,000 rates', () => {
    const meanOfMany = (rate: number): number => mean(Array.from({ length: 100_000 }, () => rate))
    expect(meanOfMany(7.000_000_000_500_5)).toBe(7.000_000_001)
    expect(meanOfMany(7.000_000_000_499_5)).toBe(7)
  })

  it('rounds the exact mean to 10 digits: ties up, and near ties by their exact value', () => {
    const values = fc.array(rate, { minLength: 1, maxLength: 40 })
    fc.assert(fc.property(values, expectExactMean), RUNS)
    const spread = fc.integer({ min: 0, max: 999_999_999 }).map(BigInt)
    const property = fc.property(tie, spread, offset, power, (t, s, o, p) => {
      const three = [t - s, t + s + o, t].map((digits) => Number(`${digits}e${p}`))
      expectExactMean(three)
      expectExactMean(three.slice(0, 2))
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
    fc.assert(property, { ...RUNS, numRuns: 60 })
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

  it('rounds the exact product of the printed digits once, for any doubles and signs', () => {
    const opposite = (value: number): number => (value === 0 ? 0 : -value)
    const property = fc.property(anything, anything, (left, right) => {
      const product = oracle.product(left, right)
      expect([exactProduct(left, right), exactProduct(right, left)]).toEqual([product, product])
      // Never −0.
      expect(exactProduct(-left, right)).toBe(opposite(product))
      expect(exactProduct(right, -left)).toBe(opposite(product))
    })
    fc.assert(property, RUNS)
    const needed = fc.property(anything, rate, (value, by) => {
      expect(amountNeeded(-value, by)).toBe(opposite(amountNeeded(value, by)))
    })
    fc.assert(needed, RUNS)
    expect(exactProduct(-0.1, -3)).toBe(0.3)
  })
})

describe('a conversion in reverse', () => {
  const RATES = fc.sample(rate, { seed: 20_261_122, numRuns: 500 })
  const CODES = codes(RATES.length)
  const table = Object.fromEntries(CODES.map((code, index) => [code, RATES[index] ?? NaN]))
  const market = handlerOfTable({ USD: 1, ...table })

  /** Returns the amount of USD that is needed for a result; Infinity if it is rejected as too large. */
  const amountFor = async (amount: number, to: string, { rates } = market): Promise<number> =>
    rates.convert({ from: 'USD', to, amount, reverse: true }).then(
      ({ result }) => result,
      (error: RatesError) => (error.code === 'invalid_amount' ? Infinity : NaN),
    )

  // Of the last rows, some round up to another power of ten, some are ties, and 15 digits of one are more than it.
  it.each(
    numberRows(`
      0 1.5 0 | 1 1 1 | 1 3 0.333333333333333 | 2 3 0.666666666666667 | 100 0.8537 117.137167623287
      85.37 0.8537 100 | 0.3 3 0.1 | 1e15 1 1e15 | 1234567890123456 1 1234567890123460
      9.99999999999999e22 1e-3 9.99999999999999e25 | 999999999999999.5 1 1e15
      1.000000000000005 1 1.00000000000001 | 1.000000000000004 1 1 | 1e308 0.1 Infinity
      1.7976931348623157e308 1 Infinity | 5e-324 1 5e-324 | 5e-324 4 0`),
  )('for the result %d at %d needs the amount %d', async (result, by, amount) => {
    expect(await amountFor(result, 'EUR', handlerOfTable({ EUR: by }))).toBe(amount)
    expect(exactQuotient(result, by, 15)).toBe(amount)
  })

  it('rounds the exact quotient of the printed digits half up to 15 digits', async () => {
    const property = fc.asyncProperty(anything, fc.nat(RATES.length - 1), async (result, index) => {
      const expected = exactQuotient(result, RATES[index] ?? NaN, 15)
      expect(await amountFor(result, CODES[index] ?? '')).toBe(expected)
    })
    await fc.assert(property, { ...RUNS, numRuns: 2_000 })
  })

  it('finds its digits next to every power of ten', async () => {
    const handler = handlerOfTable({ USD: 1, EUR: 7e-5 })
    const ties = ['1', '0.9999999999999995', '0.9999999999999994', '1.000000000000005']
    for (let power = -300; power <= 300; power += 7) {
      for (const result of ties.map((mantissa) => Number(`${mantissa}e${power}`))) {
        expect(await amountFor(result, 'USD', handler)).toBe(exactQuotient(result, 1, 15))
        expect(await amountFor(result, 'EUR', handler)).toBe(exactQuotient(result, 7e-5, 15))
      }
    }
  })
})

it('writes rates like JSON.stringify() and String() do', async () => {
  const numbers = [
    [1, 2, 10, 100, 0.1, 0.5, 0.05, 0.85367936, 1.1579, 168.4478835, 4_500_000, 9_999_999_999],
    [1e10, 12_345_678_901, 999_999_999.9, 1_000_000_000.5, 0.000001, 0.0000012345, 0.00000099],
    [1e-7, 1e21, 1e22, 1.5e90, 5e-99, 0.1 + 0.2, 1 / 3, 2 / 3, 9.9999999999, 9.99999999999],
    [0.99999999995, 123_456.7890123, Number.MAX_SAFE_INTEGER, 1e100, 1e-100],
    // The longest possible number.
    Array.from({ length: 40 }, () => 1.2345678901234567e-100),
    fc.sample(fc.oneof(decimal(11, 25), fc.double({ min: 1e-100, max: 1e100, noNaN: true })), {
      seed: 20_261_121,
      numRuns: 5_000,
    }),
  ].flat()
  // Of the newest five years: older ones are compared with each other.
  for (let first = 0; first < numbers.length; first += 1_800) {
    const column = numbers.slice(first, first + 1_800)
    const dates = column.map((_, index) => addDays('2021-12-01', index))
    const days = dates.map((date, index) => [date, { USD: column[index] ?? NaN }])
    const handler = handlerOfDays(Object.fromEntries(days))
    const target = 'http://localhost/api/v1/history?from=EUR&to=USD&start=2021-12-01'
    const text = await (await handler(new Request(target))).text()
    const points = text.slice(text.indexOf('['), text.indexOf(']') + 1)
    expect(points).toBe(JSON.stringify(dates.map((d, index) => ({ d, r: column[index] }))))
    const csv = await (await handler(new Request(`${target}&format=csv`))).text()
    const cells = csv.split('\r\n').map((line) => line.split(',')[3])
    expect(cells).toEqual(['rate', ...column.map(String), undefined])
  }
})
