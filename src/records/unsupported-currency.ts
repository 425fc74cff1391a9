import { RatesError, visible } from '../errors.ts'
import { withdrawalHint } from './require-code.ts'

/** As many codes as an error of 1 KiB has room for. */
const MOST_LISTED = 150

/** A code that reference rates do not cover. `sent` is echoed; `what` covers only the codes `covered`. */
export function unsupportedCurrency(
  parameter: string,
  sent: string,
  what: string,
  covered: readonly string[],
): RatesError {
  const more = covered.length > MOST_LISTED ? ` and ${covered.length - MOST_LISTED} more` : ''
  const coverage = `${what} ${covered.slice(0, MOST_LISTED).join(', ')}${more}`
  const withdrawal = withdrawalHint(sent.toUpperCase())
  return new RatesError(
    'unsupported_currency',
    `Unsupported ${parameter} currency: ${visible(sent)}`,
    { parameter, hint: withdrawal === undefined ? coverage : `${withdrawal}; ${coverage}` },
  )
}
