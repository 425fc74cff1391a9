import { findCurrency, findWithdrawn } from '../currencies.ts'
import { nearest } from '../nearest.ts'

/**
 * The codes of `covered` that the first of `sent` that is none of them may have meant: by the currency's name, or as a slip
 * of the hand. None for a withdrawn one, whose successor is named elsewhere.
 */
export function suggestCodes(sent: readonly string[], covered: readonly string[]): string[] {
  const wrong = sent.find((code) => !covered.includes(code.toUpperCase()))
  if (wrong === undefined || findWithdrawn(wrong.toUpperCase())) return []
  const named = covered.filter((code) => nameOf(code) === wrong.toLowerCase())
  if (named.length > 0) return named
  // In three letters, a second one that is wrong leaves too little to go by.
  const slips = nearest(wrong, covered, wrong.length > 3 ? 2 : 1)
  if (slips.length > 0) return slips
  return covered.filter((code) => nameOf(code).split(' ').includes(wrong.toLowerCase()))
}

function nameOf(code: string): string {
  return findCurrency(code)?.name.toLowerCase() ?? ''
}
