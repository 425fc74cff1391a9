import { yieldToEventLoop } from '../async.ts'
import type { Slices } from '../async.ts'
import { RatesError } from '../errors.ts'
import { DAY_MS, dayNumber, earlierDay, toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { MAX_NUMBER_LENGTH, writeNumber } from '../rates/number-bytes.ts'
import type { CurrencyHistory, CurrencyList } from './currencies.ts'
import type { RateHistory } from './history.ts'
import type { LatestRates } from './latest.ts'

/** Days of rates against one base: a column of numbers per currency, a row per day. */
export interface DayTable {
  /** The days with rates, ascending. */
  days: readonly Day[]
  /** Index of each day in the columns. */
  rows: readonly number[]
  /** Rates by code, in the order of the codes; NaN for a day without a rate. Every code has a rate on some day. */
  columns: ReadonlyMap<string, Float64Array>
}

/** The operations that a table of days needs. */
export interface DayRates {
  latest(params: { base: string; date: Day }): Promise<LatestRates>
  history(params: HistoryParams): Promise<RateHistory>
  currencies(): Promise<CurrencyList>
}

interface HistoryParams {
  from: string
  to: string
  start: Day
  end: Day
  interval?: 'year' | undefined
}

export interface DaysParams {
  base: string
  /** Codes other than the base (default: all that are quoted, sorted). */
  codes?: readonly string[] | undefined
  start: Day
  end: Day
  /** Throws for a code that is never quoted (default: omits it). */
  isStrict?: boolean | undefined
}

/** Runs expensive work, a few pieces at a time. */
type Run = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Returns the result of `use`, called with the table in a piece of expensive work. The data are loaded before, because work
 * that waits for an upstream would delay other work.
 *
 * @throws {RatesError} `no_data` without any rate, and those of the operations
 */
export async function withDays<Result>(
  rates: DayRates,
  params: DaysParams,
  run: Run,
  use: (table: DayTable) => Promise<Result>,
): Promise<Result> {
  const { base, start, end, isStrict } = params
  if (start > end) throw noRates()
  const codes: string[] = []
  let [first, last] = [end, start]
  for (const to of params.codes ?? (await quotedCodes(rates, params))) {
    // One point a year, which is several times cheaper than all.
    const found = await historyOf(rates, { from: base, to, start, end, interval: 'year' }, isStrict)
    const [opening, closing] = [found?.points.at(0), found?.points.at(-1)]
    if (opening && closing) {
      codes.push(to)
      // A point has the last day of its year.
      first = earlierDay(first, `${opening.d.slice(0, 4)}-01-01`)
      if (closing.d > last) last = closing.d
    }
    await yieldToEventLoop()
  }
  if (codes.length === 0) throw noRates()
  return run(async () => use(await readDays(rates, { base, codes, start, end }, { first, last })))
}

function noRates(): RatesError {
  return new RatesError('no_data', 'No reference rates in this range')
}

/** Returns undefined without a rate. */
async function historyOf(
  rates: DayRates,
  params: HistoryParams,
  isStrict?: boolean,
): Promise<RateHistory | undefined> {
  try {
    return await rates.history(params)
  } catch (error) {
    if (!isNoData(error) && (isStrict || !isUnknownTarget(error))) throw error
    return undefined
  }
}

function isNoData(error: unknown): error is RatesError {
  return error instanceof RatesError && error.code === 'no_data'
}

function isUnknownTarget(error: unknown): boolean {
  return error instanceof RatesError && error.parameter === 'to' && error.code.endsWith('_currency')
}

/**
 * Returns all codes with rates on the first day, the last day or a 1 January between, because every currency was quoted for at
 * least a year, and those that their sources list, because not every source quotes all its currencies every day.
 *
 * @throws {RatesError} the error of `rates.latest()` if no day has rates
 */
async function quotedCodes(rates: DayRates, { base, start, end }: DaysParams): Promise<string[]> {
  const codes = new Set<string>()
  const urls = new Set<string>()
  let failure: unknown
  for (const date of daysToRead(start, end)) {
    try {
      const table = await rates.latest({ base, date })
      urls.add(table.source.url)
      for (const code of Object.keys(table.rates)) codes.add(code)
    } catch (error) {
      if (!isNoData(error)) throw error
      failure = error
    }
  }
  if (codes.size === 0) throw failure
  const { currencies } = await rates.currencies()
  const isQuoted = ({ from, to, source }: CurrencyHistory): boolean =>
    urls.has(source.url) && (from ?? '') <= end && (to ?? end) >= start
  for (const { code, history, histories } of currencies) {
    if (histories ? histories.some(isQuoted) : history) codes.add(code)
  }
  codes.delete(base)
  return [...codes].sort()
}

function daysToRead(start: Day, end: Day): Day[] {
  // The first reference rates are of 1999.
  const first = Math.max(1999, Number(start.slice(0, 4)))
  const years = Math.max(0, Number(end.slice(0, 4)) - first)
  return [
    start,
    ...Array.from({ length: years }, (_, year) => `${first + year + 1}-01-01`),
    end,
  ].filter((day) => day <= end)
}

async function readDays(
  rates: DayRates,
  { base, codes, start, end }: DaysParams & { codes: readonly string[] },
  { first, last }: { first: Day; last: Day },
): Promise<DayTable> {
  const offset = dayNumber(first)
  const size = dayNumber(last) - offset + 1
  const isPublished = new Uint8Array(size)
  const columns = new Map<string, Float64Array>()
  for (const to of codes) {
    const history = await historyOf(rates, { from: base, to, start, end })
    const column = new Float64Array(size).fill(NaN)
    for (const { d, r } of history?.points ?? []) {
      const row = dayNumber(d) - offset
      column[row] = r
      isPublished[row] = 1
    }
    columns.set(to, column)
    await yieldToEventLoop()
  }
  const rows = Array.from(isPublished.keys()).filter((row) => isPublished[row])
  return { days: rows.map((row) => toDay((offset + row) * DAY_MS)), rows, columns }
}

const encoder = new TextEncoder()

const DAYS_PER_SLICE = 128

/**
 * Writes `{ [day]: { [key]: number } }` between two texts, as JSON in UTF-8. A key is `prefix` and the code; `toValue` returns
 * the number for a rate.
 */
export function* writeDays(
  { days, rows, columns }: DayTable,
  {
    before,
    after,
    prefix = '',
    toValue,
  }: {
    before: string
    after: string
    prefix?: string | undefined
    toValue: (rate: number) => number
  },
): Slices<ReturnType<typeof Uint8Array.of>> {
  const [head, tail] = [encoder.encode(`${before}{`), encoder.encode(`}${after}`)]
  const cells = Array.from(columns, ([code, column]) => {
    return { name: encoder.encode(`"${prefix}${code}":`), column }
  })
  const dayBytes = cells.reduce((sum, { name }) => sum + name.length + MAX_NUMBER_LENGTH + 1, 16)
  const bytes = new Uint8Array(head.length + days.length * dayBytes + tail.length)
  const view = new DataView(bytes.buffer)
  let at = 0

  function write(text: Uint8Array): void {
    for (let index = 0; index < text.length; index += 1) bytes[at + index] = text[index] ?? 0
    at += text.length
  }

  write(head)
  for (const [index, day] of days.entries()) {
    write(encoder.encode(`${index === 0 ? '' : ','}"${day}":{`))
    const row = rows[index] ?? NaN
    let isFirst = true
    for (const { name, column } of cells) {
      const rate = column[row] ?? NaN
      if (Number.isNaN(rate)) continue
      if (!isFirst) bytes[at++] = 0x2c
      isFirst = false
      write(name)
      at = writeNumber(view, at, toValue(rate))
    }
    bytes[at++] = 0x7d
    if (index % DAYS_PER_SLICE === DAYS_PER_SLICE - 1) yield
  }
  write(tail)
  // What the caller makes of the text has another turn.
  yield
  return bytes.subarray(0, at)
}
