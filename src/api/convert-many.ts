import { withTimeout } from '../async.ts'
import type { Runtime } from '../async.ts'
import { RatesError, invalidParameter, toRatesError } from '../errors.ts'
import type { RatesErrorCode } from '../errors.ts'
import type { Deferral } from '../sources/history.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { CacheResult, HistoryRequest, RateSources } from '../sources/rate-sources.ts'
import { toConversion, withConversion } from './convert.ts'
import type { ConversionResult, Quote } from './convert.ts'
import { ROW } from './parameters.ts'
import type { ConversionParams, ConversionRow, QuotedRow } from './parameter-types.ts'
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
export type ManyConversions<Rows extends readonly (ConversionRow | QuotedRow)[]> = {
  -readonly [Index in keyof Rows]: RowConversion<Rows[Index]>
}

/** @internal The result for one row. */
type RowConversion<Row> =
  Row extends QuotedRow<infer To>
    ? Quote<To> | ConversionError
    : Row extends ConversionRow<infer To>
      ? ConversionResult<To> | ConversionError
      : never

export type AnyRowConversion = ConversionResult | ConversionError

/** A row that is converted already. */
export class ConvertedRow {
  readonly result: ConversionResult

  constructor(result: ConversionResult) {
    this.result = result
  }
}

