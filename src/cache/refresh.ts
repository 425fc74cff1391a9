import type { Runtime } from '../runtime.ts'
import { FLIGHT_LIMIT } from './flight.ts'
import type { Work } from './flight.ts'
import { freshFor } from './freshness.ts'
import type { Shelf } from './shelf.ts'
import type { Loaded, StoredValue } from './stored-value.ts'
import { TimeoutError, within } from './within.ts'

/** A store looked into less than this long ago, in ms, is not asked again before a load. */
const LOOKED_JUST_NOW = 1_000

/** Whoever has nothing at all looks this often, in ms, and for so long, for what another process is loading. */
const POLL_EVERY = 100
const POLL_FOR = 4_000

/** Whoever was refused a claim for so long, in ms, does without one: no honest claim lasts, and no chain of them should. */
const LONGEST_DENIAL = 6 * 3_600_000

/** What is known when a load begins. */
export interface Known<Value> {
  /** The value before, however old. */
  held: Value | undefined
  /** The same, while it may be answered with. */
  usable: Value | undefined
}

/** What a refresh needs. */
export interface RefreshOptions<Value> {
  runtime: Runtime
  shelf: Shelf<Value>
  stored: StoredValue<Value> | undefined
  /** Gets a new value. */
  load(signal: AbortSignal, known: Known<Value>): Promise<Value>
}

/**
 * The work of one refresh: the store may have what another process has loaded meanwhile; else the one that is granted
 * the claim loads. The others leave it at that while they have something to answer with, and wait for the result while
 * they have nothing: for four seconds, then they load themselves, once.
 */
export function createRefresh<Value>(options: RefreshOptions<Value>): Work {
  const { runtime, shelf, stored, load } = options
  let claimedAt = -Infinity
  let deniedSince: number | undefined
  let hasLoadedUnclaimed = false

  function isFresh(): boolean {
    const usable = shelf.usable()
    return usable !== undefined && freshFor(usable) > 0
  }

  /**
   * Whether the claim of this process still lets it load: for as long as a load takes. Afterwards the next turn may be
   * another process's, so that all of them together are no more eager than one.
   */
  function holdsClaim(): boolean {
    return runtime.monotonic() - claimedAt < FLIGHT_LIMIT
  }

  /** A claim lasts as long as the load may, and through the pause after its failure. */
  async function mayLoad(nextPause: number): Promise<boolean> {
    if (!stored || holdsClaim()) return true
    const duration = Math.max(FLIGHT_LIMIT, nextPause)
    const at = runtime.monotonic()
    const isGranted = await stored.claim(runtime.now() + duration)
    if (isGranted) claimedAt = at
    deniedSince = isGranted ? undefined : (deniedSince ?? at)
    return isGranted
  }

  /** Whether to load without the claim: the first time that there is nothing at all, or when it was refused for hours. */
  function mayDoWithout(): boolean {
    const isStuck = deniedSince !== undefined && runtime.monotonic() - deniedSince > LONGEST_DENIAL
    const isFirst = !shelf.usable() && !hasLoadedUnclaimed
    hasLoadedUnclaimed ||= isFirst
    if (isStuck) deniedSince = runtime.monotonic()
    return isStuck || isFirst
  }

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
    if (isFresh()) {
      deniedSince = undefined
      return 'restored'
    }
    if (!(await mayLoad(nextPause))) {
      if (!shelf.usable() && (await appears(signal))) return 'restored'
      if (!mayDoWithout()) return 'elsewhere'
    }
    signal.throwIfAborted()
    const known = { held: shelf.held()?.value, usable: shelf.usable()?.value }
    const loaded: Loaded<Value> = { value: await load(signal, known), loadedAt: runtime.now() }
    signal.throwIfAborted()
    shelf.put(loaded)
    deniedSince = undefined
    hasLoadedUnclaimed = false
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
