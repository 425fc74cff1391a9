import { callQuietly } from '../call-quietly.ts'
import type { Runtime } from '../runtime.ts'
import { UnavailableError, createFlight } from './flight.ts'
import { freshFor, hold, isUsable } from './freshness.ts'
import type { Held, Lifetime } from './freshness.ts'
import type { Loaded, StoredValue } from './stored-value.ts'
import { TimeoutError, within } from './within.ts'

/** How long whoever asks waits for a load, in ms. */
const WAITING_LIMIT = 5_000

/** A value and how it was come by. */
export interface Reading<Value> {
  value: Value
  /** Whether it was there already; false where this question had to wait for a load. */
  hit: boolean
  /** Whole seconds until the next refresh is due; negative when it is overdue. */
  ttl: number
}

/** What a read-through needs to know of its value. */
export interface ReadThroughOptions<Value> {
  runtime: Runtime
  /** Gets a new value. `held` is the one before, wherever it came from, while it may still be answered with. */
  load(signal: AbortSignal, held: Value | undefined): Promise<Value>
  /** For how long what was loaded needs no refresh. */
  lifetime(loaded: Loaded<Value>): Lifetime
  /** For how many ms past its due time a value may still be answered with. */
  maxStale: number
  /** Where the value is kept beyond this memory. */
  stored: StoredValue<Value> | undefined
  /** Given every promise of work that goes on after an answer. */
  waitUntil: ((work: Promise<unknown>) => void) | undefined
}

/** Whoever asks; `signal`, which is read only when there is something to wait for, ends the waiting. */
export interface Waiter {
  readonly signal?: AbortSignal | undefined
}

/** One value that is loaded when it is needed, kept, and kept fresh. */
export interface ReadThrough<Value> {
  /**
   * The value: at once where one is held, even if overdue.
   *
   * @throws {UnavailableError} where no usable value is held and none can be loaded in 5 s
   */
  get(waiter?: Waiter): Promise<Reading<Value>>
  /** Loads anew if that is due and no pause after a failure holds it back. Never rejects. */
  refresh(): Promise<void>
  /** Ends the load under way; none is started any more. */
  close(): void
}

/** A read-through of one value: memory, then the store, then one load that all who wait share. */
export function createReadThrough<Value>(options: ReadThroughOptions<Value>): ReadThrough<Value> {
  const { runtime, load, lifetime, maxStale, stored, waitUntil } = options
  let held: Held<Value> | undefined
  let restoring: Promise<void> | undefined
  const flight = createFlight(runtime, async (signal) => {
    const loaded = { value: await load(signal, usable()?.value), loadedAt: runtime.now() }
    if (signal.aborted) return
    held = hold(loaded, lifetime(loaded), runtime)
    if (stored) goOn(stored.write(loaded, held.dueAt + maxStale), waitUntil)
  })

  function usable(): Held<Value> | undefined {
    return held && isUsable(held, maxStale) ? held : undefined
  }

  function refreshIfDue(found: Held<Value>): void {
    if (freshFor(found) <= 0 && flight.mayStart()) goOn(flight.join(), waitUntil)
  }

  function restore(): Promise<void> {
    restoring ??= (async () => {
      const loaded = await stored?.read()
      if (loaded) held ??= hold(loaded, lifetime(loaded), runtime)
    })()
    return restoring
  }

  function reading(found: Held<Value>, hit: boolean): Reading<Value> {
    return { value: found.value, hit, ttl: Math.floor(freshFor(found) / 1_000) }
  }

  /** Waits for `work` until 5 s after `askedAt` on the monotonic clock. */
  async function waitFor(
    work: Promise<void>,
    waiter: Waiter | undefined,
    askedAt: number,
  ): Promise<void> {
    const limit = askedAt + WAITING_LIMIT - runtime.monotonic()
    try {
      await within(runtime, limit, work, waiter?.signal)
    } catch (error) {
      if (error instanceof UnavailableError) throw error
      goOn(work, waitUntil)
      throw new UnavailableError(error instanceof TimeoutError ? WAITING_LIMIT : 0, error)
    }
  }

  return {
    async get(waiter) {
      const askedAt = runtime.monotonic()
      if (!usable()) await waitFor(restore(), waiter, askedAt)
      const found = usable()
      if (found) {
        refreshIfDue(found)
        return reading(found, true)
      }
      await waitFor(flight.join(), waiter, askedAt)
      if (!held) throw new UnavailableError(0, new Error('closed while loading'))
      return reading(held, false)
    },
    async refresh() {
      await restore()
      if (!held || freshFor(held) <= 0) await flight.join().catch(() => undefined)
    },
    close: flight.close,
  }
}

/** Lets `work` go on behind an answer. */
function goOn(work: Promise<void>, waitUntil: ReadThroughOptions<never>['waitUntil']): void {
  // What goes wrong is told where it happens; here it must only not go unhandled.
  const settled = work.catch(() => undefined)
  // A host that takes no more work leaves it to run as long as the process does.
  callQuietly(() => waitUntil?.(settled))
}
