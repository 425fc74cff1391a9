export { currencies, findCurrency } from './rates/currencies.ts'
export type { Currency } from './rates/currencies.ts'
export {
  findWithdrawnCurrency as findWithdrawn,
  withdrawnCurrencies,
} from './rates/withdrawn-currencies.ts'
export type { WithdrawnCurrency } from './rates/withdrawn.ts'
