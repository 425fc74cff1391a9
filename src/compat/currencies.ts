import { providerUnavailable } from '../errors.ts'
import type { RatesOperations } from '../operations.ts'
import type { CurrencyCoverage } from '../records/currencies.ts'

/** When to ask again for a list of currencies that is not known yet, in seconds. */
const RETRY_AFTER_SECONDS = 5

/**
 * Returns the currencies that latest rates or reference rates cover.
 *
 * @throws {RatesError} `provider_unavailable` while that is not known
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

/** Returns the names of `currencies` by their codes; a currency without a name has its code. */
export function namesByCode(currencies: readonly CurrencyCoverage[]): Record<string, string> {
  return Object.fromEntries(currencies.map(({ code, name }) => [code, name ?? code]))
}
