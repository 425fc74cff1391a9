import { TimeoutError, runInBackground, withTimeout } from '../async.ts'
import type { Runtime, WaitUntil } from '../async.ts'
import {
  REQUEST_TIMEOUT_MS,
  UnavailableError,
  createRefreshTask,
  createSingleFlight,
  isFresh,
} from './refresh.ts'
import type {
  Attempt,
  CacheEntry,
  CacheState,
  RefreshOptions,
  SingleFlight,
  ValueCache,
} from './refresh.ts'
import type { LoadedValue, StoredValue } from './store.ts'

/** The shortest time between two reads of the store during backoff, in ms: without and with a usable value. */
const EMPTY_READ_INTERVAL_MS = 1_000
const READ_INTERVAL_MS = 10_000

export interface CacheResult<Value> {
  value: Value
  /** Whether the value was cached; false where the request waited for a load. */
  hit: boolean
  /** Whole seconds until the next refresh is due; negative when it is overdue. */
  ttl: number
}

export interface ReadThroughOptions<Value>
  extends ValueCacheOptions<Value>, Pick<RefreshOptions<Value>, 'load'> {
  /** Called whenever an overdue value is served, with how long it is overdue in ms. */
  onStale(overdue: number): void
  /** Runs a load of `client` when it is its turn (default at once). */
  schedule?(load: () => Promise<void>, client: object): Promise<void>
}

export interface ReadThroughState<Value> {
  value: Value | undefined
  stale: boolean
  lastAttempt: Attempt | undefined
  /** When the next request may start a load, in ms since the Unix epoch. */
  nextAttemptAt: number
}

export interface ReadThrough<Value> {
  /** Returns the cached value, even if overdue. */
  value(): Value | undefined
  /** Returns the cached value, even if overdue: then a refresh starts in the background. */
  current(): CacheResult<Value> | undefined
  /**
   * Returns the value: synchronously where one is cached, even if overdue.
   *
   * @throws {UnavailableError} where no usable value is cached and none can be loaded in 5 s
   */
  get(request?: RequestOptions): CacheResult<Value> | Promise<CacheResult<Value>>
  /** Loads the value again if that is due and no backoff is in progress. Never rejects. */
  refresh(request?: RequestOptions): Promise<void>
  /** Makes a refresh of the cached value due, which is served meanwhile. */
  expire(): void
  state(): ReadThroughState<Value>
  /** Aborts the load in progress and starts no others. */
  close(): void
}

