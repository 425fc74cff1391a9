import { findWithdrawal } from './currency-code.ts'
import { addDays } from './dates.ts'
import type { DateRule, Day, DayRange, DaySpan } from './dates.ts'
import { DERIVATIONS, derivationOf, findFixedRate, toFixedRate } from './rate-table.ts'
import type { Derivation, Derivations } from './rate-table.ts'

const COVERAGE_DAYS = 14

/** The reference rates of a whole market: a column of numbers per currency, a row per published day. */
export interface MarketHistory {
  /** Code against which all columns are quoted; it has no column. */
  readonly base: string
  /** Published days, ascending. */
  readonly dates: readonly Day[]
  /** Units of each currency for one unit of `base`, by the indexes of `dates`; NaN for a missing rate. */
  readonly columns: ReadonlyMap<string, Float64Array>
  /** Codes whose columns have units of `base` for one unit of the currency; absent if empty. */
  readonly priced?: ReadonlySet<string> | undefined
  /** By day, the codes whose rates are not in the publication, and possibly others without a rate; absent if empty. */
  readonly derived?: ReadonlyMap<Day, Derivations> | undefined
  /** Number of the table of a day; absent if empty. */
  readonly tableNumbers?: ReadonlyMap<Day, string> | undefined
}

export interface MarketDay {
  date: Day
  rates: ReadonlyMap<string, number>
}

export interface MarketBuilder {
  has(date: Day): boolean
  /** Adds or replaces the day `date`; `rates` and `codes` have the same indexes. */
  addDay(date: Day, codes: readonly string[], rates: readonly number[]): void
  build(): MarketHistory
}

export function buildMarket(base: string, maxDays: number): MarketBuilder {
  const rows = new Map<Day, number>()
  const columns: Column[] = []
  const indexes = new Map<string, number>()

  function add(code: string): Column {
    const column = { code, rates: new Float64Array(maxDays).fill(NaN) }
    indexes.set(code, columns.push(column) - 1)
    return column
  }

  return {
    has: (date) => rows.has(date),
    addDay(date, codes, rates) {
      const row = rows.get(date) ?? rows.size
      if (rows.has(date)) for (const column of columns) column.rates[row] = NaN
      rows.set(date, row)
      // Most days have their currencies in the order of the day before; looking up each one would take most of the time.
      let next = 0
      for (let index = 0; index < codes.length; index += 1) {
        const code = codes[index] ?? ''
        let column = columns[next]
        if (column?.code !== code) {
          next = indexes.get(code) ?? columns.length
          column = columns[next] ?? add(code)
        }
        column.rates[row] = rates[index] ?? NaN
        next += 1
      }
    },
    build() {
      const dates = [...rows.keys()].toSorted()
      const order = dates.map((date) => rows.get(date) ?? NaN)
      const isInOrder = dates.length === maxDays && order.every((from, row) => from === row)
      const ordered = columns.map(({ code, rates }) => {
        return [code, isInOrder ? rates : reordered(rates, order)] as const
      })
      return { base, dates, columns: new Map(ordered) }
    },
  }
}

interface Column {
  code: string
  rates: Float64Array
}

function reordered(column: Float64Array, order: readonly number[]): Float64Array {
  const values = new Float64Array(order.length)
  for (let index = 0; index < order.length; index += 1) {
    values[index] = column[order[index] ?? NaN] ?? NaN
  }
  return values
}

/**
 * Sets the legally fixed rates of withdrawn currencies, as `applyLegalRatios` does, on the days on which `others` quotes their
 * successor.
 */
export function withLegalRatios(
  history: MarketHistory,
  others: MarketHistory = history,
): MarketHistory {
  const { dates, derived, priced } = history
  const rowOf = new Map(others.dates.map((date, row) => [date, row]))
  const columns = Array.from(history.columns, ([code, column]) => {
    const end = findWithdrawal(code)?.withdrawnAt ?? '~'
    if (end > (dates.at(-1) ?? '')) return [code, column] as const
    const lawful = column.map((quote, row) => {
      const { [row]: date = '' } = dates
      const rateOf = (each: string): number => unitsOf(others, each, rowOf.get(date) ?? -1)
      const isPublished = quote > 0 && !derived?.get(date)?.[code]
      const fixed = isPublished && date >= end ? findFixedRate(code, date, rateOf) : undefined
      return fixed ? toFixedRate(priced?.has(code) ? 1 / fixed.rate : fixed.rate) : quote
    })
    return [code, lawful] as const
  })
  return { ...history, columns: new Map(columns) }
}

