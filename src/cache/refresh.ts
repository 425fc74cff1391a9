import { runWithTimeout, sleep } from '../async.ts'
import type { Instant, Runtime } from '../async.ts'
import { createRefreshBackoff } from './backoff.ts'
import type { LoadedValue, StoredValue } from './store.ts'

/** The publication after the one in memory. Instants in ms since the Unix epoch. */
export interface NextPublication {
  due: number
  /** From when it is late if it is missing. */
  lateAt: number
  /** Fields of the event `rates_late` (default none). */
  about?: { publication: string; day: string }
}

/** A value in memory. All instants in ms since the Unix epoch. */
export interface CacheEntry<Value> extends LoadedValue<Value> {
  /** When the source announced an update, at least ten minutes after loading; `maxStale` counts from here. */
  dueAt: number
  /** When a refresh is due: shortly after `dueAt`, at most `maxLifetime` after loading. */
  refreshAt: number
  /** When it was published; undefined where updates are not reported. */
  updatedAt: number | undefined
  next: NextPublication
  /** The clock that measures its age; setting the system clock back does not make the entry younger. */
  clock: () => number
}

export interface CacheState<Value> {
  /** The last value, of any age. */
  last: Value | undefined
  /** The last value, while it may be served. */
  current: Value | undefined
  entry: CacheEntry<Value> | undefined
}

export interface ValueCache<Value> {
  lastEntry(): CacheEntry<Value> | undefined
  currentEntry(): CacheEntry<Value> | undefined
  state(): CacheState<Value>
  /**
   * Keeps `loaded` in memory and in the store, unless a newer value is cached. Validates it again where the store supplied
   * a value other than `before` during the load; rejects where `validateStored` throws.
   */
  put(loaded: LoadedValue<Value>, before: CacheState<Value>): Promise<void>
  /** Makes the value in memory due for a refresh. */
  expire(): void
  /**
   * Reads a newer value from the store, for which it waits 50 ms. Returns `undefined` without a store, or where the store
   * was read within the last `interval` ms.
   */
  readStore(interval: number): Promise<void> | undefined
}

/** How long a request waits in total, in ms. */
export const REQUEST_TIMEOUT_MS = 5_000

/** How long a refresh may take, in ms; then another one may start, even if the first ignores its signal. */
export const REFRESH_TIMEOUT_MS = 20_000

/** No usable value is available; `cause` is the reason. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError'
  readonly retryInMs: number

  constructor(retryInMs: number, cause: unknown) {
    super('no usable data', { cause })
    this.retryInMs = retryInMs
  }
}

/** An attempt to refresh a data set. */
export interface Attempt {
  /** When the attempt started, in ms since the Unix epoch. */
  at: Instant
  /** `loaded` from the provider, `restored` from the store, or `delegated` to another process. */
  outcome: 'running' | 'loaded' | 'restored' | 'delegated' | 'failed'
}

type RefreshOutcome = Exclude<Attempt['outcome'], 'running' | 'failed'>

/** The work to run. `nextDelay` is the longest backoff that follows if it fails, in ms. */
export type RefreshTask = (signal: AbortSignal, nextDelay: number) => Promise<RefreshOutcome>

/** Runs a task once at a time for all callers, with backoff after failures. */
export interface SingleFlight {
  canStart(): boolean
  remainingBackoff(): number
  lastAttempt(): Attempt | undefined
  /**
   * Starts the task, or returns the run in progress.
   *
   * @throws {UnavailableError} when the task fails, and immediately during backoff
   */
  run(): Promise<void>
  /** Aborts the run in progress and refuses new ones. */
  close(): void
}

export interface SingleFlightOptions {
  runtime: Runtime
  /** Receives a signal that aborts after 20 s or on `close`. */
  task: RefreshTask
  /** Receives the length of every backoff delay, in ms. */
  onBackoff(length: number): void
}

export function createSingleFlight(options: SingleFlightOptions): SingleFlight {
  const { runtime, task, onBackoff } = options
  const backoff = createRefreshBackoff(runtime, onBackoff)
  let inFlight: Promise<void> | undefined
  let attempt: Attempt | undefined
  let lastError: unknown
  let isClosed = false
  // One for every run: on some hosts a controller belongs to the request that created it.
  let closing: AbortController | undefined

  function canStart(): boolean {
    return !inFlight && backoff.remaining() === 0 && !isClosed
  }

  async function refresh(): Promise<void> {
    const at = runtime.now()
    attempt = { at, outcome: 'running' }
    closing = new AbortController()
    const runTask = (signal: AbortSignal): Promise<RefreshOutcome> =>
      task(signal, backoff.nextDelay())
    try {
      const outcome = await runWithTimeout(runtime, REFRESH_TIMEOUT_MS, runTask, closing.signal)
      attempt = { at, outcome }
      if (outcome === 'delegated') backoff.recordDelegation()
      else backoff.reset()
    } catch (error) {
      attempt = { at, outcome: 'failed' }
      lastError = error
      backoff.recordFailure(error)
      throw unavailable()
    }
  }

  function unavailable(): UnavailableError {
    return new UnavailableError(backoff.remaining(), lastError)
  }

  return {
    canStart,
    remainingBackoff: backoff.remaining,
    lastAttempt: () => attempt,
    run() {
      if (inFlight) return inFlight
      if (!canStart()) return Promise.reject(unavailable())
      return (inFlight = refresh().finally(() => (inFlight = undefined)))
    },
    close() {
      isClosed = true
      closing?.abort(new Error('closed'))
    },
  }
}

