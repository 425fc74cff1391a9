import type { Runtime } from '../runtime.ts'
import { hold, isUsable } from './freshness.ts'
import type { Held, Lifetime } from './freshness.ts'
import { goOn } from './go-on.ts'
import type { WaitUntil } from './go-on.ts'
import type { Loaded, StoredValue } from './stored-value.ts'

/** The last instant that a `Date` holds, in ms since the Unix epoch. */
const LAST_INSTANT = 8_640_000_000_000_000

/** What is in memory when a new value comes. */
export interface Known<Value> {
  /** The value before, however old. */
  held: Value | undefined
  /** The same, while it may be answered with. */
  usable: Value | undefined
  /** That as it is held. */
  current: Held<Value> | undefined
}

/** What a shelf needs to know of its value. */
export interface ShelfOptions<Value> {
  runtime: Runtime
  /** For how long what was loaded needs no refresh. */
  lifetime(loaded: Loaded<Value>): Lifetime
  /** When the value was published: a number that never goes back from one value to the next. */
  publishedAt(value: Value): number
  /** Returns what is kept of a value, beside those in memory; throws where it is not to be trusted. */
  judge?(value: Value, known: Known<Value>): Value | Promise<Value>
  /** For how many ms past its due time a value may still be answered with. */
  maxStale: number
  /** Where the value is kept beyond this memory. */
  stored: StoredValue<Value> | undefined
  /** Given every promise of work that goes on after an answer. */
  waitUntil: WaitUntil | undefined
  /** Told of every value that is taken from the store, by when it was loaded, in ms since the Unix epoch. */
  onRestored(loadedAt: number): void
  /** Told when the next refresh is due, in ms since the Unix epoch, whenever that changes. */
  onScheduled(at: number): void
}

/** Where one value is kept: in memory, and behind that in a store. */
export interface Shelf<Value> {
  /** The value in memory, however old. */
  held(): Held<Value> | undefined
  /** The value in memory, while it may be answered with. */
  usable(): Held<Value> | undefined
  /** The same, for what comes after it. */
  known(): Known<Value>
  /**
   * Keeps what was loaded, in memory and in the store, unless something newer is held. Judges it again where the store has
   * brought another value than `before` during the load; rejects as `judge` throws.
   */
  put(loaded: Loaded<Value>, before: Known<Value>): Promise<void>
  /**
   * Looks into the store for something newer, for which it waits 50 ms. `undefined` where there is no store, or it was
   * looked into within the last `gap` ms.
   */
  lookUp(gap: number): Promise<void> | undefined
}

/** A shelf with nothing in memory. */
export function createShelf<Value>(options: ShelfOptions<Value>): Shelf<Value> {
  const { runtime, lifetime, publishedAt, maxStale, stored, waitUntil, onRestored, onScheduled } =
    options
  const { judge = (value: Value) => value } = options
  let held: Held<Value> | undefined
  let looking: Promise<void> | undefined
  let lookedAt = -Infinity

  function keep(loaded: Loaded<Value>): Held<Value> {
    held = hold(loaded, lifetime(loaded), runtime)
    onScheduled(held.refreshAt)
    return held
  }

  function usable(): Held<Value> | undefined {
    return held && isUsable(held, maxStale) ? held : undefined
  }

  function known(): Known<Value> {
    const current = usable()
    return { held: held?.value, usable: current?.value, current }
  }

  function isNewer({ value, loadedAt }: Loaded<Value>): boolean {
    if (!held) return true
    const ahead = publishedAt(value) - publishedAt(held.value)
    // The same publication, found by another process later than by this one, needs no refresh for so much longer.
    return ahead > 0 || (ahead === 0 && loadedAt > held.loadedAt)
  }

  async function adopt(loaded: Loaded<Value>): Promise<void> {
    if (!isNewer(loaded)) return
    const value = await judge(loaded.value, known())
    const judged = { ...loaded, value }
    // Meanwhile another one may have come.
    if (!isNewer(judged)) return
    onRestored(loaded.loadedAt)
    keep(judged)
  }

  return {
    held: () => held,
    usable,
    known,
    async put({ value, loadedAt }, before) {
      const isOlder = (): boolean =>
        held !== undefined && publishedAt(held.value) > publishedAt(value)
      if (isOlder()) return
      const judged = held?.value === before.held ? value : await judge(value, known())
      if (isOlder()) return
      const loaded = { value: judged, loadedAt }
      const { dueAt } = keep(loaded)
      if (stored) goOn(stored.write(loaded, Math.min(dueAt + maxStale, LAST_INSTANT)), waitUntil)
    },
    lookUp(gap) {
      if (looking || !stored) return looking
      if (runtime.monotonic() - lookedAt < gap) return undefined
      lookedAt = runtime.monotonic()
      looking = stored.read(adopt).finally(() => {
        looking = undefined
      })
      return looking
    },
  }
}
