import { findCurrency, findWithdrawn } from '../currencies.ts'
import { nearest } from '../nearest.ts'

/**
 * Suggests codes of `covered` for the first of `sent` that is not covered: by currency name, or by similar letters. Suggests
 * nothing for a withdrawn currency, because the API's message names its successor.
 */
export function suggestCodes(sent: readonly string[], covered: readonly string[]): string[] {
  const wrong = sent.find((code) => !covered.includes(code.toUpperCase()))
  if (wrong === undefined || findWithdrawn(wrong.toUpperCase())) return []
  const named = covered.filter((code) => nameOf(code) === wrong.toLowerCase())
  if (named.length > 0) return named
  // With two of three letters wrong, almost any code would match.
  const similar = nearest(wrong, covered, wrong.length > 3 ? 2 : 1)
  if (similar.length > 0) return similar
  return covered.filter((code) => nameOf(code).split(' ').includes(wrong.toLowerCase()))
}

function nameOf(code: string): string {
  return findCurrency(code)?.name.toLowerCase() ?? ''
}
