import type { Runtime } from '../runtime.ts'
import { startSteadyClock } from './steady-clock.ts'
import type { SteadyClock } from './steady-clock.ts'
import type { LoadedValue } from './stored-value.ts'

const MINUTE_MS = 60_000

/** The shortest time between a load and the next refresh, in ms, even if the source announces an earlier update. */
const MIN_LIFETIME_MS = 10 * MINUTE_MS

/** Bounds of the random delay after the announced update, in ms, so that handlers do not all refresh at once. */
const MIN_JITTER_MS = 30_000
const MAX_JITTER_MS = 300_000

/** A value in memory. All instants in ms since the Unix epoch. */
export interface CacheEntry<Value> extends LoadedValue<Value> {
  /** When the source announced an update, at least ten minutes after loading; `maxStale` counts from here. */
  dueAt: number
  /** When a refresh is due: shortly after `dueAt`, at most `maxLifetime` after loading. */
  refreshAt: number
  /** The clock that measures its age; setting the system clock back does not make the entry younger. */
  clock: SteadyClock
}

/** How long a value stays fresh. */
export interface Lifetime {
  /** When the source announces the next update, in ms since the Unix epoch. */
  nextUpdateAt: number
  /** The longest time between a load and the next refresh, in ms. */
  maxLifetime: number
}

/** Creates the entry of `loaded`, with its refresh scheduled by `lifetime`. */
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

/** Returns whether there is an entry whose refresh is not due yet. */
export function isFresh(entry: CacheEntry<unknown> | undefined): boolean {
  return entry !== undefined && timeToRefresh(entry) > 0
}

/** Returns whether the entry may still be served: overdue by at most `maxStale` ms. */
export function isServable({ dueAt, clock }: CacheEntry<unknown>, maxStale: number): boolean {
  return clock() <= dueAt + maxStale
}
