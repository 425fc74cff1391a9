import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { LONGEST_NUMBER, writeNumber } from '../../src/rates/number-text.ts'

/** What is written for `value` behind `before` bytes. */
function written(value: number, before = 0): string {
  const bytes = new Uint8Array(before + LONGEST_NUMBER)
  const end = writeNumber(new DataView(bytes.buffer), before, value)
  return new TextDecoder().decode(bytes.subarray(before, end))
}

describe('writeNumber()', () => {
  it.each([
    1,
    2,
    10,
    100,
    0.1,
    0.5,
    0.05,
    0.85367936,
    1.1579,
    168.4478835,
    4_500_000,
    9_999_999_999,
    1e10,
    12_345_678_901,
    999_999_999.9,
    1_000_000_000.5,
    0.000001,
    0.0000012345,
    0.00000099,
    1e-7,
    1e21,
    1e22,
    1.5e300,
    5e-324,
    0.1 + 0.2,
    1 / 3,
    2 / 3,
    9.9999999999,
    9.99999999999,
    0.99999999995,
    123_456.7890123,
    Number.MAX_SAFE_INTEGER,
    Number.MAX_VALUE,
  ])('writes %d as JSON does', (value) => {
    expect(written(value)).toBe(JSON.stringify(value))
    expect(written(value, 7)).toBe(JSON.stringify(value))
  })

  it('writes every positive number as JSON does', () => {
    const decimal = fc
      .tuple(fc.integer({ min: 1, max: 99_999_999_999 }), fc.integer({ min: -25, max: 25 }))
      .map(([digits, power]) => Number(`${digits}e${power}`))
    const double = fc.double({ min: Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true })
    const property = fc.property(fc.oneof(decimal, double), (value) => {
      expect(written(value)).toBe(JSON.stringify(value))
    })
    fc.assert(property, { seed: 20_261_121, numRuns: 20_000 })
  })

  it('has room for the longest', () => {
    for (const value of [
      1.7976931348623157e308, 2.2250738585072014e-308, 1.2345678901234567e-100,
    ]) {
      expect(JSON.stringify(value).length).toBeLessThanOrEqual(LONGEST_NUMBER)
    }
  })
})
