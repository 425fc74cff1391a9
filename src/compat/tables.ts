import type { CurrencyCoverage } from '../api/currencies.ts'
import type { LatestRates } from '../api/latest.ts'
import type { RatesOperations } from '../api/rates-api.ts'
import { RatesError, invalidAmount, providerUnavailable } from '../errors.ts'
import { exactProduct, mean, quotient } from '../rates/arithmetic.ts'
import { addDays, dayNumber } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import type { DailyRates } from './days.ts'

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

/** Returns the rates of a table for `codes` (default all); like the services, omits unknown codes. */
export function ratesFor(
  { rates }: Pick<LatestRates, 'rates'>,
  codes: readonly string[] | undefined,
): [code: string, rate: number][] {
  return Object.entries(rates).filter(([code]) => codes?.includes(code) ?? true)
}

/** Compares rates by code. */
export function byCode([one]: [string, number], [other]: [string, number]): number {
  return one < other ? -1 : 1
}

/** Returns the exact product. Throws `invalid_amount` if it is not finite. */
export function multiply(amount: number, rate: number): number {
  const product = amount === 1 ? rate : exactProduct(amount, rate)
  if (Number.isFinite(product)) return product
  throw invalidAmount(String(amount), 'the result is too large')
}

/** Converts ms since the Unix epoch to whole seconds. */
export function toSeconds(instant: number): number {
  return Math.floor(instant / 1_000)
}

export function earlier(day: Day, other: Day): Day {
  return day < other ? day : other
}

/** Returns the error of the services for a code or path without rates. */
export function notFound(): RatesError {
  return new RatesError('no_data', 'not found')
}

/** The unit over which rates are averaged. */
export type Group = 'week' | 'month'

/** The currency against which rates are averaged. */
export const PIVOT = 'EUR'

const MAX_GROUP_DAYS = 31

/** Extends a range so that it contains the whole weeks or months of its first and last day, up to `today`. */
export function wholeGroups(
  { start, end }: { start: Day; end: Day },
  today: Day,
): { start: Day; end: Day } {
  const last = addDays(end, MAX_GROUP_DAYS)
  return { start: addDays(start, -MAX_GROUP_DAYS), end: earlier(last, today) }
}

/** Yields the mean rates of each week or month against the base of `daily`, which is included as 1. */
export function* meansByGroup(
  daily: DailyRates,
  group: Group,
): Generator<{ date: Day; means: Map<string, number> }> {
  const { days } = daily
  for (let start = 0, end = 0; start < days.length; start = end) {
    const date = dateOfGroup(days[start] ?? '', group)
    while (end < days.length && dateOfGroup(days[end] ?? '', group) === date) end += 1
    yield { date, means: meansOf(daily, start, end) }
  }
}

function meansOf({ base, columns }: DailyRates, start: number, end: number): Map<string, number> {
  const means = new Map([[base, 1]])
  for (const [code, column] of columns) {
    const values = column.subarray(start, end).filter((value) => !Number.isNaN(value))
    if (values.length > 0) means.set(code, mean(values))
  }
  return means
}

/** Returns `means` against `base`, sorted by code; empty without a mean of `base`. */
export function rebase(
  means: ReadonlyMap<string, number>,
  base: string,
): [code: string, rate: number][] {
  const ofBase = means.get(base)
  if (ofBase === undefined) return []
  const rates = Array.from(means, ([code, value]): [string, number] => {
    if (code === base) return [code, 1]
    return [code, base === PIVOT ? value : quotient(value, ofBase)]
  })
  return rates.sort(byCode)
}

/**
 * Returns the date of the week or month of `day` as Frankfurter does: weeks begin on Monday and are numbered from 1 January;
 * the date of a week is 1 January plus a multiple of seven days.
 */
export function dateOfGroup(day: Day, group: Group): Day {
  if (group === 'month') return `${day.slice(0, 7)}-01`
  const newYear = `${day.slice(0, 4)}-01-01`
  const dayOfYear = dayNumber(day) - dayNumber(newYear)
  // 1970-01-01 was a Thursday.
  const fromMonday = (dayNumber(day) + 3) % 7
  const week = Math.floor((dayOfYear + 7 - fromMonday) / 7)
  return addDays(newYear, 7 * week)
}
