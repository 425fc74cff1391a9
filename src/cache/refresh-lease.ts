import type { Runtime } from '../runtime.ts'
import { REFRESH_TIMEOUT_MS } from './single-flight.ts'
import type { CacheEntry } from './cache-entry.ts'
import type { ValueCache } from './value-cache.ts'
import type { StoredValue } from './stored-value.ts'

/** Whoever was refused a claim for so long, in ms, does without one: no honest claim lasts, and no chain of them should. */
const MAX_DENIAL_MS = 6 * 3_600_000

/** What turns are taken for. */
export interface LeaseOptions<Value> {
  runtime: Runtime
  cache: ValueCache<Value>
  stored: StoredValue<Value> | undefined
}

/** Whose turn it is to load, among all processes that share a store. */
export interface RefreshLease {
  /**
   * Whether it is this process's turn: it holds the claim, is granted it, or shares nothing. A claim lasts as long as the
   * load may, and through the pause after its failure, of `nextPause` ms.
   */
  tryAcquire(nextPause: number): Promise<boolean>
  /** Whether to load out of turn: the first time that there is nothing at all, or after hours of refusals. */
  mayBypass(): boolean
}

/** For whatever comes after what is `held`: a new value begins a new wait, wherever it came from. */
interface Denial<Value> {
  entry: CacheEntry<Value> | undefined
  /** The first refusal after the last turn, by the monotonic clock. */
  since: number | undefined
  hasBypassed: boolean
}

/** The turns of this process. */
export function createRefreshLease<Value>({
  runtime,
  cache,
  stored,
}: LeaseOptions<Value>): RefreshLease {
  let acquiredAt = -Infinity
  let denial: Denial<Value> = { entry: undefined, since: undefined, hasBypassed: false }

  /**
   * Whether the claim of this process still lets it load: for as long as a load takes. Afterwards the next turn may be
   * another process's, so that all of them together are no more eager than one.
   */
  function isHeld(): boolean {
    return runtime.monotonic() - acquiredAt < REFRESH_TIMEOUT_MS
  }

  return {
    async tryAcquire(nextPause) {
      if (!stored || isHeld()) return true
      const at = runtime.monotonic()
      const entry = cache.lastEntry()
      if (denial.entry !== entry) denial = { entry, since: undefined, hasBypassed: false }
      const duration = Math.max(REFRESH_TIMEOUT_MS, nextPause)
      const isGranted = await stored.tryAcquireLease(runtime.now() + duration)
      if (isGranted) acquiredAt = at
      denial.since = isGranted ? undefined : (denial.since ?? at)
      return isGranted
    },
    mayBypass() {
      const now = runtime.monotonic()
      const isStuck = denial.since !== undefined && now - denial.since > MAX_DENIAL_MS
      const isFirst = !cache.currentEntry() && !denial.hasBypassed
      if (isStuck) denial.since = now
      if (isFirst) denial.hasBypassed = true
      return isStuck || isFirst
    },
  }
}