function unitsOf({ base, columns, priced }: MarketHistory, code: string, row: number): number {
  const quote = code === base ? 1 : (columns.get(code)?.[row] ?? NaN)
  return priced?.has(code) ? 1 / quote : quote
}

/** Later histories overwrite earlier ones. By columns: by days, all days since 1999 take ten times longer. */
export function mergeHistories(
  histories: readonly MarketHistory[],
  start: Day = '',
): MarketHistory {
  const days = new Set(histories.flatMap(({ dates }) => dates))
  const dates = [...days].filter((date) => date >= start).sort()
  const rowOf = new Map(dates.map((date, row) => [date, row]))
  const columns = new Map<string, Float64Array>()
  for (const history of histories) {
    const rows = history.dates.map((date) => rowOf.get(date) ?? -1)
    for (const [code, rates] of history.columns) {
      const column = columns.get(code) ?? new Float64Array(dates.length).fill(NaN)
      fillIn(column, rows, rates)
      columns.set(code, column)
    }
  }
  const [{ base } = { base: '' }] = histories
  return withoutGaps({ base, dates, columns, ...aboutAll(histories), ...derivedIn(histories) })
}

/** The derivation of a rate is that of the last history with the rate. */
function derivedIn(histories: readonly MarketHistory[]): Pick<MarketHistory, 'derived'> {
  if (!histories.some((history) => history.derived)) return {}
  const all = new Map<Day, Derivations>()
  for (const { dates, columns, derived } of histories) {
    for (const [row, date] of dates.entries()) {
      const [before, now] = [all.get(date), derived?.get(date)]
      if (before && before !== now) {
        const isHere = ([code]: [string, unknown]): boolean => isRateIn(columns.get(code), row)
        const kept = Object.entries(before).filter((each) => !isHere(each))
        const added = Object.entries(now ?? {}).filter(isHere)
        all.set(date, Object.fromEntries([...kept, ...added]))
      } else if (now) all.set(date, now)
    }
  }
  return { derived: all }
}

/** Returns what is known about the codes and days of several histories; that of later ones counts. */
function aboutAll(
  histories: readonly MarketHistory[],
): Pick<MarketHistory, 'priced' | 'tableNumbers'> {
  const priced = histories.map((history) => history.priced).reduce(union, undefined)
  const tableNumbers = new Map(histories.flatMap((each) => [...(each.tableNumbers ?? [])]))
  return {
    ...(priced && { priced }),
    ...(tableNumbers.size > 0 && { tableNumbers }),
  }
}

function union(
  one: ReadonlySet<string> | undefined,
  other: ReadonlySet<string> | undefined,
): ReadonlySet<string> | undefined {
  return one && other ? new Set([...one, ...other]) : (one ?? other)
}

/** Returns the codes that both histories have, quoted in different directions. */
export function turnedCodes(one: MarketHistory, other: MarketHistory): string[] {
  if (!one.priced && !other.priced) return []
  const isPriced = ({ priced }: MarketHistory, code: string): boolean => priced?.has(code) === true
  const isTurned = (code: string): boolean =>
    other.columns.has(code) && isPriced(one, code) !== isPriced(other, code)
  return [...one.columns.keys()].filter(isTurned)
}

/** A typed array ignores a write to the row -1. */
function fillIn(column: Float64Array, rows: readonly number[], values: Float64Array): void {
  // A plain loop: an iterator over a quarter of a million rates is measurably slower.
  for (let index = 0; index < rows.length; index += 1) {
    const rate = values[index] ?? NaN
    if (!Number.isNaN(rate)) column[rows[index] ?? -1] = rate
  }
}

