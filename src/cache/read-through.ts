import { UnavailableError, createFlight } from './flight.ts'
import type { Attempt } from './flight.ts'
import { freshFor, isFresh } from './freshness.ts'
import type { Held } from './freshness.ts'
import { goOn } from './go-on.ts'
import { createRefresh } from './refresh.ts'
import type { RefreshOptions } from './refresh.ts'
import { createShelf } from './shelf.ts'
import type { ShelfOptions } from './shelf.ts'
import { startWaiting } from './waiting.ts'
import type { Waiter } from './waiting.ts'

export type { Waiter }

/** How often at most the store is looked into while the source is left alone, in ms: without and with a usable value. */
const LOOK_WITHOUT = 1_000
const LOOK_WITH = 10_000

/** A value and how it was come by. */
export interface Reading<Value> {
  value: Value
  /** Whether it was there already; false where this question had to wait for a load. */
  hit: boolean
  /** Whole seconds until the next refresh is due; negative when it is overdue. */
  ttl: number
}

/** What a read-through needs to know of its value. */
export interface ReadThroughOptions<Value>
  extends ShelfOptions<Value>, Pick<RefreshOptions<Value>, 'load'> {
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
  get(waiter?: Waiter): Reading<Value> | Promise<Reading<Value>>
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
  const shelf = createShelf(options)
  const flight = createFlight({
    runtime,
    work: createRefresh({ ...options, shelf }),
    onPause: (length) => onScheduled(runtime.now() + length),
  })

  function refreshOverdue(by: number): void {
    onStale(by)
    const work = flight.mayStart() ? flight.join() : lookUpInPause()
    if (work) goOn(work, waitUntil)
  }

  function lookUpInPause(): Promise<void> | undefined {
    return flight.pause() > 0 ? shelf.lookUp(LOOK_WITH) : undefined
  }

  /** What is found in the store, or loaded. */
  async function fetchFor(waiter: Waiter | undefined): Promise<Reading<Value>> {
    const wait = startWaiting(runtime, waiter, waitUntil)
    await wait(shelf.lookUp(LOOK_WITHOUT) ?? Promise.resolve())
    const stored = shelf.usable()
    if (stored) return answer(stored)
    const failure = await wait(flight.join()).catch((error: unknown) => error)
    // A store that is slow may have brought something all the same.
    const loaded = shelf.usable()
    if (loaded) return { value: loaded.value, hit: false, ttl: toTtl(freshFor(loaded)) }
    throw failure ?? new UnavailableError(flight.pause(), new Error('another process is at it'))
  }

  function answer(found: Held<Value>): Reading<Value> {
    const left = freshFor(found)
    if (left <= 0) refreshOverdue(Math.abs(left))
    return { value: found.value, hit: true, ttl: toTtl(left) }
  }

  return {
    get(waiter) {
      const found = shelf.usable()
      return found ? answer(found) : fetchFor(waiter)
    },
    async refresh() {
      if (!isFresh(shelf.usable())) await flight.join().catch(() => undefined)
    },
    state() {
      const found = shelf.usable()
      const left = found ? freshFor(found) : 0
      return {
        value: found?.value,
        stale: found !== undefined && left <= 0,
        lastAttempt: flight.lastAttempt(),
        nextAttemptAt: runtime.now() + Math.max(left, flight.pause()),
      }
    },
    close: flight.close,
  }
}

function toTtl(left: number): number {
  return Math.floor(left / 1_000)
}
