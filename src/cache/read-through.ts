import { TimeoutError, runInBackground, withTimeout } from '../async.ts'
import type { Runtime, WaitUntil } from '../async.ts'
import { createValueCache, isFresh, timeToRefresh } from './entry.ts'
import type { CacheEntry, ValueCacheOptions } from './entry.ts'
import {
  REQUEST_TIMEOUT_MS,
  UnavailableError,
  createRefreshTask,
  createSingleFlight,
} from './refresh.ts'
import type { Attempt, RefreshOptions } from './refresh.ts'

/** The shortest time between two reads of the store during backoff, in ms: without and with a usable value. */
const EMPTY_READ_INTERVAL_MS = 1_000
const READ_INTERVAL_MS = 10_000

/** A value with its freshness. */
export interface CacheResult<Value> {
  value: Value
  /** Whether the value was cached; false where the request waited for a load. */
  hit: boolean
  /** Whole seconds until the next refresh is due; negative when it is overdue. */
  ttl: number
}

/** Options of `createReadThrough`. */
export interface ReadThroughOptions<Value>
  extends ValueCacheOptions<Value>, Pick<RefreshOptions<Value>, 'load'> {
  /** Called whenever an overdue value is served, with how long it is overdue in ms. */
  onStale(overdue: number): void
}

/** The state of a read-through, available without a request. */
export interface ReadThroughState<Value> {
  /** The value that would be served. */
  value: Value | undefined
  /** Whether the refresh of `value` is overdue. */
  stale: boolean
  lastAttempt: Attempt | undefined
  /** When the next request may start a load, in ms since the Unix epoch. */
  nextAttemptAt: number
}

/** One value that is loaded on demand, cached and refreshed. */
export interface ReadThrough<Value> {
  /**
   * Returns the value: synchronously where one is cached, even if overdue.
   *
   * @throws {UnavailableError} where no usable value is cached and none can be loaded in 5 s
   */
  get(request?: RequestOptions): CacheResult<Value> | Promise<CacheResult<Value>>
  /** Loads the value again if that is due and no backoff is in progress. Never rejects. */
  refresh(): Promise<void>
  state(): ReadThroughState<Value>
  /** Aborts the load in progress and starts no others. */
  close(): void
}

/** Creates a read-through of one value: from memory, then the store, then one load that all requests share. */
export function createReadThrough<Value>(options: ReadThroughOptions<Value>): ReadThrough<Value> {
  const { runtime, waitUntil, onScheduled, onStale } = options
  const cache = createValueCache(options)
  const singleFlight = createSingleFlight({
    runtime,
    task: createRefreshTask({ ...options, cache }),
    onBackoff: (length) => onScheduled(runtime.now() + length),
  })

  function refreshOverdue(by: number): void {
    onStale(by)
    const work = singleFlight.canStart() ? singleFlight.run() : readStoreDuringBackoff()
    if (work) runInBackground(work, waitUntil)
  }

  function readStoreDuringBackoff(): Promise<void> | undefined {
    return singleFlight.remainingBackoff() > 0 ? cache.readStore(READ_INTERVAL_MS) : undefined
  }

  async function load(request: RequestOptions | undefined): Promise<CacheResult<Value>> {
    const waitFor = startDeadline(runtime, request, waitUntil)
    await waitFor(cache.readStore(EMPTY_READ_INTERVAL_MS) ?? Promise.resolve())
    const stored = cache.currentEntry()
    if (stored) return serve(stored)
    const failure = await waitFor(singleFlight.run()).catch((error: unknown) => error)
    // A slow store may have supplied a value meanwhile, even if the load failed.
    const loaded = cache.currentEntry()
    if (loaded) return { value: loaded.value, hit: false, ttl: toTtl(timeToRefresh(loaded)) }
    throw (
      failure ??
      new UnavailableError(
        singleFlight.remainingBackoff(),
        new Error('another process is refreshing'),
      )
    )
  }

  function serve(found: CacheEntry<Value>): CacheResult<Value> {
    const left = timeToRefresh(found)
    if (left <= 0) refreshOverdue(Math.abs(left))
    return { value: found.value, hit: true, ttl: toTtl(left) }
  }

  return {
    get(request) {
      const found = cache.currentEntry()
      return found ? serve(found) : load(request)
    },
    async refresh() {
      if (!isFresh(cache.currentEntry())) await singleFlight.run().catch(() => undefined)
    },
    state() {
      const found = cache.currentEntry()
      const left = found ? timeToRefresh(found) : 0
      return {
        value: found?.value,
        stale: found !== undefined && left <= 0,
        lastAttempt: singleFlight.lastAttempt(),
        nextAttemptAt: runtime.now() + Math.max(left, singleFlight.remainingBackoff()),
      }
    },
    close: singleFlight.close,
  }
}

function toTtl(left: number): number {
  return Math.floor(left / 1_000)
}

/** A request for data. `signal` ends its wait; it is read only when the request has to wait. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
}

/** Waits for work within the deadline of one request; the work continues when the deadline passes. */
type WaitFor = (work: Promise<void>) => Promise<void>

/**
 * Starts the deadline of `request`: 5 s from now, for all work together.
 *
 * The returned function rejects with an `UnavailableError` when the deadline passes, the request is aborted or the work
 * rejects with one.
 */
function startDeadline(
  runtime: Runtime,
  request: RequestOptions | undefined,
  waitUntil: WaitUntil | undefined,
): WaitFor {
  const startedAt = runtime.monotonic()
  return async (work) => {
    const remaining = startedAt + REQUEST_TIMEOUT_MS - runtime.monotonic()
    try {
      await withTimeout(runtime, remaining, work, request?.signal)
    } catch (error) {
      if (error instanceof UnavailableError) throw error
      runInBackground(work, waitUntil)
      throw new UnavailableError(error instanceof TimeoutError ? REQUEST_TIMEOUT_MS : 0, error)
    }
  }
}