/** Returns a function that returns whether a row quotes all `codes`, in upper case. */
export function quotesAll(
  { base, columns }: MarketHistory,
  codes: readonly string[],
): (row: number) => boolean {
  const needed = codes.filter((code) => code !== base).map((code) => columns.get(code))
  return (row) => needed.every((column) => isRateIn(column, row))
}

/** Returns the days that quote all `codes`, in upper case. */
export function commonDays(history: MarketHistory, codes: readonly string[]): MarketHistory {
  const isCommon = quotesAll(history, codes)
  const onDays = (_each: unknown, row: number): boolean => isCommon(row)
  const columns = [...history.columns].filter(([code]) => codes.includes(code))
  return {
    ...history,
    dates: history.dates.filter(onDays),
    columns: new Map(columns.map(([code, column]) => [code, column.filter(onDays)])),
  }
}

export function withoutGaps({ dates, columns, ...about }: MarketHistory): MarketHistory {
  const kept = [...columns].filter(([, column]) => column.some((rate) => !Number.isNaN(rate)))
  const isDay = dates.map((_date, row) => kept.some(([, column]) => isRateIn(column, row)))
  if (!isDay.includes(false)) return { ...about, dates, columns: new Map(kept) }
  const onDays = (_each: unknown, row: number): boolean => isDay[row] === true
  return {
    ...about,
    dates: dates.filter(onDays),
    columns: new Map(kept.map(([code, column]) => [code, column.filter(onDays)])),
  }
}

function isRateIn(column: Float64Array | undefined, row: number): boolean {
  return !Number.isNaN(column?.[row] ?? NaN)
}

/** `revised` lists changed rates, such as `2026-11-19 USD`; `isSame` is false also for new rates. */
export function findRevisions(
  previous: MarketHistory,
  history: MarketHistory,
  since: Day,
): { revised: string[]; isSame: boolean } {
  const { dates } = history
  const [first] = rowsOf(history, since, since)
  const rowOf = new Map(previous.dates.map((date, row) => [date, row]))
  const revised: string[] = []
  let isSame = true
  for (const [code, column] of history.columns) {
    const before = previous.columns.get(code)
    for (let row = first; row < dates.length; row += 1) {
      const previousRow = rowOf.get(dates[row] ?? '') ?? -1
      if (before?.[previousRow] === column[row] || !isRateIn(column, row)) continue
      isSame = false
      if (isRateIn(before, previousRow)) revised.push(`${dates[row] ?? ''} ${code}`)
    }
  }
  return { revised: revised.sort(), isSame }
}

/** Returns the days of `history` from the row `first` to before `end`, ascending (default all). */
export function marketDays(history: MarketHistory, first = 0, end?: number): MarketDay[] {
  return history.dates.slice(first, end).map((date, index) => {
    const rates = new Map<string, number>()
    for (const [code, column] of history.columns) {
      const rate = column[first + index]
      if (rate !== undefined && !Number.isNaN(rate)) rates.set(code, rate)
    }
    return { date, rates }
  })
}

/** Returns where rates of a pair are from that are not in the publication, on the days from `start` to `end` that quote it. */
export function derivationIn(
  history: MarketHistory,
  pair: readonly [from: string, to: string],
  { start, end }: DaySpan,
): Derivation | undefined {
  const { dates, derived } = history
  if (!derived) return undefined
  const [first, last] = rowsOf(history, start, end)
  const isQuoted = quotesAll(history, pair)
  const found = dates
    .slice(first, last)
    .filter((_date, index) => isQuoted(first + index))
    .map((date) => derivationOf({ derived: derived.get(date) }, pair))
  return DERIVATIONS.find((each) => found.includes(each))
}

type Rates = ReadonlyMap<string, number>

export function ratesOf(history: MarketHistory, date: Day): Rates {
  return new DayRates(history, history.dates.indexOf(date))
}

/** Sorted by code, after the base as 1. Reads single rates from the columns: most conversions need two of some thirty. */
export class DayRates implements Rates {
  readonly #history: MarketHistory
  readonly #row: number
  #all: Rates | undefined

