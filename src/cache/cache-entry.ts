import type { Runtime } from '../runtime.ts'
import { startSteadyClock } from './steady-clock.ts'
import type { SteadyClock } from './steady-clock.ts'
import type { LoadedValue } from './stored-value.ts'

const MINUTE_MS = 60_000

/** No refresh is due sooner than this after the last one, whatever the source promises. In ms. */
const MIN_LIFETIME_MS = 10 * MINUTE_MS

/** A refresh waits this much longer than the source asks, so that its users do not all come at once. In ms. */
const MIN_JITTER_MS = 30_000
const MAX_JITTER_MS = 300_000

/** A value in memory. All instants in ms since the Unix epoch. */
export interface CacheEntry<Value> extends LoadedValue<Value> {
  /** When the source promised something newer, ten minutes after loading at the soonest; `maxStale` counts from here. */
  dueAt: number
  /** When a refresh is due: a little after `dueAt`, but not longer after loading than is allowed. */
  refreshAt: number
  /** By which it ages, so that a clock set back makes it no younger. */
  clock: SteadyClock
}

/** What a source says of the life of its value. */
export interface Lifetime {
  /** When it promises something newer, in ms since the Unix epoch. */
  nextUpdateAt: number
  /** A refresh is due no later than this after the last one, in ms, however far away the promise is. */
  maxLifetime: number
}

/** Holds `loaded` for as long as `lifetime` says. */
export function createEntry<Value>(
  loaded: LoadedValue<Value>,
  { nextUpdateAt, maxLifetime: longestLife }: Lifetime,
  runtime: Runtime,
): CacheEntry<Value> {
  const dueAt = Math.max(nextUpdateAt, loaded.loadedAt + MIN_LIFETIME_MS)
  const jitter = MIN_JITTER_MS + runtime.random() * (MAX_JITTER_MS - MIN_JITTER_MS)
  const refreshAt = Math.min(dueAt + jitter, loaded.loadedAt + longestLife)
  return { ...loaded, dueAt, refreshAt, clock: startSteadyClock(runtime) }
}

/** How long `held` needs no refresh yet, in ms; negative when one is overdue. */
export function timeToRefresh({ refreshAt, clock }: CacheEntry<unknown>): number {
  return refreshAt - clock()
}

/** Whether there is something that needs no refresh yet. */
export function isFresh(held: CacheEntry<unknown> | undefined): boolean {
  return held !== undefined && timeToRefresh(held) > 0
}

/** Whether `held` may still be answered with: not overdue by more than `maxStale` ms. */
export function isServable({ dueAt, clock }: CacheEntry<unknown>, maxStale: number): boolean {
  return clock() <= dueAt + maxStale
}
