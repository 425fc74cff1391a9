import type { Runtime } from '../runtime.ts'
import { thisMoment, timeSince } from './moment.ts'
import type { Moment } from './moment.ts'
import type { Loaded } from './stored-value.ts'

const MINUTE = 60_000

/** No refresh is due sooner than this after the last one, whatever the source promises. In ms. */
const SHORTEST_LIFE = 10 * MINUTE

/** A refresh waits this much longer than the source asks, so that its users do not all come at once. In ms. */
const LEAST_JITTER = 30_000
const MOST_JITTER = 300_000

/** A value in memory. All instants in ms since the Unix epoch. */
export interface Held<Value> extends Loaded<Value> {
  /** When the source promised something newer, ten minutes after loading at the soonest; `maxStale` counts from here. */
  dueAt: number
  /** When a refresh is due: a little after `dueAt`, but not longer after loading than is allowed. */
  refreshAt: number
  /** When it was taken into this memory. */
  heldSince: Moment
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
  const dueAt = Math.max(nextUpdateAt, loaded.loadedAt + SHORTEST_LIFE)
  const jitter = LEAST_JITTER + runtime.random() * (MOST_JITTER - LEAST_JITTER)
  const refreshAt = Math.min(dueAt + jitter, loaded.loadedAt + longestLife)
  return { ...loaded, dueAt, refreshAt, heldSince: thisMoment(runtime) }
}

/** How long `held` needs no refresh yet, in ms; negative when one is overdue. */
export function freshFor(held: Held<unknown>, runtime: Runtime): number {
  return held.refreshAt - timeSince(held.heldSince, runtime)
}

/** Whether `held` may still be answered with: not overdue by more than `maxStale` ms. */
export function isUsable(held: Held<unknown>, maxStale: number, runtime: Runtime): boolean {
  return timeSince(held.heldSince, runtime) <= held.dueAt + maxStale
}
