import { RatesError, escapeForMessage } from '../errors.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { FORMERLY_QUOTED } from '../rates/target-calendar.ts'
import { withdrawalHint } from './require-code.ts'

/** As many codes as an error of 1 KiB has room for. */
const MAX_LISTED = 150

/**
 * Returns the code that `sent`, three letters in either case, means if reference rates have ever quoted it. How much of
 * them is held decides nothing: an answer must not change as it ages.
 *
 * @throws {RatesError} `unsupported_currency` naming `parameter`, with the codes `covered` by `what`
 */
export function requireEverQuoted(
  { base, columns }: MarketHistory,
  parameter: string,
  sent: string,
  { what, covered }: { what: string; covered: () => readonly string[] },
): string {
  const code = sent.toUpperCase()
  if (code === base || columns.has(code) || FORMERLY_QUOTED.has(code)) return code
  throw unsupportedCurrency(parameter, sent, what, covered())
}

/** A code that reference rates do not cover. `sent` is echoed; `what` covers only the codes `covered`. */
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
