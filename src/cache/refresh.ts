import type { Runtime } from '../runtime.ts'
import type { Work } from './flight.ts'
import { isFresh } from './freshness.ts'
import type { Known } from './shelf.ts'
import type { Loaded } from './stored-value.ts'
import { createTurns } from './turns.ts'
import type { TurnsOptions } from './turns.ts'
import { TimeoutError, within } from './within.ts'

/** A store looked into less than this long ago, in ms, is not asked again before a load. */
const LOOKED_JUST_NOW = 1_000

/** Whoever has nothing at all looks this often, in ms, and for so long, for what another process is loading. */
const POLL_EVERY = 100
const POLL_FOR = 4_000

/** What a refresh needs. */
export interface RefreshOptions<Value> extends TurnsOptions<Value> {
  /** Gets a new value. */
  load(signal: AbortSignal, known: Known<Value>): Promise<Value>
}

/**
 * The work of one refresh: the store may have what another process has loaded meanwhile; else the one that is granted
 * the claim loads. The others leave it at that while they have something to answer with, and wait for the result while
 * they have nothing: for four seconds, then they load themselves, once.
 */
export function createRefresh<Value>(options: RefreshOptions<Value>): Work {
  const { runtime, shelf, load } = options
  const turns = createTurns(options)

  async function appears(signal: AbortSignal): Promise<boolean> {
    const until = runtime.monotonic() + POLL_FOR
    while (runtime.monotonic() < until) {
      await pause(runtime, POLL_EVERY, signal)
      await shelf.lookUp(0)
      if (shelf.usable()) return true
    }
    return false
  }

  return async (signal, nextPause) => {
    await shelf.lookUp(LOOKED_JUST_NOW)
    if (isFresh(shelf.usable())) return 'restored'
    if (!(await turns.isOurs(nextPause))) {
      if (!shelf.usable() && (await appears(signal))) return 'restored'
      if (!turns.mayJump()) return 'elsewhere'
    }
    signal.throwIfAborted()
    const known = shelf.known()
    const loaded: Loaded<Value> = { value: await load(signal, known), loadedAt: runtime.now() }
    signal.throwIfAborted()
    await shelf.put(loaded, known)
    return 'loaded'
  }
}

/** Resolves after `duration` ms; rejects when `signal` aborts. */
async function pause(runtime: Runtime, duration: number, signal: AbortSignal): Promise<void> {
  const never = new Promise<never>(() => {})
  await within(runtime, duration, never, signal).catch((error: unknown) => {
    if (!(error instanceof TimeoutError)) throw error
  })
}
