import type { Runtime } from '../runtime.ts'
import type { CacheEntry } from './cache-entry.ts'
import { REFRESH_TIMEOUT_MS } from './single-flight.ts'
import type { StoredValue } from './stored-value.ts'
import type { ValueCache } from './value-cache.ts'

/** After being denied for this long, in ms, a process refreshes without a lease: no working lease, or chain of leases, lasts as long. */
const MAX_DENIAL_MS = 6 * 3_600_000

/** Options of `createRefreshLease`. */
export interface LeaseOptions<Value> {
  runtime: Runtime
  cache: ValueCache<Value>
  stored: StoredValue<Value> | undefined
}

/** Lets one of all processes that share a store refresh a value. */
export interface RefreshLease {
  /**
   * Returns whether this process may refresh: it holds the lease, acquires it, or has no store. The lease lasts as long as
   * a refresh may take, and through the backoff after a failure, `nextDelay` ms.
   */
  tryAcquire(nextDelay: number): Promise<boolean>
  /** Returns whether to refresh without a lease: once while nothing is cached, and after hours of denials. */
  mayBypass(): boolean
}

/** Denials since `entry` was cached, `since` by the monotonic clock. Every new value starts a new wait. */
interface Denial<Value> {
  entry: CacheEntry<Value> | undefined
  since: number | undefined
  hasBypassed: boolean
}

/** Creates the lease of this process. */
export function createRefreshLease<Value>({
  runtime,
  cache,
  stored,
}: LeaseOptions<Value>): RefreshLease {
  let acquiredAt = -Infinity
  let denial: Denial<Value> = { entry: undefined, since: undefined, hasBypassed: false }

  // The stored lease may last longer. Afterwards another process may acquire it, so that all processes together refresh
  // no more often than one.
  function isHeld(): boolean {
    return runtime.monotonic() - acquiredAt < REFRESH_TIMEOUT_MS
  }

  return {
    async tryAcquire(nextDelay) {
      if (!stored || isHeld()) return true
      const at = runtime.monotonic()
      const entry = cache.lastEntry()
      if (denial.entry !== entry) denial = { entry, since: undefined, hasBypassed: false }
      const duration = Math.max(REFRESH_TIMEOUT_MS, nextDelay)
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
