import { findWithdrawal } from '../rates/currency-code.ts'
import { findCurrency } from '../rates/iso-4217.ts'

/** Whether `code` is the upper-case code of a current or withdrawn currency, unlike hundreds of cryptocurrencies in some feeds. */
export function isKnownCode(code: string): boolean {
  return findCurrency(code) !== undefined || findWithdrawal(code) !== undefined
}
