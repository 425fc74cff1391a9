import { check } from './api/check.ts'
import type { AnyRowConversion, ManyOptions } from './api/convert-many.ts'
import { toConversion, withConversion } from './api/convert.ts'
import type { ConversionResult } from './api/convert.ts'
import { rateHistories } from './api/history.ts'
import { latestRates } from './api/latest.ts'
import type { RatesOperations } from './api/operations.ts'
import { OPERATIONS } from './api/parameters.ts'
import type {
  AnyHistoryParams,
  ConversionParams,
  CurrenciesParams,
  DaysParams,
  LatestParams,
  SnapshotParams,
  Targets,
} from './api/parameter-types.ts'
import type { RatesDay } from './api/days.ts'
import type { RatesSnapshot } from './api/snapshot.ts'
import { serviceStatus } from './api/status.ts'
import { createListeners, systemRuntime } from './async.ts'
import type { Runtime } from './async.ts'
import { toRatesError } from './errors.ts'
import type { RatesError } from './errors.ts'
import { onceADay } from './events.ts'
import type { Emit, RatesEvent } from './events.ts'
import { resolveRatesOptions } from './options.ts'
import type { RatesOptions, ResolvedRatesOptions } from './options.ts'
import { toDay } from './rates/dates.ts'
import { createSources } from './sources/rate-sources.ts'
import type { RateSources } from './sources/rate-sources.ts'

/** Functions to call while rates are in use. */
export interface RatesListeners {
  /** Called for every event, like the option `onEvent`. */
  onEvent?: ((event: RatesEvent) => void) | undefined
}

/** The operations, with what keeps their data fresh. */
export interface Rates extends RatesOperations {
  /**
   * Returns latest rates, or the reference rates of a day, as plain JSON, to be kept with what they were used for: `convertAt`
   * of `ratesmith/quotes` repeats conversions by it.
   *
   * @throws {RatesError} as `latest` does
   * @example
   * ```ts
   * import { createRates } from 'ratesmith'
   *
   * const rates = createRates()
   * const snapshot = await rates.snapshot({ base: 'EUR', symbols: ['USD', 'JPY'] })
   * console.log(JSON.stringify(snapshot))
   * ```
   */
  snapshot(params?: SnapshotParams): Promise<RatesSnapshot>
  /**
   * Refreshes all data that are due, for schedulers; never rejects.
   *
   * @example
   * ```ts
   * import { createRates } from 'ratesmith'
   *
   * const rates = createRates()
   * setInterval(() => void rates.refresh(), 600_000)
   * ```
   */
  refresh(): Promise<void>
  /**
   * Ends timers and upstream calls. From then on, calls get cached data or `provider_unavailable`.
   *
   * @example
   * ```ts
   * import { createRates } from 'ratesmith'
   *
   * const rates = createRates()
   * process.once('SIGTERM', () => rates.close())
   * ```
   */
  close(): void
  /**
   * Calls functions for every event until the returned function is called. Exceptions and rejections are ignored.
   *
   * @example
   * ```ts
   * import { createRates } from 'ratesmith'
   *
   * const rates = createRates()
   * const unsubscribe = rates.subscribe({ onEvent: ({ type }) => console.log(type) })
   * ```
   */
  subscribe(listeners: RatesListeners): () => void
}

/**
 * Creates the operations without HTTP: for apps that need rates and serve none.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { createRates } from 'ratesmith'
 *
 * const rates = createRates()
 * const { result } = await rates.convert({ from: 'USD', to: 'EUR', amount: 12.5 })
 * console.log(result)
 * ```
 */
export function createRates(options: RatesOptions = {}): Rates {
  return createRatesOn(systemRuntime, resolveRatesOptions(options), onceADay).rates
}

/** Rates with what a handler needs of them. */
export interface RatesCore {
  rates: Rates
  sources: RateSources
  runtime: Runtime
  emit: Emit
  onInternalError(error: unknown, requestId?: string): void
}

/** Creates rates on a given runtime, with every event; `createRuntime` receives the clock. */
export function createRatesOn(
  createRuntime: (now: () => number) => Runtime,
  { onEvent, ...options }: ResolvedRatesOptions,
  limitEvents = (emit: Emit, _now: () => number): Emit => emit,
): RatesCore {
  const { now } = options
  const runtime = createRuntime(now)
  const events = createListeners<RatesEvent>()
  if (onEvent) events.add(onEvent)
  // Events that nothing receives must not count as the first of the day.
  const emit = events.whileAny(limitEvents(events.call, now))
  const sources = createSources({ ...options, runtime, emit })
  const onInternalError = (error: unknown, requestId?: string): void =>
    emit({ type: 'internal_error', error, ...(requestId !== undefined && { requestId }) })
  const rates: Rates = {
    ...createOperations(sources, runtime, onInternalError),
    refresh: sources.refresh,
    close: sources.close,
    subscribe: ({ onEvent: listener }) => (listener ? events.add(listener) : () => undefined),
  }
  return { rates, sources, runtime, emit, onInternalError }
}

