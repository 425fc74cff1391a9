import type { Runtime } from '../runtime.ts'
import type { Loaded } from './stored-value.ts'

const MINUTE = 60_000

/** No refresh is due sooner than this after the last one, whatever the source promises. In ms. */
const SHORTEST_LIFE = 10 * MINUTE

/** A refresh waits this much longer than the source asks, so that its users do not all come at once. In ms. */
const LEAST_JITTER = 30_000
const MOST_JITTER = 300_000

/** A value in memory. All instants in ms since the Unix epoch but where the name says otherwise. */
export interface Held<Value> extends Loaded<Value> {
  /** When the source promised something newer, within bounds; `maxStale` counts from here. */
  dueAt: number
  /** When a refresh is due: a little after `dueAt`. */
  refreshAt: number
  /** The same on the monotonic clock, for when the other one is set back. */
  refreshAtMonotonic: number
}

/** What a source says of the life of its value. */
export interface Lifetime {
  /** When it promises something newer, in ms since the Unix epoch. */
  nextUpdateAt: number
  /** A refresh is due no later than this after the last one, in ms, however far away the promise is. */
  longestLife: number
}

/** Holds `loaded` for as long as `lifetime` says. */
export function hold<Value>(
  loaded: Loaded<Value>,
  { nextUpdateAt, longestLife }: Lifetime,
  runtime: Runtime,
): Held<Value> {
  const soonest = loaded.loadedAt + SHORTEST_LIFE
  const latest = loaded.loadedAt + longestLife
  const dueAt = Math.min(Math.max(nextUpdateAt, soonest), latest)
  const jitter = LEAST_JITTER + runtime.random() * (MOST_JITTER - LEAST_JITTER)
  const refreshAt = Math.min(dueAt + jitter, latest)
  const refreshAtMonotonic = runtime.monotonic() + refreshAt - runtime.now()
  return { ...loaded, dueAt, refreshAt, refreshAtMonotonic }
}

/** Whether `held` needs no refresh yet. */
export function isFresh(held: Held<unknown>, runtime: Runtime): boolean {
  return runtime.now() < held.refreshAt && runtime.monotonic() < held.refreshAtMonotonic
}

/** Whether `held` may still be answered with: not overdue by more than `maxStale` ms. */
export function isUsable(held: Held<unknown>, maxStale: number, runtime: Runtime): boolean {
  return runtime.now() <= held.dueAt + maxStale
}
