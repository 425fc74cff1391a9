import type { Runtime } from '../async.ts'
import { RatesError, invalidParameter, toRatesError } from '../errors.ts'
import type { RatesErrorCode } from '../errors.ts'
import { daysByRule, isDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { CacheResult, RateSources, RequestOptions } from '../sources/rate-sources.ts'
import { toConversion, withConversion } from './convert.ts'
import type { ConversionResult } from './convert.ts'
import { ROW } from './parameters.ts'
import type { ConversionParams, ConversionRow } from './parameters.ts'
import { dayKey } from './resolve-code.ts'
import type { Rates } from './resolve-code.ts'
import { check } from './check.ts'

export const MAX_ROWS = 10_000

/** Takes the place of a conversion that failed. */
export interface ConversionError {
  /** The error of its single request. */
  error: {
    /** The reason, from a closed list. */
    code: RatesErrorCode
    /** Explanation for people, safe to display. */
    message: string
  }
}

/** The results for `Rows`, in their order: for each row its conversion, or its error. */
export type ManyConversions<Rows extends readonly ConversionRow[]> = {
  -readonly [Index in keyof Rows]: RowConversion<Rows[Index]>
}

/** @internal The result for one row. */
type RowConversion<Row> =
  Row extends ConversionRow<infer To> ? ConversionResult<To> | ConversionError : never

export type AnyRowConversion = ConversionResult | ConversionError

export interface ManyOptions {
  runtime: Pick<Runtime, 'now' | 'monotonic' | 'yieldToEventLoop'>
  /** Receives unforeseen errors, which become errors of their rows. */
  onInternalError(error: unknown): void
  signal?: AbortSignal | undefined
}

/** @throws {RatesError} `invalid_parameter` */
export function requireRows(rows: unknown): readonly unknown[] {
  if (Array.isArray(rows) && rows.length <= MAX_ROWS) return rows
  throw tooManyRows()
}

export function tooManyRows(): RatesError {
  const limit = MAX_ROWS.toLocaleString('en')
  return invalidParameter('rows', `must be an array of at most ${limit} conversions`)
}

/** Work between two pauses, about: the results of a slice are often written as text, which takes as long again. */
const SLICE_MS = 3

/** Where the clock stands still during work, as on Cloudflare Workers. */
const MAX_ROWS_PER_SLICE = 1_000

const ROWS_PER_LOOK_AT_CLOCK = 32

/** @throws {RatesError} `overloaded` if the request is aborted */
export async function convertRows(
  loaded: RateSources,
  rows: readonly unknown[],
  { runtime, onInternalError, signal }: ManyOptions,
  use: (results: AnyRowConversion[]) => void,
): Promise<void> {
  // All rows have the same today.
  const startedAt = runtime.now()
  const now = (): number => startedAt
  const failed = (thrown: unknown): ConversionError => {
    const error = toRatesError(thrown)
    if (error.code === 'internal_error') onInternalError(error.cause)
    const { code, message } = error
    return { error: { code, message } }
  }
  const convertRow = createRowConverter(loaded, now, failed)
  for (let at = 0; at < rows.length;) {
    const results: AnyRowConversion[] = []
    const until = runtime.monotonic() + SLICE_MS
    const last = Math.min(at + MAX_ROWS_PER_SLICE, rows.length)
    do {
      const end = Math.min(at + ROWS_PER_LOOK_AT_CLOCK, last)
      for (; at < end; at += 1) {
        const result = convertRow(rows[at])
        results.push(result instanceof Promise ? await result : result)
      }
    } while (at < last && runtime.monotonic() < until)
    use(results)
    if (at < rows.length) await runtime.yieldToEventLoop()
    if (signal?.aborted) throw new RatesError('overloaded', 'The request was aborted')
  }
}

/** Returns the first day to load for all dated rows, by any rule; undefined if no row needs reference rates. */
function firstDayOf(rows: readonly unknown[]): Day | undefined {
  let first: Day | undefined
  for (const row of rows) {
    const { date } = toFields(row)
    if (typeof date !== 'string' || (first !== undefined && date >= first) || !isDay(date)) continue
    first = date
  }
  if (first === undefined) return undefined
  const before = daysByRule(first, 'on-or-before', first).first
  const ofMonth = daysByRule(first, 'period-end', first).first
  return before < ofMonth ? before : ofMonth
}

function needsLatest(row: unknown): boolean {
  return toFields(row)['date'] === undefined
}

export function isRounded(row: unknown): boolean {
  return toFields(row)['round'] !== undefined
}

function toFields(row: unknown): Readonly<Record<string, unknown>> {
  return Object(row)
}

type Loaded<Value> = () => CacheResult<Value>

async function settle<Value>(
  load: () => CacheResult<Value> | Promise<CacheResult<Value>>,
): Promise<Loaded<Value>> {
  try {
    const found = await load()
    return () => found
  } catch (error) {
    return () => {
      throw error
    }
  }
}

/** Returns sources that answer without a promise; the error of an unavailable data set is that of the rows that need it. */
export async function loadRates(
  sources: RateSources,
  rows: readonly unknown[],
  { runtime, signal }: Pick<ManyOptions, 'runtime' | 'signal'>,
): Promise<RateSources> {
  const request = { signal }
  const since = firstDayOf(rows)
  const ask = createAsk(runtime, request)
  const [latest, history] = await Promise.all([
    rows.some(needsLatest) ? settle(() => sources.latest(request)) : undefined,
    since === undefined
      ? undefined
      : settle(() => sources.history({ since, codes: [] }, request, (found) => found)),
  ])
  return {
    ...sources,
    latest: (_request, codes) =>
      latest ? latestFor(latest, sources, request, codes) : sources.latest(request, codes),
    history(need, _request, use) {
      if (!history) return sources.history(need, request, use)
      // The days of all rows, so that each currency is loaded once.
      const needed = { ...need, requested: need, since, until: undefined, isFirst: false }
      if (need.source !== undefined) return ask((limit) => sources.history(needed, limit, use))
      try {
        const found = history()
        // Of a bank whose rates are loaded in pieces, these are only the newest days.
        if (found.value.calendar) throw new RatesError('no_data', 'not loaded')
        return use(found)
      } catch (error) {
        // Where other publications may have the rates; a single conversion asks them in order.
        const isMissing = error instanceof RatesError && MISSING.includes(error.code)
        if (!isMissing || !hasPublications(sources)) throw error
        return ask((limit) => sources.history(needed, limit, use))
      }
    },
  }
}

/** Errors after which other publications may have the rates. */
const MISSING: readonly RatesErrorCode[] = [
  'no_data',
  'unsupported_currency',
  'provider_unavailable',
]

/** The time of a request for all waits together, in ms. */
const MAX_WAIT_MS = 5_000

/** Creates a function that passes a request to `load`, which waits at most 5 s in all calls together. */
function createAsk(
  runtime: ManyOptions['runtime'],
  request: RequestOptions,
): <Result>(load: (request: RequestOptions) => Result) => Result {
  const until = runtime.monotonic() + MAX_WAIT_MS
  // Rates that are loaded are found without a wait.
  return (load) => load(runtime.monotonic() < until ? request : { signal: AbortSignal.abort() })
}

/** Returns whether rows may have to wait for other publications, one after another. */
export function hasPublications(sources: RateSources): boolean {
  return sources.state().publications !== undefined
}

/** Returns the loaded table; where only its fallback may have the codes, the sources decide. */
function latestFor(
  latest: Loaded<LatestSnapshot>,
  sources: RateSources,
  request: RequestOptions | undefined,
  codes: (() => readonly string[]) | undefined,
): ReturnType<RateSources['latest']> {
  const found = latest()
  const { fallback, table } = found.value
  if (!fallback || !codes) return found
  const isComplete = codes().every((code) => table.rates.has(code.toUpperCase()))
  return isComplete ? found : sources.latest(request, codes)
}

/** Rows of the same day share its rates, if these do not depend on the currencies. */
function createRowConverter(
  sources: RateSources,
  now: () => number,
  failed: (thrown: unknown) => ConversionError,
): (row: unknown) => AnyRowConversion | Promise<AnyRowConversion> {
  const ratesOfDays = hasPublications(sources) ? undefined : new Map<string, Rates>()

  function convert(row: unknown): AnyRowConversion | Promise<AnyRowConversion> {
    const params = requireRow(row)
    const key = dayKey(params)
    const known = key === undefined ? undefined : ratesOfDays?.get(key)
    if (known) return toConversion(known, params)
    return withConversion(sources, params, now, undefined, ({ value }) => {
      if (key !== undefined) ratesOfDays?.set(key, value)
      return toConversion(value, params)
    })
  }

  return (row) => {
    try {
      const result = convert(row)
      return result instanceof Promise ? result.catch(failed) : result
    } catch (error) {
      return failed(error)
    }
  }
}

/** @throws {RatesError} as `check` does, or the row itself if it is the error of one */
function requireRow(row: unknown): ConversionParams {
  if (row instanceof RatesError) throw row
  if (typeof row !== 'object' || row === null || Array.isArray(row)) {
    throw invalidParameter('row', 'must be an object')
  }
  check(ROW, row)
  return Object(row)
}
