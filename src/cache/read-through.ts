import type { Runtime } from '../runtime.ts'
import { UnavailableError, createFlight } from './flight.ts'
import { hold, isFresh, isUsable } from './freshness.ts'
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

/** One value that is loaded when it is needed, kept, and kept fresh. */
export interface ReadThrough<Value> {
  /**
   * The value: at once where one is held, even if overdue. `signal` ends only this caller's waiting.
   *
   * @throws {UnavailableError} where no usable value is held and none can be loaded in 5 s
   */
  get(signal?: AbortSignal): Promise<Reading<Value>>
  /** Loads anew if that is due and no pause after a failure holds it back. Never rejects. */
  refresh(): Promise<void>
  /** Ends the load under way; none is started any more. */
  close(): void
}

/** A read-through of one value: memory, then the store, then one load that all who wait share. */
export function createReadThrough<Value>(options: ReadThroughOptions<Value>): ReadThrough<Value> {
  const { runtime, maxStale, stored } = options
  let held: Held<Value> | undefined
  let restoring: Promise<void> | undefined
  const flight = createFlight(runtime, async (signal) => {
    const loaded = { value: await options.load(signal, held?.value), loadedAt: runtime.now() }
    if (signal.aborted) return
    held = keep(loaded)
    if (stored) inBackground(stored.write(loaded, held.dueAt + maxStale))
  })

  async function get(signal?: AbortSignal): Promise<Reading<Value>> {
    const remembered = fromMemory()
    if (remembered) return remembered
    await waitFor(restore(), signal)
    const restored = fromMemory()
    if (restored) return restored
    await waitFor(flight.join(), signal)
    if (!held) throw new UnavailableError(0, undefined)
    return reading(held, false)
  }

  function fromMemory(): Reading<Value> | undefined {
    if (!held || !isUsable(held, maxStale, runtime)) return undefined
    if (!isFresh(held, runtime) && flight.mayStart()) inBackground(flight.join())
    return reading(held, true)
  }

  function reading({ value, refreshAt }: Held<Value>, hit: boolean): Reading<Value> {
    return { value, hit, ttl: Math.floor((refreshAt - runtime.now()) / 1_000) }
  }

  function keep(loaded: Loaded<Value>): Held<Value> {
    return hold(loaded, options.lifetime(loaded.value), runtime)
  }

  function restore(): Promise<void> {
    restoring ??= (async () => {
      const loaded = await stored?.read()
      if (loaded) held ??= keep(loaded)
    })()
    return restoring
  }

  async function waitFor(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
    try {
      await within(runtime, WAITING_LIMIT, work, signal)
    } catch (error) {
      if (error instanceof UnavailableError) throw error
      throw new UnavailableError(error instanceof TimeoutError ? WAITING_LIMIT : 0, error)
    }
  }

  function inBackground(work: Promise<void>): void {
    // What goes wrong is told where it happens; here it must only not go unhandled.
    const settled = work.catch(() => undefined)
    try {
      options.waitUntil?.(settled)
    } catch {
      // The host takes no more work: then it runs as long as the process does.
    }
  }

  return {
    get,
    async refresh() {
      await restore()
      if (!(held && isFresh(held, runtime))) await flight.join().catch(() => undefined)
    },
    close: flight.close,
  }
}
