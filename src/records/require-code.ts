import { invalidCurrency } from '../errors.ts'
import type { RateTable } from '../rates/rate-table.ts'
import { findWithdrawn } from '../rates/withdrawn.ts'

/**
 * The code that `sent`, three letters in either case, means in `table`.
 *
 * @throws {RatesError} `invalid_currency` naming `parameter`, and the successor of a withdrawn currency
 */
export function requireCode(table: RateTable, parameter: string, sent: string): string {
  const code = sent.toUpperCase()
  if (table.rates.has(code)) return code
  throw invalidCurrency(parameter, sent, withdrawalHint(code))
}

/** What became of `code`, where it is a withdrawn currency's. */
export function withdrawalHint(code: string): string | undefined {
  const withdrawn = findWithdrawn(code)
  if (!withdrawn) return undefined
  const { withdrawnAt, successor, ratio } = withdrawn
  const exchanged = ratio === null ? '' : `, 1 ${successor} = ${ratio} ${code}`
  return `withdrawn on ${withdrawnAt}, use ${successor}${exchanged}`
}
