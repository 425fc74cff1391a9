import { RatesError, escapeForMessage } from '../errors.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { DISCONTINUED_CODES } from '../rates/target-calendar.ts'
import { withdrawalHint } from './require-code.ts'

/** Keeps an error body below 1 KiB. */
const MAX_LISTED = 150

/**
 * Returns the upper-case code for `sent` (three letters) if reference rates ever included it. The result must not depend on
 * the range of cached days.
 *
 * @throws {RatesError} `unsupported_currency` for `parameter`, with the `covered` codes
 */
export function requireEverQuoted(
  { base, columns }: MarketHistory,
  parameter: string,
  sent: string,
  { what, covered }: { what: string; covered: () => readonly string[] },
): string {
  const code = sent.toUpperCase()
  if (code === base || columns.has(code) || DISCONTINUED_CODES.has(code)) return code
  throw unsupportedCurrency(parameter, sent, what, covered())
}

/** Creates the error for a code without reference rates; echoes `sent` and lists the `covered` codes after `what`. */
export function unsupportedCurrency(
  parameter: string,
  sent: string,
  what: string,
  covered: readonly string[],
): RatesError {
  const more = covered.length > MAX_LISTED ? ` and ${covered.length - MAX_LISTED} more` : ''
  const coverage = `${what} ${covered.slice(0, MAX_LISTED).join(', ')}${more}`
  const withdrawal = withdrawalHint(sent.toUpperCase())
  return new RatesError(
    'unsupported_currency',
    `Unsupported ${parameter} currency: ${escapeForMessage(sent)}`,
    { parameter, hint: withdrawal === undefined ? coverage : `${withdrawal}; ${coverage}` },
  )
}
