import { findCurrency } from '../rates/currencies.ts'
import { findWithdrawn } from '../rates/withdrawn.ts'

/** Whether there is, or was, a currency with exactly this upper-case code: feeds with coins have hundreds of others. */
export function isKnownCode(code: string): boolean {
  return findCurrency(code) !== undefined || findWithdrawn(code) !== undefined
}
