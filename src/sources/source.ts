import { TimeoutError, hedge, runWithTimeout, withTimeout } from '../async.ts'
import type { Runtime, WaitUntil } from '../async.ts'
import { createBackoff, propertyOf, requestedDelay } from '../cache/backoff.ts'
import type { ReadThroughOptions } from '../cache/read-through.ts'
import { REFRESH_TIMEOUT_MS, REQUEST_TIMEOUT_MS, UnavailableError } from '../cache/refresh.ts'
import type { CacheEntry } from '../cache/refresh.ts'
import { createStoredValue } from '../cache/store.ts'
import type { GuardedStore, StoredValue, StoredValueOptions } from '../cache/store.ts'
import { MAX_RETRY_AFTER_SECONDS, providerUnavailable } from '../errors.ts'
import type { RatesError } from '../errors.ts'
import { MAX_REASON, reasonOf, shortened } from '../events.ts'
import type { DataSet, Emit } from '../events.ts'
import { addDays, toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import type { RateTable, ReferenceTable } from '../rates/rate-table.ts'
import { RejectedError, requireObject } from '../rates/validate.ts'
import type {
  Attribution,
  DerivedAttribution,
  HistoryProvider,
  LatestProvider,
  ProviderContext,
} from '../upstream/provider.ts'

export interface SourcesOptions {
  /** In order of preference; empty where latest rates are turned off. */
  latestProviders: readonly LatestProvider[]
  historyProviders: readonly HistoryProvider[]
  fetch: typeof fetch
  store: GuardedStore | undefined
  /** How long overdue data may be served, in ms. */
  maxStale: { latest: number; history: number }
  waitUntil: WaitUntil | undefined
  runtime: Runtime
  emit: Emit
}

export function sourceHooks(
  { runtime, waitUntil, emit }: SourcesOptions,
  dataSet: DataSet,
): Pick<
  ReadThroughOptions<{ attribution: Attribution }>,
  'runtime' | 'waitUntil' | 'onRestored' | 'onScheduled' | 'onStale' | 'onLate' | 'onUpdated'
> {
  return {
    runtime,
    waitUntil,
    onRestored: (loadedAt) => emit({ type: 'rates_restored', dataSet, loadedAt }),
    onScheduled: (at) => emit({ type: 'refresh_scheduled', dataSet, at }),
    onStale: (overdue) => emit({ type: 'stale_served', dataSet, overdue }),
    onLate: ({ attribution: { name: provider } }, { due, about }) =>
      emit({ type: 'rates_late', dataSet, provider, due, ...about }),
    onUpdated({ value, updatedAt = NaN }, previous) {
      const about = { dataSet, provider: value.attribution.name, updatedAt }
      emit({ type: 'rates_updated', ...about, previousUpdatedAt: previous ?? null })
    },
  }
}

export function storedIn<Value>(
  { store, runtime, emit }: SourcesOptions,
  dataSet: DataSet,
  format: Pick<StoredValueOptions<Value>, 'toJson' | 'fromJson'>,
  key: string = dataSet,
): StoredValue<Value> | undefined {
  if (!store) return undefined
  const onRejected = (error: unknown): void => {
    const reason = reasonOf(error)
    emit({ type: 'rates_rejected', dataSet, origin: 'store', reason, error })
  }
  return createStoredValue({ store, key: `rates:v1:${key}`, runtime, onRejected, ...format })
}

export function isSameSource(one: Attribution, other: Attribution): boolean {
  return one.name === other.name && one.url === other.url
}

/**
 * @throws {RejectedError} where no provider has it, or has added other rates: this handler would not have fetched the data
 */
export function requireAttribution(
  stored: unknown,
  providers: readonly { attribution: DerivedAttribution }[],
): Attribution {
  const { name, url, revision } = requireObject(stored, 'the stored attribution is')
  const named = { name: String(name), url: String(url) }
  const provider = providers.find(
    ({ attribution }) => isSameSource(attribution, named) && attribution.revision === revision,
  )
  if (!provider) throw new RejectedError('the source is not one of the configured providers')
  return provider.attribution
}

export interface LatestSnapshot {
  table: RateTable
  attribution: Attribution
  /** Returns an earlier table of another provider, for codes that `table` lacks; `undefined` once that is too old. */
  fallback?: () => CacheEntry<LatestSnapshot> | undefined
}

export function tablesOf(snapshot: LatestSnapshot | undefined): LatestSnapshot[] {
  return [snapshot, snapshot?.fallback?.()?.value].filter((each) => each !== undefined)
}

/** Other sources of rates, for comparison. */
export interface References {
  /** Returns the rates in memory of all sources but `own`. */
  current(own: Attribution): readonly ReferenceTable[]
  /**
   * Refreshes the other data set, the publications but the one with this id, and without an id loads the next feed of latest
   * rates. Waits 2 s at most, and never rejects.
   */
  load(own: Attribution, id?: string): Promise<void>
}

/** Older rates are not compared. At Easter, none are published for five days. */
const MAX_REFERENCE_AGE_DAYS = 10

export function firstComparedDay(now: number): Day {
  return addDays(toDay(now), -MAX_REFERENCE_AGE_DAYS)
}

/** A provider backs off only as long as its errors request. */
const NO_BACKOFF = { initial: 0, max: 0 }

type ProviderCall<Provider, Data> = (provider: Provider, context: ProviderContext) => Promise<Data>

export interface CallOptions {
  /** Limit of a call, in ms. */
  timeout: number
  /** Whether a missing resource means that the whole service is gone. */
  isRoot: boolean
}

interface FailoverOptions {
  signal: AbortSignal
  /** Whether requests wait for the data, because nothing is cached. */
  isAwaited: boolean
}

export type Failover<Provider> = <Data>(
  options: FailoverOptions,
  callProvider: ProviderCall<Provider, Data>,
) => Promise<Data>

/**
 * The next provider is called when the previous one fails, or in parallel after the hedging delay; the first usable data
 * abort the other calls. Emits an event for every call and its outcome. Skips providers in backoff. Rejects with a
 * `NoProviderError`, and emits it, where no provider returns usable data.
 */
export function createFailover<Provider extends { attribution: Attribution }>(
  options: SourcesOptions,
  dataSet: DataSet,
  providers: readonly Provider[],
  { timeout, isRoot }: CallOptions,
): Failover<Provider> {
  const { runtime, emit } = options
  // By name, until a call succeeds without that failure.
  const gone = isRoot ? new Set<string>() : undefined
  const backoffs = new Map(providers.map((each) => [each, createBackoff(runtime, NO_BACKOFF)]))
  let lastFailure: unknown

  function failureOf(failures: ReadonlyMap<Provider, unknown>): NoProviderError {
    for (const error of failures.values()) lastFailure = error
    const reasons = [...backoffs].map(([provider, backoff]) => {
      const left = backoff.remaining()
      const notCalled = left > 0 ? describeBackoff(left) : 'not called in time'
      const reason = failures.has(provider) ? reasonOf(failures.get(provider)) : notCalled
      return { provider: provider.attribution.name, reason, left }
    })
    const shortest = Math.min(...reasons.map(({ left }) => left))
    return new NoProviderError(reasons, shortest, lastFailure)
  }

  return async ({ signal, isAwaited }, callProvider) => {
    const ready = [...backoffs].filter(([, backoff]) => backoff.remaining() === 0)
    const controller = new AbortController()
    const failures = new Map<Provider, unknown>()
    const onAbort = (): void => controller.abort(signal.reason)
    signal.addEventListener('abort', onAbort)
    // The last provider is called well before the deadline of waiting requests, and has two delays left until then.
    const delay = (isAwaited ? REQUEST_TIMEOUT_MS : REFRESH_TIMEOUT_MS) / (ready.length + 1)
    const onFirst = (): void => controller.abort(new Error('another provider responded first'))
    const about = { dataSet, timeout, gone, signal: controller.signal, onFirst }
    const call = ([provider, backoff]: (typeof ready)[number]): ReturnType<typeof callProvider> =>
      callOnce(options, { ...about, provider, callProvider }).catch((error: unknown) => {
        failures.set(provider, error)
        backoff.recordFailure(requestedDelay(error))
        throw error
      })
    try {
      return await hedge(ready, call, { runtime, delay, signal: controller.signal })
    } catch {
      const error = failureOf(failures)
      emit({ type: 'refresh_failed', dataSet, reason: error.message, error })
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }
}

/** The service is gone. */
const GONE: readonly unknown[] = [404, 410]

interface Call<Provider, Data> {
  dataSet: DataSet
  timeout: number
  /** Names of services that are gone. */
  gone: Set<string> | undefined
  provider: Provider
  callProvider: ProviderCall<Provider, Data>
  signal: AbortSignal
  /** Called with usable data; aborts the other calls in progress. */
  onFirst?: () => void
}

export async function callOnce<Provider extends { attribution: Attribution }, Data>(
  { fetch, runtime, emit }: SourcesOptions,
  { dataSet, timeout, gone, provider, callProvider, signal, onFirst }: Call<Provider, Data>,
): Promise<Data> {
  const about = { dataSet, provider: provider.attribution.name }
  const startedAt = runtime.monotonic()
  let isAnyGone = false
  const noteGone = (error: unknown): void => {
    if (!gone || !GONE.includes(propertyOf(error, 'status'))) return
    if (!gone.has(about.provider)) emit({ type: 'source_gone', ...about })
    gone.add(about.provider)
    isAnyGone = true
  }
  emit({ type: 'upstream_request', ...about })
  const work = (signal: AbortSignal): Promise<Data> =>
    callProvider(provider, {
      // Called without `this`: the fetch of some platforms throws for another one.
      fetch: (input, init) => fetch(input, init),
      signal,
      now: () => runtime.now(),
      onFailure: noteGone,
    })
  try {
    const data = await runWithTimeout(runtime, timeout, work, signal)
    // Two providers may respond in the same turn of the event loop; only the first counts.
    signal.throwIfAborted()
    onFirst?.()
    if (!isAnyGone) gone?.delete(about.provider)
    emit({ type: 'upstream_response', ...about, elapsed: runtime.monotonic() - startedAt })
    return data
  } catch (error) {
    noteGone(error)
    const reason = reasonOf(error)
    const elapsed = runtime.monotonic() - startedAt
    if (error instanceof RejectedError) {
      emit({ type: 'rates_rejected', ...about, origin: 'upstream', reason, error })
    } else {
      emit({ type: 'upstream_failed', ...about, elapsed, reason, error })
    }
    throw error
  }
}

const MIN_RETRY_AFTER_SECONDS = 1

/** Returns `provider_unavailable` for an `UnavailableError`. */
export function unavailable(error: unknown): RatesError {
  const seconds = error instanceof UnavailableError ? Math.ceil(error.retryInMs / 1_000) : 0
  return providerUnavailable(
    Math.min(Math.max(seconds, MIN_RETRY_AFTER_SECONDS), MAX_RETRY_AFTER_SECONDS),
    error,
  )
}

/** Returns `provider_unavailable` for the error of a wait that ended too early. */
export function notInTime(error: unknown): RatesError {
  return unavailable(
    error instanceof TimeoutError ? new UnavailableError(REQUEST_TIMEOUT_MS, error) : error,
  )
}

/** @throws {RatesError} `provider_unavailable` if `work` takes longer than a request may, or `signal` aborts; that of `work` */
export async function inTime<Result>(
  runtime: Runtime,
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  try {
    return await withTimeout(runtime, REQUEST_TIMEOUT_MS, work, signal)
  } catch (error) {
    throw error instanceof TimeoutError || signal?.aborted ? notInTime(error) : error
  }
}

interface ProviderFailure {
  provider: string
  reason: string
}

const SEPARATOR = '; '

const MIN_REASON = 20

/** No provider returned usable data. The message has the reason of each one; `cause` is the last error. */
class NoProviderError extends Error {
  override readonly name = 'NoProviderError'
  /** How long every provider is in backoff, in ms; 0 where one may be called now. */
  readonly retryAfterMs: number

  constructor(failures: readonly ProviderFailure[], retryAfterMs: number, cause: unknown) {
    const opening = 'no provider returned usable data: '
    // Each provider has an equal share of the length, so that the last one is named, too.
    const share = Math.floor((MAX_REASON - opening.length) / failures.length) - SEPARATOR.length
    const reasons = failures.map(({ provider, reason }) =>
      shortened(`${provider}: ${reason}`, Math.max(share, MIN_REASON)),
    )
    super(shortened(opening + reasons.join(SEPARATOR), MAX_REASON), { cause })
    this.retryAfterMs = retryAfterMs
  }
}

function describeBackoff(remaining: number): string {
  const seconds = Math.ceil(remaining / 1_000)
  return `in backoff for ${seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`}`
}