const READ_INTERVAL_MS = 1_000

/** How often, and how long, the store is polled in ms while nothing is cached and another process refreshes. */
const POLL_INTERVAL_MS = 100
const POLL_TIMEOUT_MS = 4_000

export interface RefreshOptions<Value> extends LeaseOptions<Value> {
  load(signal: AbortSignal, before: CacheState<Value>): Promise<Value>
}

/**
 * Creates the work of one refresh. It takes a newer value from the store, where another process has put one; else it
 * loads, if it acquires the lease. Without the lease it delegates to the process that holds it while a value is cached;
 * while none is, it polls the store for four seconds and then loads once without the lease.
 */
export function createRefreshTask<Value>(options: RefreshOptions<Value>): RefreshTask {
  const { runtime, cache, load } = options
  const lease = createRefreshLease(options)

  async function pollStore(signal: AbortSignal): Promise<boolean> {
    const until = runtime.monotonic() + POLL_TIMEOUT_MS
    while (runtime.monotonic() < until) {
      await sleep(runtime, POLL_INTERVAL_MS, signal)
      await cache.readStore(0)
      if (cache.currentEntry()) return true
    }
    return false
  }

  return async (signal, nextDelay) => {
    await cache.readStore(READ_INTERVAL_MS)
    if (isFresh(cache.currentEntry())) return 'restored'
    if (!(await lease.tryAcquire(nextDelay))) {
      if (!cache.currentEntry() && (await pollStore(signal))) return 'restored'
      if (!lease.mayBypass()) return 'delegated'
    }
    signal.throwIfAborted()
    const before = cache.state()
    const loaded: LoadedValue<Value> = {
      value: await load(signal, before),
      loadedAt: runtime.now(),
    }
    signal.throwIfAborted()
    await cache.put(loaded, before)
    return 'loaded'
  }
}

/** After being denied for this long, in ms, a process refreshes without a lease: no working lease, or chain of leases, lasts as long. */
const MAX_DENIAL_MS = 6 * 3_600_000

interface LeaseOptions<Value> {
  runtime: Runtime
  cache: ValueCache<Value>
  stored: StoredValue<Value> | undefined
}

interface RefreshLease {
  /**
   * Returns whether this process may refresh: it holds the lease, acquires it, or has no store. The lease lasts as long as
   * a refresh may take, and through the backoff after a failure, `nextDelay` ms.
   */
  tryAcquire(nextDelay: number): Promise<boolean>
  /** Returns whether to refresh without a lease: once while nothing is cached, and after hours of denials. */
  mayBypass(): boolean
}

/** Denials since the value that was loaded at `loadedAt`, `since` by the monotonic clock. Every new value starts a new wait. */
interface Denial {
  loadedAt: number | undefined
  since: number | undefined
  hasBypassed: boolean
}

function createRefreshLease<Value>({ runtime, cache, stored }: LeaseOptions<Value>): RefreshLease {
  let acquiredAt = -Infinity
  let denial: Denial = { loadedAt: undefined, since: undefined, hasBypassed: false }

  // The stored lease may last longer. Afterwards another process may acquire it, so that all processes together refresh
  // no more often than one.
  function isHeld(): boolean {
    return runtime.monotonic() - acquiredAt < REFRESH_TIMEOUT_MS
  }

  return {
    async tryAcquire(nextDelay) {
      if (!stored || isHeld()) return true
      const at = runtime.monotonic()
      const loadedAt = cache.lastEntry()?.loadedAt
      if (denial.loadedAt !== loadedAt) denial = { loadedAt, since: undefined, hasBypassed: false }
      const duration = Math.max(REFRESH_TIMEOUT_MS, nextDelay)
      const isGranted = await stored.tryAcquireLease(runtime.now() + duration)
      if (isGranted) acquiredAt = at
      denial.since = isGranted ? undefined : (denial.since ?? at)
      return isGranted
    },
    mayBypass() {
      const now = runtime.monotonic()
      const isStuck = denial.since !== undefined && now - denial.since > MAX_DENIAL_MS
      const isFirst = !cache.currentEntry() && !denial.hasBypassed
      if (isStuck) denial.since = now
      if (isFirst) denial.hasBypassed = true
      return isStuck || isFirst
    },
  }
}

export function isFresh(entry: CacheEntry<unknown> | undefined): boolean {
  return entry !== undefined && entry.refreshAt > entry.clock()
}