/** Creates the operations; parameters are checked before data are loaded. */
function createOperations(
  sources: RateSources,
  runtime: Runtime,
  onInternalError: (error: unknown) => void,
): RatesOperations & Pick<Rates, 'snapshot'> {
  const { now } = runtime
  const toError = createToError(onInternalError)
  const attempt = createAttempt(toError)

  /** The table has the types of `run`, as the public types have. */
  function operation<Params>(
    name: keyof RatesOperations,
    run: (params: Params) => unknown,
  ): (params?: Params) => Promise<unknown> {
    return (params) =>
      attempt(() => {
        const given: unknown = params === undefined ? {} : params
        check(OPERATIONS[name], given)
        return run(Object(given))
      })
  }

  const operations: Record<keyof RatesOperations | 'snapshot', (...given: never[]) => unknown> = {
    latest: operation('latest', (params: LatestParams) => latestRates(sources, params, now)),
    convert: operation('convert', (params: ConversionParams) => conversion(sources, params, now)),
    convertMany: (rows?: unknown, given: unknown = {}) =>
      attempt(() => {
        check(OPERATIONS.convertMany, given)
        return convertMany(sources, rows, { runtime, onInternalError })
      }),
    snapshot: (params: SnapshotParams = {}) =>
      attempt(async () => {
        const { takeSnapshot } = await import('./api/snapshot.ts')
        return takeSnapshot(sources, params, now)
      }),
    history: operation('history', (params: AnyHistoryParams<Targets>) =>
      rateHistories(sources, params, now),
    ),
    days: createDays(sources, now, toError),
    currencies: operation('currencies', async ({ symbols }: CurrenciesParams) => {
      const { loadCurrencyData, toCurrencyList } = await import('./api/currencies.ts')
      return toCurrencyList(await loadCurrencyData(sources), toDay(now()), symbols)
    }),
    sources: operation('sources', async () => {
      const { sourceList } = await import('./api/sources.ts')
      return sourceList(sources, now)
    }),
    status: operation('status', () => serviceStatus(sources, now())),
  }
  return Object(operations)
}

function createAttempt(
  toError: (thrown: unknown) => RatesError,
): <Result>(work: () => Result | Promise<Result>) => Promise<Result> {
  return async (work) => {
    try {
      return await work()
    } catch (thrown) {
      throw toError(thrown)
    }
  }
}

function createToError(onInternalError: (error: unknown) => void): (thrown: unknown) => RatesError {
  return (thrown) => {
    const error = toRatesError(thrown)
    if (error.code === 'internal_error') onInternalError(error.cause)
    return error
  }
}

function createDays(
  sources: RateSources,
  now: () => number,
  toError: (thrown: unknown) => RatesError,
): (params: DaysParams) => AsyncIterable<RatesDay> {
  return async function* days(given) {
    const { signal, ...params }: DaysParams = Object(given)
    try {
      check(OPERATIONS.days, params)
      const { openDays } = await import('./api/days.ts')
      const { months, read } = await openDays(sources, { ...params, signal }, now)
      for (const [index, month] of months.entries()) yield* await read(month, index > 0)
    } catch (thrown) {
      signal?.throwIfAborted()
      throw toError(thrown)
    }
  }
}

async function convertMany(
  sources: RateSources,
  given: unknown,
  options: ManyOptions,
): Promise<AnyRowConversion[]> {
  const { convertRows, requireRows } = await import('./api/convert-many.ts')
  const rows = requireRows(given)
  const all: AnyRowConversion[] = []
  await convertRows(sources, rows, options, (results) => void all.push(...results))
  return all
}

async function conversion(
  sources: RateSources,
  params: ConversionParams,
  now: () => number,
): Promise<ConversionResult> {
  const record = await withConversion(sources, params, now, undefined, ({ value }) =>
    toConversion(value, params),
  )
  if (!params.expand) return record
  const { withSources } = await import('./api/sources.ts')
  return withSources(sources, params, { record }, now)
}
