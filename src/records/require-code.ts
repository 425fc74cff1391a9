import { MAX_RETRY_AFTER_SECONDS, invalidCurrency, providerUnavailable } from '../errors.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { findSuccession, findWithdrawal } from '../rates/withdrawn.ts'

/** Later than every withdrawal. */
const END_OF_TIME = '9999-12-31'

/**
 * Returns the upper-case code for `sent` (three letters) if `table` has it.
 *
 * @throws {RatesError} `provider_unavailable` if the provider lists the currency without a usable rate; otherwise
 * `invalid_currency` for `parameter`, with the successor of a withdrawn currency
 */
export function requireCode(table: RateTable, parameter: string, sent: string): string {
  const code = sent.toUpperCase()
  if (table.rates.has(code)) return code
  requireKnown(table, code)
  throw invalidCurrency(parameter, sent, withdrawalHint(code))
}

/**
 * Throws if the provider lists `code` without a usable rate, which is not the client's error.
 *
 * @throws {RatesError} `provider_unavailable`
 */
export function requireKnown({ unavailable }: RateTable, code: string): void {
  if (unavailable?.includes(code)) throw providerUnavailable(MAX_RETRY_AFTER_SECONDS)
}

/** Returns the withdrawal date, successor and ratio of a withdrawn `code` as a sentence. */
export function withdrawalHint(code: string): string | undefined {
  const withdrawn = findWithdrawal(code)
  const succession = findSuccession(code, END_OF_TIME)
  if (!withdrawn || !succession) return undefined
  const { successor, ratio } = succession
  const between =
    withdrawn.successor === successor ? '' : ` for ${withdrawn.successor}, also withdrawn`
  return `withdrawn on ${withdrawn.withdrawnAt}${between}, use ${successor}${fixedRatio(code, successor, ratio)}`
}

function fixedRatio(code: string, successor: string, ratio: number | null): string {
  if (ratio === null) return ''
  // A currency worth more than its successor is easier to read inverted, if the inverse is a whole number.
  return ratio < 1 && Number.isInteger(1 / ratio)
    ? `, 1 ${code} = ${1 / ratio} ${successor}`
    : `, 1 ${successor} = ${ratio} ${code}`
}
