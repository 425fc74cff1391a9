export { currencies, findCurrency } from './rates/iso-4217.ts'
export type { Currency } from './rates/iso-4217.ts'
export { findWithdrawnCurrency as findWithdrawn, withdrawnCurrencies } from './rates/iso-4217.ts'
export type { WithdrawnCurrency } from './rates/currency-code.ts'
