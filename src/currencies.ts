export { currencies, findCurrency } from './rates/currencies.ts'
export type { Currency } from './rates/currencies.ts'
export { findWithdrawn, withdrawnCurrencies } from './rates/withdrawn.ts'
export type { WithdrawnCurrency } from './rates/withdrawn.ts'