export interface ManyOptions {
  runtime: Runtime
  /** Receives unforeseen errors, which become errors of their rows. */
  onInternalError(error: unknown): void
  signal?: AbortSignal | undefined
  /** Runs expensive work when it is its turn (default at once). */
  run?<Result>(work: () => Promise<Result>): Promise<Result>
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

/** The time of a request for all waits together, in ms. */
const MAX_WAIT_MS = 5_000

/** Rows that wait at a time; the others have the same pieces, or wait afterwards. */
const MAX_WAITING_ROWS = 500

/**
 * Passes the results to `use` in the order of `rows`, as many at a time as a few ms of work make. Rows whose rates have to be
 * loaded wait together, for all their rates at once.
 *
 * @throws {RatesError} `overloaded` if the request is aborted
 */
export async function convertRows(
  sources: RateSources,
  rows: readonly unknown[],
  { runtime, onInternalError, signal, run = (work) => work() }: ManyOptions,
  use: (results: AnyRowConversion[]) => void,
): Promise<void> {
  const results = createOrderedResults(use)
  const startedAt = runtime.now()
  const loads = createLoads(runtime, signal)
  const latest = rows.some(needsLatest) ? await settle(() => sources.latest({ signal })) : undefined
  // All rows have the same today.
  const convertRow = createRowConverter(
    withLatest(sources, latest),
    () => startedAt,
    (thrown) => {
      const error = toRatesError(thrown)
      if (error.code === 'internal_error') onInternalError(error.cause)
      const { code, message } = error
      return { error: { code, message } }
    },
  )

  async function convertEach(indexes: Iterable<number>): Promise<number[]> {
    const waiting: number[] = []
    const isTimeOver = createSlices(runtime)
    for (const index of indexes) {
      const result = convertRow(rows[index], loads.requestOf(index))
      if (loads.isDeferred()) waiting.push(index)
      else results.set(index, result)
      if (!isTimeOver()) continue
      results.useFinished()
      await runtime.yieldToEventLoop()
      if (signal?.aborted) throw new RatesError('overloaded', 'The request was aborted')
    }
    return waiting
  }

  let waiting = await run(() => convertEach(rows.keys()))
  while (waiting.length > 0) {
    await loads.settle()
    const indexes = waiting
    waiting = await run(() => convertEach(indexes))
  }
  await run(async () => {
    while (results.useFinished()) await runtime.yieldToEventLoop()
  })
}

interface OrderedResults {
  set(index: number, result: AnyRowConversion): void
  /** Passes on those without a gap before them, at most as many as a slice makes; returns whether there were any. */
  useFinished(): boolean
}

function createOrderedResults(use: (results: AnyRowConversion[]) => void): OrderedResults {
  const results: (AnyRowConversion | undefined)[] = []
  let used = 0
  return {
    set: (index, result) => void (results[index] = result),
    useFinished() {
      const finished: AnyRowConversion[] = []
      for (let next = results[used]; next && finished.length < MAX_ROWS_PER_SLICE;) {
        finished.push(next)
        results[used] = undefined
        used += 1
        next = results[used]
      }
      if (finished.length > 0) use(finished)
      return finished.length > 0
    },
  }
}

/** Returns a function that returns whether to pause after a row. */
function createSlices(runtime: Pick<ManyOptions['runtime'], 'monotonic'>): () => boolean {
  let count = 0
  let startedAt = runtime.monotonic()
  return () => {
    count += 1
    const isFull = count >= MAX_ROWS_PER_SLICE
    if (!isFull && count % ROWS_PER_LOOK_AT_CLOCK !== 0) return false
    if (!isFull && runtime.monotonic() - startedAt < SLICE_MS) return false
    count = 0
    startedAt = runtime.monotonic()
    return true
  }
}

/** The loads that rows wait for. */
interface Loads {
  requestOf(row: number): HistoryRequest
  /** Whether the row has to wait. */
  isDeferred(): boolean
  /** Waits until all end, or the time of the request. */
  settle(): Promise<void>
}

function createLoads(runtime: ManyOptions['runtime'], signal: AbortSignal | undefined): Loads {
  const until = runtime.monotonic() + MAX_WAIT_MS
  const tried = new Map<number, Set<string>>()
  let loading: Promise<unknown>[] = []
  let row = 0
  let isDeferred = false
  const defer: Deferral = {
    start(key, load) {
      const keys = tried.get(row) ?? new Set()
      if (keys.has(key) || runtime.monotonic() >= until) return false
      isDeferred = true
      // Later, when those that wait now have loaded most pieces.
      if (loading.length >= MAX_WAITING_ROWS) return true
      tried.set(row, keys.add(key))
      loading.push(load().catch(() => undefined))
      return true
    },
  }
  // One request, so that its pieces take turns with those of others.
  const request: HistoryRequest = { signal, defer }
  return {
    requestOf(index) {
      row = index
      isDeferred = false
      return request
    },
    isDeferred: () => isDeferred,
    async settle() {
      const left = until - runtime.monotonic()
      await withTimeout(runtime, left, Promise.all(loading), signal).catch(() => undefined)
      loading = []
    },
  }
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

/** Returns sources with loaded latest rates; their error is that of the rows that need them. */
function withLatest(sources: RateSources, latest: Loaded<LatestSnapshot> | undefined): RateSources {
  if (!latest) return sources
  return {
    ...sources,
    latest(request, codes) {
      const found = latest()
      const { fallback, table } = found.value
      if (!fallback || !codes) return found
      // Where only the fallback may have the codes, the sources decide.
      const isComplete = codes().every((code) => table.rates.has(code.toUpperCase()))
      return isComplete ? found : sources.latest(request, codes)
    },
  }
}

function createRowConverter(
  sources: RateSources,
  now: () => number,
  failed: (thrown: unknown) => ConversionError,
): (row: unknown, request: HistoryRequest) => AnyRowConversion {
  // Rows of the same day share its rates, if these do not depend on the currencies.
  const ratesOfDays = sources.isAnyDeclared ? undefined : new Map<string, Rates>()

  function convert(row: unknown, request: HistoryRequest): AnyRowConversion {
    if (row instanceof ConvertedRow) return row.result
    const params = requireRow(row)
    const key = dayKey(params)
    const known = key === undefined ? undefined : ratesOfDays?.get(key)
    if (known) return toConversion(known, params)
    const result = withConversion(sources, params, now, request, ({ value }) => {
      if (key !== undefined) ratesOfDays?.set(key, value)
      return toConversion(value, params)
    })
    if (result instanceof Promise) throw new Error('rates of a row must be in memory')
    return result
  }

  return (row, request) => {
    try {
      return convert(row, request)
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