  constructor(history: MarketHistory, row: number) {
    this.#history = history
    this.#row = row
  }

  get(code: string): number | undefined {
    const { base, columns } = this.#history
    if (code === base) return 1
    const rate = columns.get(code)?.[this.#row] ?? NaN
    return Number.isNaN(rate) ? undefined : rate
  }

  has(code: string): boolean {
    return this.get(code) !== undefined
  }

  #whole(): Rates {
    if (this.#all) return this.#all
    const { base, columns } = this.#history
    const codes = [base, ...[...columns.keys()].sort()]
    const rates = codes.map((code) => [code, this.get(code) ?? NaN] as const)
    return (this.#all = new Map(rates.filter(([, rate]) => !Number.isNaN(rate))))
  }

  get size(): number {
    return this.#whole().size
  }

  forEach(visit: Parameters<Rates['forEach']>[0]): void {
    for (const [code, rate] of this.#whole()) visit(rate, code, this)
  }

  entries(): ReturnType<Rates['entries']> {
    return this.#whole().entries()
  }

  keys(): ReturnType<Rates['keys']> {
    return this.#whole().keys()
  }

  values(): ReturnType<Rates['values']> {
    return this.#whole().values()
  }

  [Symbol.iterator](): ReturnType<Rates['entries']> {
    return this.entries()
  }
}

export function newestDay(history: MarketHistory, today: Day): Day | undefined {
  return history.dates[firstRow(history.dates, (date) => date > today) - 1]
}

/**
 * Returns the row of the published day that `rule` selects from a range of days: the last one that quotes all `codes` (in upper
 * case, default none), or for `next` the first; -1 without one.
 */
export function rowByRule(
  history: MarketHistory,
  { first, last }: DayRange,
  rule: DateRule,
  codes: readonly string[] = [],
): number {
  const [start, end] = rowsOf(history, first, last)
  const isQuoted = codes.length > 0 ? quotesAll(history, codes) : () => true
  const step = rule === 'next' ? 1 : -1
  let row = step === 1 ? start : end - 1
  while (row >= start && row < end && !isQuoted(row)) row += step
  return row >= start && row < end ? row : -1
}

/** Returns whether `code` is covered: the base, or quoted on one of the `days` (default 14) up to `newest`. */
export function isCovered(
  history: MarketHistory,
  code: string,
  newest: Day,
  days: number = COVERAGE_DAYS,
): boolean {
  if (code === history.base) return true
  const column = history.columns.get(code)
  if (!column) return false
  const [first, end] = rowsOf(history, addDays(newest, 1 - days), newest)
  return column.subarray(first, end).some((rate) => !Number.isNaN(rate))
}

export function coveredCodes(history: MarketHistory, newest: Day, days?: number): string[] {
  const codes = [history.base, ...history.columns.keys()]
  return codes.filter((code) => isCovered(history, code, newest, days)).sort()
}

/** Returns the first and the last day of every currency, the base included. */
export function spansOf({
  base,
  dates,
  columns,
}: MarketHistory): Map<string, { from: Day; to: Day }> {
  const spans = new Map<string, { from: Day; to: Day }>()
  const add = (code: string, first: number, last: number): void => {
    const [from, to] = [dates[first], dates[last]]
    if (from !== undefined && to !== undefined) spans.set(code, { from, to })
  }
  add(base, 0, dates.length - 1)
  for (const [code, column] of columns) {
    const isQuoted = (rate: number): boolean => !Number.isNaN(rate)
    add(code, column.findIndex(isQuoted), column.findLastIndex(isQuoted))
  }
  return spans
}

/** Returns the rows from `start` to `end` (inclusive) as the index of the first row and the index after the last. */
export function rowsOf({ dates }: MarketHistory, start: Day, end: Day): [number, number] {
  return [firstRow(dates, (date) => date >= start), firstRow(dates, (date) => date > end)]
}

function firstRow(dates: readonly Day[], reached: (date: Day) => boolean): number {
  let low = 0
  let high = dates.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (reached(dates[middle] ?? '')) high = middle
    else low = middle + 1
  }
  return low
}
