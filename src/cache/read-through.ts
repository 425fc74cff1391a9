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
  NextPublication,
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
  /** Whole seconds until the next refresh is due; negative when it is overdue, or since a late publication was due. */
  ttl: number
}

export interface ReadThroughOptions<Value>
  extends ValueCacheOptions<Value>, Pick<RefreshOptions<Value>, 'load'> {
  /** Called whenever an overdue value is served, with how long it is overdue in ms. */
  onStale(overdue: number): void
  /** Called once a day (UTC) while `value` is served or refreshed and `next` is late. */
  onLate(value: Value, next: NextPublication): void
  /** Runs a load of `owner` when it is its turn (default at once). */
  schedule?(load: () => Promise<void>, owner: object): Promise<void>
}

export interface ReadThroughState<Value> {
  value: Value | undefined
  /** Whether its refresh is overdue, or the next publication late. */
  stale: boolean
  isLate: boolean
  lastAttempt: Attempt | undefined
  /** When the next request may start a load, in ms since the Unix epoch. */
  nextAttemptAt: number
}

type IsFinal<Value> = (value: Value) => boolean

export interface ReadThrough<Value> {
  /** Returns the cached value, even if overdue. */
  value(): Value | undefined
  /**
   * Returns the cached value, even if overdue: then a refresh starts in the background. Where `isFinal` returns true, newer
   * values have the same of what is requested, so that it is not served as overdue.
   */
  current(isFinal?: IsFinal<Value>): CacheResult<Value> | undefined
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
  const { serve, reportLate } = createServe(options, refreshOverdue)

  async function load(request: RequestOptions | undefined): Promise<CacheResult<Value>> {
    const waitFor = startDeadline(runtime, request, waitUntil)
    await waitFor(cache.readStore(EMPTY_READ_INTERVAL_MS) ?? Promise.resolve())
    const stored = cache.currentEntry()
    if (stored) return serve(stored, true)
    const failure = await waitFor(start(request)).catch((error: unknown) => error)
    // A slow store may have supplied a value meanwhile, even if the load failed.
    const loaded = cache.currentEntry()
    if (loaded) return serve(loaded, false)
    const cause = new Error('another process is refreshing')
    throw failure ?? new UnavailableError(singleFlight.remainingBackoff(), cause)
  }

  function current(isFinal?: IsFinal<Value>): CacheResult<Value> | undefined {
    const found = cache.currentEntry()
    return found && serve(found, true, isFinal)
  }

  return {
    value: () => cache.currentEntry()?.value,
    current,
    get: (request) => current() ?? load(request),
    async refresh(request) {
      if (!isFresh(cache.currentEntry())) await start(request).catch(() => undefined)
      reportLate(cache.currentEntry())
    },
    expire: cache.expire,
    state() {
      const found = cache.currentEntry()
      const left = found ? found.refreshAt - found.clock() : 0
      return {
        value: found?.value,
        stale: found !== undefined && timeLeft(found) <= 0,
        isLate: found !== undefined && isLate(found),
        lastAttempt: singleFlight.lastAttempt(),
        nextAttemptAt: runtime.now() + Math.max(left, singleFlight.remainingBackoff()),
      }
    },
    close: singleFlight.close,
  }
}

function createServe<Value>(
  { onStale, onLate }: ReadThroughOptions<Value>,
  refreshOverdue: () => void,
) {
  let reportedOn: number | undefined

  function reportLate(found: CacheEntry<Value> | undefined): void {
    if (!found || !isLate(found)) return
    const today = Math.floor(found.clock() / DAY_MS)
    if (today !== reportedOn) onLate(found.value, found.next)
    reportedOn = today
  }

  function serve(found: CacheEntry<Value>, hit: boolean, isFinal?: IsFinal<Value>) {
    const { value } = found
    const left = timeLeft(found)
    if (left > 0) return { value, hit, ttl: toTtl(left) }
    const isOverdue = !isFinal?.(value)
    if (isOverdue) onStale(Math.abs(left))
    reportLate(found)
    if (!isFresh(found)) refreshOverdue()
    return { value, hit, ttl: isOverdue ? toTtl(left) : 0 }
  }

  return { serve, reportLate }
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
    schedule && singleFlight.canStart() ? schedule(load, request?.owner ?? {}) : singleFlight.run()
}

/** Returns a function that starts a refresh in the background; during backoff, it reads the store. */
function createOverdueRefresh<Value>(
  { waitUntil }: ReadThroughOptions<Value>,
  {
    cache,
    singleFlight,
    start,
  }: { cache: ValueCache<Value>; singleFlight: SingleFlight; start(): Promise<void> },
): () => void {
  let isScheduled = false
  return () => {
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
  /** Called when a value is served from now on whose `updatedAt` differs from that of the `previous` one. */
  onUpdated(entry: CacheEntry<Value>, previous: number | undefined): void
}

function createValueCache<Value>(options: ValueCacheOptions<Value>): ValueCache<Value> {
  const { runtime, lifetime, publishedAt, maxStale, stored, waitUntil, onRestored, onScheduled } =
    options
  const { onUpdated, validateStored = (value: Value) => value } = options
  let lastEntry: CacheEntry<Value> | undefined

  function keep(loaded: LoadedValue<Value>): CacheEntry<Value> {
    const previous = lastEntry?.updatedAt
    lastEntry = createEntry(loaded, lifetime(loaded), runtime)
    onScheduled(lastEntry.refreshAt)
    if (lastEntry.updatedAt !== previous) onUpdated(lastEntry, previous)
    return lastEntry
  }

  const currentEntry = (): CacheEntry<Value> | undefined =>
    lastEntry && isServable(lastEntry, maxStale) ? lastEntry : undefined

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
      const until = Math.min(keep(loaded).dueAt + maxStale, LAST_INSTANT)
      if (stored) runInBackground(stored.write(loaded, until), waitUntil)
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
const DAY_MS = 24 * 60 * MINUTE_MS

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
  /** When the value was published, in ms since the Unix epoch (default: updates of the value are not reported). */
  updatedAt?: number | undefined
  /** Default: it cannot be late. */
  next?: NextPublication | undefined
}

const NEVER: NextPublication = { due: Infinity, lateAt: Infinity }

export function createEntry<Value>(
  loaded: LoadedValue<Value>,
  { nextUpdateAt, maxLifetime, updatedAt, next = NEVER }: Lifetime,
  runtime: Runtime,
): CacheEntry<Value> {
  const dueAt = Math.max(nextUpdateAt, loaded.loadedAt + MIN_LIFETIME_MS)
  const jitter = MIN_JITTER_MS + runtime.random() * (MAX_JITTER_MS - MIN_JITTER_MS)
  const refreshAt = Math.min(dueAt + jitter, loaded.loadedAt + maxLifetime)
  return { ...loaded, updatedAt, dueAt, refreshAt, next, clock: startSteadyClock(runtime) }
}

/**
 * Returns the time until the refresh of the entry is due, in ms; negative when it is overdue. Once the next publication is
 * late, even if the old one was fetched again, the time since that was due.
 */
export function timeLeft({ refreshAt, next, clock }: CacheEntry<unknown>): number {
  const now = clock()
  return (now >= next.lateAt ? next.due : refreshAt) - now
}

function isLate({ next, clock }: CacheEntry<unknown>): boolean {
  return clock() >= next.lateAt
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
  /** Its loads take turns with those of other owners, where they are scheduled (default an owner for each request). */
  readonly owner?: object | undefined
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
