import type { Runtime } from '../runtime.ts'
import { FLIGHT_LIMIT } from './flight.ts'
import type { Held } from './freshness.ts'
import type { Shelf } from './shelf.ts'
import type { StoredValue } from './stored-value.ts'

/** Whoever was refused a claim for so long, in ms, does without one: no honest claim lasts, and no chain of them should. */
const LONGEST_DENIAL = 6 * 3_600_000

/** What turns are taken for. */
export interface TurnsOptions<Value> {
  runtime: Runtime
  shelf: Shelf<Value>
  stored: StoredValue<Value> | undefined
}

/** Whose turn it is to load, among all processes that share a store. */
export interface Turns {
  /**
   * Whether it is this process's turn: it holds the claim, is granted it, or shares nothing. A claim lasts as long as the
   * load may, and through the pause after its failure, of `nextPause` ms.
   */
  isOurs(nextPause: number): Promise<boolean>
  /** Whether to load out of turn: the first time that there is nothing at all, or after hours of refusals. */
  mayJump(): boolean
}

/** For whatever comes after what is `held`: a new value begins a new wait, wherever it came from. */
interface Wait<Value> {
  held: Held<Value> | undefined
  /** The first refusal after the last turn, by the monotonic clock. */
  deniedSince: number | undefined
  hasJumped: boolean
}

/** The turns of this process. */
export function createTurns<Value>({ runtime, shelf, stored }: TurnsOptions<Value>): Turns {
  let claimedAt = -Infinity
  let wait: Wait<Value> = { held: undefined, deniedSince: undefined, hasJumped: false }

  /**
   * Whether the claim of this process still lets it load: for as long as a load takes. Afterwards the next turn may be
   * another process's, so that all of them together are no more eager than one.
   */
  function holdsClaim(): boolean {
    return runtime.monotonic() - claimedAt < FLIGHT_LIMIT
  }

  return {
    async isOurs(nextPause) {
      if (!stored || holdsClaim()) return true
      const at = runtime.monotonic()
      const held = shelf.held()
      if (wait.held !== held) wait = { held, deniedSince: undefined, hasJumped: false }
      const duration = Math.max(FLIGHT_LIMIT, nextPause)
      const isGranted = await stored.claim(runtime.now() + duration)
      if (isGranted) claimedAt = at
      wait.deniedSince = isGranted ? undefined : (wait.deniedSince ?? at)
      return isGranted
    },
    mayJump() {
      const now = runtime.monotonic()
      const isStuck = wait.deniedSince !== undefined && now - wait.deniedSince > LONGEST_DENIAL
      const isFirst = !shelf.usable() && !wait.hasJumped
      if (isStuck) wait.deniedSince = now
      if (isFirst) wait.hasJumped = true
      return isStuck || isFirst
    },
  }
}
