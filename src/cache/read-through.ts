import type { Runtime } from '../runtime.ts'
import { UnavailableError, createFlight } from './flight.ts'
import { hold, isFresh, isUsable } from './freshness.ts'
import type { Held, Lifetime } from './freshness.ts'
import type { StoredValue } from './stored-value.ts'
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
  /** Gets a new value. `held` is the one before, wherever it came from. */
  load(signal: AbortSignal, held: Value | undefined): Promise<Value>
  /** For how long `value` needs no refresh. */
  lifetime(value: Value): Lifetime
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
    const loaded = { value: await load(signal, held?.value), loadedAt: runtime.now() }
    if (signal.aborted) return
    held = hold(loaded, lifetime(loaded.value), runtime)
    if (stored) goOn(stored.write(loaded, held.dueAt + maxStale), waitUntil)
  })

  function usable(): Held<Value> | undefined {
    return held && isUsable(held, maxStale, runtime) ? held : undefined
  }

  function refreshIfDue(found: Held<Value>): void {
    if (!isFresh(found, runtime) && flight.mayStart()) goOn(flight.join(), waitUntil)
  }

  function restore(): Promise<void> {
    restoring ??= (async () => {
      const loaded = await stored?.read()
      if (loaded) held ??= hold(loaded, lifetime(loaded.value), runtime)
    })()
    return restoring
  }

  function reading({ value, refreshAt }: Held<Value>, hit: boolean): Reading<Value> {
    return { value, hit, ttl: Math.floor((refreshAt - runtime.now()) / 1_000) }
  }

  return {
    async get(waiter) {
      if (!usable()) await waitFor(restore(), waiter, runtime)
      const found = usable()
      if (found) {
        refreshIfDue(found)
        return reading(found, true)
      }
      await waitFor(flight.join(), waiter, runtime)
      if (!held) throw new UnavailableError(0, new Error('closed while loading'))
      return reading(held, false)
    },
    async refresh() {
      await restore()
      if (!(held && isFresh(held, runtime))) await flight.join().catch(() => undefined)
    },
    close: flight.close,
  }
}

/** Waits for `work` as long as anybody does for a load. */
async function waitFor(
  work: Promise<void>,
  waiter: Waiter | undefined,
  runtime: Runtime,
): Promise<void> {
  try {
    await within(runtime, WAITING_LIMIT, work, waiter?.signal)
  } catch (error) {
    if (error instanceof UnavailableError) throw error
    throw new UnavailableError(error instanceof TimeoutError ? WAITING_LIMIT : 0, error)
  }
}

/** Lets `work` go on behind an answer. */
function goOn(work: Promise<void>, waitUntil: ReadThroughOptions<never>['waitUntil']): void {
  // What goes wrong is told where it happens; here it must only not go unhandled.
  const settled = work.catch(() => undefined)
  try {
    waitUntil?.(settled)
  } catch {
    // The host takes no more work: then it runs as long as the process does.
  }
}
