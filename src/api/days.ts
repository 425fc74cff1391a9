import type { UppercaseCode } from '../rates/currency-code.ts'
import { ECB_ID, addDays, periodOf, toDay } from '../rates/dates.ts'
import type { Day, DaySpan } from '../rates/dates.ts'
import { toPlainText } from '../rates/decimal.ts'
import { rowsOf } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import type { Derivation, Rate } from '../rates/rate-table.ts'
import type { HistorySnapshot } from '../sources/history.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import type { DaysParams } from './parameter-types.ts'
import { sourceOf, toSource, unsupportedCurrency } from './resolve-code.ts'

/** The rates of one source on one day. */
export interface RatesDay {
  /** Published day, `YYYY-MM-DD`. */
  date: Day
  /** Id of the source, as in `/v1/sources`. */
  source: string
  /** Currency that the source quotes others against. */
  base: UppercaseCode
  /** Units of each currency per unit of `base`, as published; sorted by code, without the base. */
  rates: Record<UppercaseCode, Rate>
  /** Units of `base` per unit of each currency that is published so; absent if none is. */
  prices?: Record<UppercaseCode, Rate>
  /** Number of the bank's table, such as `041/A/NBP/2026`; absent if it has none. */
  tableNumber?: string
  /** Where rates come from that are not in the publication of the source; absent if all are. */
  derived?: Record<UppercaseCode, Derivation>
}

/** The days of all sources that a request chooses, a month at a time: more of them are never in memory at once. */
export interface DaysReader {
  /** From the first to the last; empty where the range has none. */
  readonly months: readonly DaySpan[]
  /** The sources of all days, in order of preference. */
  readonly sources: readonly Attribution[]
  /**
   * Repeats loads that fail for up to a minute, if `isPatient`.
   *
   * @throws {RatesError} `provider_unavailable` unless all rates of the month are at hand
   */
  read(month: DaySpan, isPatient: boolean): Promise<RatesDay[]>
}

/**
 * @throws {RatesError} `invalid_parameter` for an unknown source, `unsupported_currency` for a code that no source quotes,
 *   `provider_unavailable`
 */
export async function openDays(
  sources: RateSources,
  { start, end, symbols = [], source, signal }: DaysParams,
  now: () => number,
): Promise<DaysReader> {
  const today = toDay(now())
  const ranges = await sources.ranges(source)
  const tomorrow = addDays(today, 1)
  // Beyond the newest days, which have the codes.
  const ahead = { start: tomorrow, end: tomorrow, codes: [] }
  const newest = await Promise.all(ranges.map((range) => range.read(ahead, signal)))
  for (const code of symbols) {
    if (!ranges.every(({ lacks }) => lacks([code]))) continue
    const covered = newest.flatMap(({ history: { base, columns } }) => [base, ...columns.keys()])
    throw unsupportedCurrency('symbols', code, 'days have', [...new Set(covered)].toSorted())
  }
  const codes = [...new Set(symbols.map((code) => code.toUpperCase()))]
  const members = ranges.map((range) => {
    return { range, codes: codes.filter((code) => !range.lacks([code])) }
  })
  const [first = tomorrow] = ranges.map(({ since }) => since).toSorted()
  // Days after today are never included, even if they are published.
  const last = end === undefined || end > today ? today : end
  return {
    months: monthsOf({ start: start < first ? first : start, end: last }),
    sources: newest.map((snapshot) => toSource(sourceOf(snapshot))),
    async read(month, isPatient) {
      const found = await Promise.all(
        members
          .filter((each) => each.range.since <= month.end)
          .filter((each) => codes.length === 0 || each.codes.length > 0)
          .map((each) => each.range.read({ ...month, codes: each.codes, isPatient }, signal)),
      )
      return daysIn(found, month, codes)
    },
  }
}

function monthsOf({ start, end }: DaySpan): DaySpan[] {
  const months: DaySpan[] = []
  for (let day = start; day <= end;) {
    const { last } = periodOf(day)
    months.push({ start: day, end: last < end ? last : end })
    day = addDays(last, 1)
  }
  return months
}

/** A code has the rate of the first source that quotes it, or quotes others against it, on a day. */
function daysIn(
  found: readonly HistorySnapshot[],
  { start, end }: DaySpan,
  codes: readonly string[],
): RatesDay[] {
  const rows = found.flatMap(({ id = ECB_ID, history }) => {
    const [first, last] = rowsOf(history, start, end)
    const columns = [...history.columns].toSorted(([one], [other]) => compare(one, other))
    return history.dates.slice(first, last).map((date, index) => {
      return { date, id, history, columns, row: first + index }
    })
  })
  const days: RatesDay[] = []
  const taken = new Set<string>()
  const isWanted = (code: string): boolean =>
    !taken.has(code) && (codes.length === 0 || codes.includes(code))
  let last = ''
  // Of one day, in order of preference.
  for (const row of rows.toSorted((one, other) => compare(one.date, other.date))) {
    if (row.date !== last) taken.clear()
    last = row.date
    const day = dayOf(row, isWanted)
    const quoted = [...Object.keys(day.rates), ...Object.keys(day.prices ?? {})]
    if (quoted.length > 0) days.push(day)
    for (const code of [day.base, ...quoted]) taken.add(code)
  }
  return days
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}

interface Row {
  date: Day
  id: string
  history: MarketHistory
  /** In the order of the codes. */
  columns: readonly (readonly [code: string, column: Float64Array])[]
  row: number
}

function dayOf(
  { date, id, history, columns, row }: Row,
  isWanted: (code: string) => boolean,
): RatesDay {
  const { base, priced, derived, tableNumbers } = history
  const rates: Record<string, number> = {}
  const prices: Record<string, number> = {}
  const origins: Record<string, Derivation> = {}
  const derivations = derived?.get(date)
  for (const [code, column] of columns) {
    const quote = column[row] ?? NaN
    if (Number.isNaN(quote) || !isWanted(code)) continue
    const quotes = priced?.has(code) ? prices : rates
    quotes[code] = quote
    const origin = derivations?.[code]
    if (origin) origins[code] = origin
  }
  const tableNumber = tableNumbers?.get(date)
  return {
    date,
    source: id,
    base,
    rates,
    ...(priced && hasKeys(prices) && { prices }),
    ...(tableNumber !== undefined && { tableNumber }),
    ...(derivations && hasKeys(origins) && { derived: origins }),
  }
}

function hasKeys(record: object): boolean {
  return Object.keys(record).length > 0
}

interface DayForm {
  /** The first line. */
  head: string
  write(day: RatesDay): string
}

export const DAY_FORMS: Readonly<Record<'ndjson' | 'csv', DayForm>> = {
  ndjson: { head: '', write: jsonLine },
  csv: { head: 'date,base,quote,rate,source\r\n', write: csvLines },
}

function jsonLine(day: RatesDay): string {
  return `${JSON.stringify(day)}\n`
}

/** A price is the rate of its currency in the base of the source. */
function csvLines({ date, source, base, rates, prices = {} }: RatesDay): string {
  let lines = ''
  const add = (of: string, quote: string, rate: number): void => {
    lines += `${date},${of},${quote},${toPlainText(rate)},${source}\r\n`
  }
  for (const [code, rate] of Object.entries(rates)) add(base, code, rate)
  for (const [code, price] of Object.entries(prices)) add(code, base, price)
  return lines
}
