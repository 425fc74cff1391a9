import type { CurrencyCoverage } from '../api/currencies.ts'
import type { LatestRates } from '../api/latest.ts'
import { RatesError, invalidAmount, providerUnavailable } from '../errors.ts'
import { exactProduct } from '../rates/arithmetic.ts'
import type { Day } from '../rates/dates.ts'
import type { PublishedRates } from './published-rates.ts'

const RETRY_AFTER_SECONDS = 5

/** @throws {RatesError} `provider_unavailable` before the data are loaded */
export async function coveredCurrencies(
  rates: PublishedRates,
  data: 'latest' | 'history',
): Promise<CurrencyCoverage[]> {
  const { currencies } = await rates.currencies()
  if (currencies.every((currency) => currency[data] === null))
    throw providerUnavailable(RETRY_AFTER_SECONDS)
  return currencies.filter((currency) => currency[data])
}

export function namesByCode(currencies: readonly CurrencyCoverage[]): Record<string, string> {
  return Object.fromEntries(currencies.map(({ code, name }) => [code, name ?? code]))
}

/** Returns the rates of a table for `codes` (default all); like the services, omits unknown codes. */
export function ratesFor(
  { rates }: Pick<LatestRates, 'rates'>,
  codes: readonly string[] | undefined,
): [code: string, rate: number][] {
  return Object.entries(rates).filter(([code]) => codes?.includes(code) ?? true)
}

/** Returns the exact product. Throws `invalid_amount` if it is not finite. */
export function multiply(amount: number, rate: number): number {
  const product = amount === 1 ? rate : exactProduct(amount, rate)
  if (Number.isFinite(product)) return product
  throw invalidAmount(String(amount), 'the result is too large')
}

export function toSeconds(instant: number): number {
  return Math.floor(instant / 1_000)
}

export function earlier(day: Day, other: Day): Day {
  return day < other ? day : other
}

export function notFound(): RatesError {
  return new RatesError('no_data', 'not found')
}
