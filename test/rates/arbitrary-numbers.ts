import * as fc from 'fast-check'

/** Generates decimals of up to `digits` digits, as printed by feeds, between 10 ** -span and 10 ** (span + 1). */
export function decimal(digits: number, span = 12): fc.Arbitrary<number> {
  const mantissa = fc
    .integer({ min: 1, max: digits })
    .chain((length) => fc.integer({ min: 10 ** (length - 1), max: 10 ** length - 1 }))
  return fc
    .tuple(mantissa, fc.integer({ min: -span, max: span }))
    .map(([whole, power]) => Number(`${whole}e${power - String(whole).length + 1}`))
}

/** Generates published rates with up to 15 digits, and any doubles from 1e-12 to 1e12. */
export const rate: fc.Arbitrary<number> = fc.oneof(
  decimal(7),
  decimal(10, 9),
  decimal(15),
  fc.double({ min: 1e-12, max: 1e12, noNaN: true }),
  fc.integer({ min: -12, max: 12 }).map((power) => Number(`1e${power}`)),
)
