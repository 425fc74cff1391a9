import * as fc from 'fast-check'

import { PARAMETERS } from './endpoints.ts'

const VALUES = [
  'EUR usd HRK ZZZ EUR,GBP 1 1e3 -1 1M 5Y 2026-11-13 week true % %00'.split(' '),
  ['', 'E\tUR', ' EUR '],
].flat()

/** Anything that a parameter may be given, good or bad. */
export const value: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...VALUES),
  fc.string({ unit: 'binary', maxLength: 40 }).map(encoded),
  fc.string({ maxLength: 40 }),
)

const name = fc.oneof(
  fc.constantFrom(...PARAMETERS, 'BASE', 'base[]', '?from', '__proto__', 'constructor', 'x'),
  fc.string({ maxLength: 10 }),
)

const pairs = fc
  .array(fc.tuple(name, value), { maxLength: 6 })
  .map((list) => list.map((pair) => pair.join('=')).join('&'))

/** Any text where a query is expected, most of them like one. */
export const query: fc.Arbitrary<string> = fc.oneof(
  pairs,
  fc.string({ unit: 'binary' }),
  fc.string(),
)

/** Percent-encoded, but for a half of a surrogate pair, which stays. */
function encoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : text
}
