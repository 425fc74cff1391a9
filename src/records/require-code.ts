import { MAX_RETRY_AFTER_SECONDS, invalidCurrency, providerUnavailable } from '../errors.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { findSuccession, findWithdrawn } from '../rates/withdrawn.ts'

/** After the end of every currency. */
const FOR_GOOD = '9999-12-31'

/**
 * The code that `sent`, three letters in either case, means in `table`.
 *
 * @throws {RatesError} `provider_unavailable` where the provider carries the currency without a usable rate;
 * `invalid_currency` naming `parameter`, and the successor of a withdrawn currency
 */
export function requireCode(table: RateTable, parameter: string, sent: string): string {
  const code = sent.toUpperCase()
  if (table.rates.has(code)) return code
  requireKnown(table, code)
  throw invalidCurrency(parameter, sent, withdrawalHint(code))
}

/**
 * Throws where `code` lacks a rate by the provider's mistake and not by the client's.
 *
 * @throws {RatesError} `provider_unavailable`
 */
export function requireKnown({ unavailable }: RateTable, code: string): void {
  if (unavailable?.includes(code)) throw providerUnavailable(MAX_RETRY_AFTER_SECONDS)
}

/** What became of `code`, where it is a withdrawn currency's. */
export function withdrawalHint(code: string): string | undefined {
  const withdrawn = findWithdrawn(code)
  const succession = findSuccession(code, FOR_GOOD)
  if (!withdrawn || !succession) return undefined
  const { successor, ratio } = succession
  const between =
    withdrawn.successor === successor ? '' : ` for ${withdrawn.successor}, itself withdrawn`
  return `withdrawn on ${withdrawn.withdrawnAt}${between}, use ${successor}${exchanged(code, successor, ratio)}`
}

function exchanged(code: string, successor: string, ratio: number | null): string {
  if (ratio === null) return ''
  // One that was worth more than its successor reads better the other way round, where that has no long fraction.
  return ratio < 1 && Number.isInteger(1 / ratio)
    ? `, 1 ${code} = ${1 / ratio} ${successor}`
    : `, 1 ${successor} = ${ratio} ${code}`
}
