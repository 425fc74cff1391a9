import type { CurrencyCoverage } from '../api/currencies.ts'
import type { RatesOperations } from '../api/rates-api.ts'
import { providerUnavailable } from '../errors.ts'

const RETRY_AFTER_SECONDS = 5

/**
 * Returns the currencies that latest rates or reference rates cover.
 *
 * @throws {RatesError} `provider_unavailable` before the data are loaded
 */
export async function coveredCurrencies(
  rates: RatesOperations,
  data: 'latest' | 'history',
): Promise<CurrencyCoverage[]> {
  const { currencies } = await rates.currencies()
  if (currencies.every((currency) => currency[data] === null))
    throw providerUnavailable(RETRY_AFTER_SECONDS)
  return currencies.filter((currency) => currency[data])
}

/** Returns the names of `currencies` by code; the code for a currency without a name. */
export function namesByCode(currencies: readonly CurrencyCoverage[]): Record<string, string> {
  return Object.fromEntries(currencies.map(({ code, name }) => [code, name ?? code]))
}
