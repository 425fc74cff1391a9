import { UnavailableError, createSingleFlight } from './single-flight.ts'
import type { Attempt } from './single-flight.ts'
import { timeToRefresh, isFresh } from './cache-entry.ts'
import type { CacheEntry } from './cache-entry.ts'
import { runInBackground } from './run-in-background.ts'
import { createRefreshTask } from './refresh.ts'
import type { RefreshOptions } from './refresh.ts'
import { createValueCache } from './value-cache.ts'
import type { ValueCacheOptions } from './value-cache.ts'
import { startDeadline } from './deadline.ts'
import type { RequestOptions } from './deadline.ts'

export type { RequestOptions }

/** How often at most the store is looked into while the source is left alone, in ms: without and with a usable value. */
const EMPTY_READ_INTERVAL_MS = 1_000
const READ_INTERVAL_MS = 10_000

/** A value and how it was come by. */
export interface CacheResult<Value> {
  value: Value
  /** Whether it was there already; false where this question had to wait for a load. */
  hit: boolean
  /** Whole seconds until the next refresh is due; negative when it is overdue. */
  ttl: number
}

/** What a read-through needs to know of its value. */
export interface ReadThroughOptions<Value>
  extends ValueCacheOptions<Value>, Pick<RefreshOptions<Value>, 'load'> {
  /** Told of every answer with a value whose refresh is overdue, and by how many ms. */
  onStale(overdue: number): void
}

/** How a read-through stands, without asking anything of anyone. */
export interface ReadThroughState<Value> {
  /** What it would answer with. */
  value: Value | undefined
  /** Whether the refresh of that is overdue. */
  stale: boolean
  lastAttempt: Attempt | undefined
  /** When the source may and will be asked next, given a request; ms since the Unix epoch. */
  nextAttemptAt: number
}

/** One value that is loaded when it is needed, kept, and kept fresh. */
export interface ReadThrough<Value> {
  /**
   * The value: at once, without a promise, where one is held, even if overdue.
   *
   * @throws {UnavailableError} where no usable value is held and none can be loaded in 5 s
   */
  get(request?: RequestOptions): CacheResult<Value> | Promise<CacheResult<Value>>
  /** Loads anew if that is due and no pause after a failure holds it back. Never rejects. */
  refresh(): Promise<void>
  /** How things stand. */
  state(): ReadThroughState<Value>
  /** Ends the load under way; none is started any more. */
  close(): void
}

/** A read-through of one value: memory, then the store, then one load that all who wait share. */
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

  /** What is found in the store, or loaded. */
  async function load(request: RequestOptions | undefined): Promise<CacheResult<Value>> {
    const waitFor = startDeadline(runtime, request, waitUntil)
    await waitFor(cache.readStore(EMPTY_READ_INTERVAL_MS) ?? Promise.resolve())
    const stored = cache.currentEntry()
    if (stored) return serve(stored)
    const failure = await waitFor(singleFlight.run()).catch((error: unknown) => error)
    // A store that is slow may have brought something all the same.
    const loaded = cache.currentEntry()
    if (loaded) return { value: loaded.value, hit: false, ttl: toTtl(timeToRefresh(loaded)) }
    throw (
      failure ??
      new UnavailableError(singleFlight.remainingBackoff(), new Error('another process is at it'))
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
