import { findDigits } from '../money/minor-units.ts'

/** Whether `code` is the upper-case code of a current or withdrawn currency, unlike hundreds of cryptocurrencies in some feeds. */
export function isKnownCode(code: string): boolean {
  return findDigits(code) !== undefined
}
