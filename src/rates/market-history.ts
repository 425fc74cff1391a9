import { addDays } from './day.ts'
import type { Day } from './day.ts'

/** How long a currency without new rates still counts as covered, in days up to the newest published one. */
const COVERAGE_DAYS = 14

/** The reference rates of a whole market: one column of numbers a currency, one row a published day. */
export interface MarketHistory {
  /** Code against which all columns are quoted; it has no column of its own. */
  readonly base: string
  /** The published days, ascending. */
  readonly dates: readonly Day[]
  /** Units of each currency for one unit of `base`, in step with `dates`; NaN where a day lacks it. */
  readonly columns: ReadonlyMap<string, Float64Array>
}

/** The rates of one published day, against the market's base. */
export interface MarketDay {
  date: Day
  rates: ReadonlyMap<string, number>
}

/** Builds the columns of a market day by day, which may come in any order. */
export interface MarketBuilder {
  /** Whether there is a row for `date`. */
  has(date: Day): boolean
  /** Adds the day `date` with `rates` in step with `codes`, in place of the one that there may be already. */
  addDay(date: Day, codes: readonly string[], rates: readonly number[]): void
  /** The market of all days added. */
  build(): MarketHistory
}

/** A builder of a market quoted against `base`, of `mostDays` days at most. */
export function buildMarket(base: string, mostDays: number): MarketBuilder {
  const rows = new Map<Day, number>()
  const columns: Column[] = []
  const indexes = new Map<string, number>()

  function add(code: string): Column {
    const column = { code, rates: new Float64Array(mostDays).fill(NaN) }
    indexes.set(code, columns.push(column) - 1)
    return column
  }

  return {
    has: (date) => rows.has(date),
    addDay(date, codes, rates) {
      const row = rows.get(date) ?? rows.size
      if (rows.has(date)) for (const column of columns) column.rates[row] = NaN
      rows.set(date, row)
      // A day mostly has its currencies in the order of the day before, and to look each up takes longer than all else.
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
      const isInOrder = dates.length === mostDays && order.every((from, row) => from === row)
      const ordered = columns.map(({ code, rates }) => {
        return [code, isInOrder ? rates : reordered(rates, order)] as const
      })
      return { base, dates, columns: new Map(ordered) }
    },
  }
}

/** The rates of one currency, in the order in which the days were added. */
interface Column {
  code: string
  rates: Float64Array
}

/** What `column` has at the places of `order`. */
function reordered(column: Float64Array, order: readonly number[]): Float64Array {
  const values = new Float64Array(order.length)
  for (let index = 0; index < order.length; index += 1) {
    values[index] = column[order[index] ?? NaN] ?? NaN
  }
  return values
}

/**
 * `held` with the rates of `added` on top, without days before `start`. What `added` lacks stays as it is in `held`. By
 * columns, as to go through all days since 1999 takes ten times longer.
 */
export function mergeHistory(held: MarketHistory, added: MarketHistory, start: Day): MarketHistory {
  const days = new Set([...held.dates, ...added.dates])
  const dates = [...days].filter((date) => date >= start).sort()
  const rowOf = new Map(dates.map((date, row) => [date, row]))
  const heldRows = held.dates.map((date) => rowOf.get(date) ?? -1)
  const addedRows = added.dates.map((date) => rowOf.get(date) ?? -1)
  const columns = new Map<string, Float64Array>()
  for (const code of new Set([...held.columns.keys(), ...added.columns.keys()])) {
    const column = new Float64Array(dates.length).fill(NaN)
    fillIn(column, heldRows, held.columns.get(code))
    fillIn(column, addedRows, added.columns.get(code))
    columns.set(code, column)
  }
  return withoutGaps({ base: held.base, dates, columns })
}

/** Puts the rates of `values` into `rows` of `column`; a row of -1 is outside, where nothing is kept. */
function fillIn(
  column: Float64Array,
  rows: readonly number[],
  values: Float64Array | undefined,
): void {
  if (!values) return
  // In a plain loop: over a quarter of a million, an iterator is felt.
  for (let index = 0; index < rows.length; index += 1) {
    const rate = values[index] ?? NaN
    if (!Number.isNaN(rate)) column[rows[index] ?? -1] = rate
  }
}

/** `history` without days and currencies that have no rate. */
export function withoutGaps({ base, dates, columns }: MarketHistory): MarketHistory {
  const kept = [...columns].filter(([, column]) => column.some((rate) => !Number.isNaN(rate)))
  const isDay = dates.map((_date, row) => kept.some(([, column]) => isRateIn(column, row)))
  if (!isDay.includes(false)) return { base, dates, columns: new Map(kept) }
  const onDays = (_each: unknown, row: number): boolean => isDay[row] === true
  return {
    base,
    dates: dates.filter(onDays),
    columns: new Map(kept.map(([code, column]) => [code, column.filter(onDays)])),
  }
}

function isRateIn(column: Float64Array | undefined, row: number): boolean {
  return !Number.isNaN(column?.[row] ?? NaN)
}

/**
 * Compares the days of `history` from `since` on with those of `held`, which are all among them: `revised` has the rates that
 * changed, as `2026-11-19 USD`, and `isSame` is false for new ones as well.
 */
export function findRevisions(
  held: MarketHistory,
  history: MarketHistory,
  since: Day,
): { revised: string[]; isSame: boolean } {
  const { dates } = history
  const [first] = rowsOf(history, since, since)
  const rowOf = new Map(held.dates.map((date, row) => [date, row]))
  const revised: string[] = []
  let isSame = true
  for (const [code, column] of history.columns) {
    const before = held.columns.get(code)
    for (let row = first; row < dates.length; row += 1) {
      const heldRow = rowOf.get(dates[row] ?? '') ?? -1
      if (before?.[heldRow] === column[row] || !isRateIn(column, row)) continue
      isSame = false
      if (isRateIn(before, heldRow)) revised.push(`${dates[row] ?? ''} ${code}`)
    }
  }
  return { revised: revised.sort(), isSame }
}

/** The rows of `history` from `first` up to, not including, `end`, ascending (default all). */
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

/** The rates of the day `date`, by the sorted codes that it quotes, with the base as 1. */
export function ratesOf(
  { base, dates, columns }: MarketHistory,
  date: Day,
): ReadonlyMap<string, number> {
  const row = dates.indexOf(date)
  const rates = new Map([[base, 1]])
  for (const code of [...columns.keys()].sort()) {
    const rate = columns.get(code)?.[row] ?? NaN
    if (!Number.isNaN(rate)) rates.set(code, rate)
  }
  return rates
}

/** The newest published day that is not after `today`, or `undefined` where there is none. */
export function newestDay(history: MarketHistory, today: Day): Day | undefined {
  return history.dates.findLast((date) => date <= today)
}

/** Whether the market carries `code` now: it is quoted in the 14 days up to `newest`, or the base. */
export function isCovered(history: MarketHistory, code: string, newest: Day): boolean {
  if (code === history.base) return true
  const column = history.columns.get(code)
  if (!column) return false
  const [first, end] = rowsOf(history, addDays(newest, 1 - COVERAGE_DAYS), newest)
  return column.subarray(first, end).some((rate) => !Number.isNaN(rate))
}

/** The codes that the market carries now, sorted. */
export function coveredCodes(history: MarketHistory, newest: Day): string[] {
  const codes = [history.base, ...history.columns.keys()]
  return codes.filter((code) => isCovered(history, code, newest)).sort()
}

/** The rows from `start` to `end`, both inclusive, as the index of the first and the index behind the last. */
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