/** Creates a read-through of one value: from memory, then the store, then one load that all requests share. */
export function createReadThrough<Value>(options: ReadThroughOptions<Value>): ReadThrough<Value> {
  const { runtime, waitUntil, onScheduled } = options
  const cache = createValueCache(options)
  const task = createRefreshTask({ ...options, cache })
  const onBackoff = (length: number): void => onScheduled(runtime.now() + length)
  const singleFlight = createSingleFlight({ runtime, task, onBackoff })
  const start = createStart(options, cache, singleFlight)
  const refreshOverdue = createOverdueRefresh(options, { cache, singleFlight, start })

  async function load(request: RequestOptions | undefined): Promise<CacheResult<Value>> {
    const waitFor = startDeadline(runtime, request, waitUntil)
    await waitFor(cache.readStore(EMPTY_READ_INTERVAL_MS) ?? Promise.resolve())
    const stored = cache.currentEntry()
    if (stored) return serve(stored)
    const failure = await waitFor(start(request)).catch((error: unknown) => error)
    // A slow store may have supplied a value meanwhile, even if the load failed.
    const loaded = cache.currentEntry()
    if (loaded) return { value: loaded.value, hit: false, ttl: toTtl(timeToRefresh(loaded)) }
    const cause = new Error('another process is refreshing')
    throw failure ?? new UnavailableError(singleFlight.remainingBackoff(), cause)
  }

  function serve(found: CacheEntry<Value>): CacheResult<Value> {
    const left = timeToRefresh(found)
    if (left <= 0) refreshOverdue(Math.abs(left))
    return { value: found.value, hit: true, ttl: toTtl(left) }
  }

  function current(): CacheResult<Value> | undefined {
    const found = cache.currentEntry()
    return found && serve(found)
  }

  return {
    value: () => cache.currentEntry()?.value,
    current,
    get: (request) => current() ?? load(request),
    async refresh(request) {
      if (!isFresh(cache.currentEntry())) await start(request).catch(() => undefined)
    },
    expire: cache.expire,
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

/** Returns a function that starts a load, or joins the one in progress, when it is its turn. */
function createStart<Value>(
  { schedule }: ReadThroughOptions<Value>,
  cache: ValueCache<Value>,
  singleFlight: SingleFlight,
): (request?: RequestOptions) => Promise<void> {
  const load = async (): Promise<void> => {
    if (!isFresh(cache.currentEntry())) await singleFlight.run()
  }
  return async (request) =>
    // A load in progress, or a failure, needs no turn.
    schedule && singleFlight.canStart() ? schedule(load, request?.client ?? {}) : singleFlight.run()
}

/** Returns a function that starts a refresh in the background; during backoff, it reads the store. */
function createOverdueRefresh<Value>(
  { waitUntil, onStale }: ReadThroughOptions<Value>,
  {
    cache,
    singleFlight,
    start,
  }: { cache: ValueCache<Value>; singleFlight: SingleFlight; start(): Promise<void> },
): (by: number) => void {
  let isScheduled = false
  return (by) => {
    onStale(by)
    if (isScheduled) return
    const isInBackoff = singleFlight.remainingBackoff() > 0
    const read = isInBackoff ? cache.readStore(READ_INTERVAL_MS) : undefined
    isScheduled = singleFlight.canStart()
    const work = isScheduled ? start().finally(() => (isScheduled = false)) : read
    if (work) runInBackground(work, waitUntil)
  }
}

function toTtl(left: number): number {
  return Math.floor(left / 1_000)
}

/** The latest instant that a `Date` can represent, in ms since the Unix epoch. */
const LAST_INSTANT = 8_640_000_000_000_000

interface ValueCacheOptions<Value> {
  runtime: Runtime
  lifetime(loaded: LoadedValue<Value>): Lifetime
  /** Returns when the value was published: a number that never decreases from one value to the next. */
  publishedAt(value: Value): number
  /** Returns the part of a stored value that is kept, given those in memory; throws where it is implausible. */
  validateStored?(value: Value, state: CacheState<Value>): Value | Promise<Value>
  /** How long after `dueAt` a value may still be served, in ms. */
  maxStale: number
  stored: StoredValue<Value> | undefined
  waitUntil: WaitUntil | undefined
  /** Called for every value taken from the store, with its load time in ms since the Unix epoch. */
  onRestored(loadedAt: number): void
  /** Called when the time of the next refresh changes, with that time in ms since the Unix epoch. */
  onScheduled(at: number): void
}

function createValueCache<Value>(options: ValueCacheOptions<Value>): ValueCache<Value> {
  const { runtime, lifetime, publishedAt, maxStale, stored, waitUntil, onRestored, onScheduled } =
    options
  const { validateStored = (value: Value) => value } = options
  let lastEntry: CacheEntry<Value> | undefined

  function keep(loaded: LoadedValue<Value>): CacheEntry<Value> {
    lastEntry = createEntry(loaded, lifetime(loaded), runtime)
    onScheduled(lastEntry.refreshAt)
    return lastEntry
  }

  function currentEntry(): CacheEntry<Value> | undefined {
    return lastEntry && isServable(lastEntry, maxStale) ? lastEntry : undefined
  }

  const state = (): CacheState<Value> => {
    const current = currentEntry()
    return { last: lastEntry?.value, current: current?.value, entry: current }
  }

  function isNewer({ value, loadedAt }: LoadedValue<Value>): boolean {
    if (!lastEntry) return true
    const ahead = publishedAt(value) - publishedAt(lastEntry.value)
    // Of two copies of a publication, the copy loaded later stays fresh for longer.
    return ahead > 0 || (ahead === 0 && loadedAt > lastEntry.loadedAt)
  }

  async function adopt(loaded: LoadedValue<Value>): Promise<void> {
    if (!isNewer(loaded)) return
    const value = await validateStored(loaded.value, state())
    const validated = { ...loaded, value }
    // A newer value may have arrived meanwhile.
    if (!isNewer(validated)) return
    onRestored(loaded.loadedAt)
    keep(validated)
  }

  return {
    lastEntry: () => lastEntry,
    currentEntry,
    state,
    async put({ value, loadedAt }, before) {
      const isOlder = (): boolean =>
        lastEntry !== undefined && publishedAt(lastEntry.value) > publishedAt(value)
      if (isOlder()) return
      const validated =
        lastEntry?.value === before.last ? value : await validateStored(value, state())
      if (isOlder()) return
      const loaded = { value: validated, loadedAt }
      const { dueAt } = keep(loaded)
      if (stored)
        runInBackground(stored.write(loaded, Math.min(dueAt + maxStale, LAST_INSTANT)), waitUntil)
    },
    expire: () => void (lastEntry &&= { ...lastEntry, refreshAt: lastEntry.loadedAt }),
    readStore: createStoreReader(options, adopt),
  }
}

function createStoreReader<Value>(
  { runtime, stored }: ValueCacheOptions<Value>,
  adopt: (loaded: LoadedValue<Value>) => Promise<void>,
): ValueCache<Value>['readStore'] {
  let reading: Promise<void> | undefined
  let readAt = -Infinity
  return (interval) => {
    if (reading || !stored) return reading
    if (runtime.monotonic() - readAt < interval) return undefined
    readAt = runtime.monotonic()
    reading = stored.read(adopt).finally(() => {
      reading = undefined
    })
    return reading
  }
}

const MINUTE_MS = 60_000

/** The shortest time between a load and the next refresh, in ms, even if the source announces an earlier update. */
const MIN_LIFETIME_MS = 10 * MINUTE_MS

/** Bounds of the random delay after the announced update, in ms, so that handlers do not all refresh at once. */
const MIN_JITTER_MS = 30_000
const MAX_JITTER_MS = 300_000

export interface Lifetime {
  /** When the source announces the next update, in ms since the Unix epoch. */
  nextUpdateAt: number
  /** The longest time between a load and the next refresh, in ms. */
  maxLifetime: number
}

export function createEntry<Value>(
  loaded: LoadedValue<Value>,
  { nextUpdateAt, maxLifetime }: Lifetime,
  runtime: Runtime,
): CacheEntry<Value> {
  const dueAt = Math.max(nextUpdateAt, loaded.loadedAt + MIN_LIFETIME_MS)
  const jitter = MIN_JITTER_MS + runtime.random() * (MAX_JITTER_MS - MIN_JITTER_MS)
  const refreshAt = Math.min(dueAt + jitter, loaded.loadedAt + maxLifetime)
  return { ...loaded, dueAt, refreshAt, clock: startSteadyClock(runtime) }
}

/** Returns the time until the refresh of the entry is due, in ms; negative when it is overdue. */
export function timeToRefresh({ refreshAt, clock }: CacheEntry<unknown>): number {
  return refreshAt - clock()
}

export function isServable({ dueAt, clock }: CacheEntry<unknown>, maxStale: number): boolean {
  return clock() <= dueAt + maxStale
}

/** When the system clock is set back, advances by the monotonic clock. Stops where the system clock stops, as in a test. */
function startSteadyClock(runtime: Runtime): () => number {
  let last = runtime.now()
  let time = last
  let lastMonotonic = runtime.monotonic()
  return () => {
    const now = runtime.now()
    // Within a millisecond, which is most reads under load, the second clock is not read.
    if (now !== last) {
      const monotonic = runtime.monotonic()
      time += now < last ? monotonic - lastMonotonic : now - last
      last = now
      lastMonotonic = monotonic
    }
    return time
  }
}

/** A request for data. `signal` ends its wait; it is read only when the request has to wait. */
export interface RequestOptions {
  readonly signal?: AbortSignal | undefined
  /** The client whose loads take turns with those of others, where they are scheduled (default one for each request). */
  readonly client?: object | undefined
}

/**
 * Starts the deadline of `request`: 5 s from now, for all work together. The work continues when the deadline passes.
 *
 * The returned function rejects with an `UnavailableError` when the deadline passes, the request is aborted or the work
 * rejects with one.
 */
function startDeadline(
  runtime: Runtime,
  request: RequestOptions | undefined,
  waitUntil: WaitUntil | undefined,
): (work: Promise<void>) => Promise<void> {
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
