import type { Runtime } from '../runtime.ts'
import { isFresh } from './cache-entry.ts'
import { createRefreshLease } from './refresh-lease.ts'
import type { LeaseOptions } from './refresh-lease.ts'
import type { RefreshTask } from './single-flight.ts'
import type { LoadedValue } from './stored-value.ts'
import type { CacheState } from './value-cache.ts'
import { TimeoutError, withTimeout } from './with-timeout.ts'

const READ_INTERVAL_MS = 1_000

/** How often, and how long, the store is polled in ms while nothing is cached and another process refreshes. */
const POLL_INTERVAL_MS = 100
const POLL_TIMEOUT_MS = 4_000

/** Options of `createRefreshTask`. */
export interface RefreshOptions<Value> extends LeaseOptions<Value> {
  /** Fetches a new value. */
  load(signal: AbortSignal, before: CacheState<Value>): Promise<Value>
}

/**
 * Creates the work of one refresh. It takes a newer value from the store, where another process has put one; else it
 * loads, if it acquires the lease. Without the lease it delegates to the process that holds it while a value is cached;
 * while none is, it polls the store for four seconds and then loads once without the lease.
 */
export function createRefreshTask<Value>(options: RefreshOptions<Value>): RefreshTask {
  const { runtime, cache, load } = options
  const lease = createRefreshLease(options)

  async function pollStore(signal: AbortSignal): Promise<boolean> {
    const until = runtime.monotonic() + POLL_TIMEOUT_MS
    while (runtime.monotonic() < until) {
      await sleep(runtime, POLL_INTERVAL_MS, signal)
      await cache.readStore(0)
      if (cache.currentEntry()) return true
    }
    return false
  }

  return async (signal, nextDelay) => {
    await cache.readStore(READ_INTERVAL_MS)
    if (isFresh(cache.currentEntry())) return 'restored'
    if (!(await lease.tryAcquire(nextDelay))) {
      if (!cache.currentEntry() && (await pollStore(signal))) return 'restored'
      if (!lease.mayBypass()) return 'delegated'
    }
    signal.throwIfAborted()
    const before = cache.state()
    const loaded: LoadedValue<Value> = {
      value: await load(signal, before),
      loadedAt: runtime.now(),
    }
    signal.throwIfAborted()
    await cache.put(loaded, before)
    return 'loaded'
  }
}

async function sleep(runtime: Runtime, duration: number, signal: AbortSignal): Promise<void> {
  const never = new Promise<never>(() => {})
  await withTimeout(runtime, duration, never, signal).catch((error: unknown) => {
    if (!(error instanceof TimeoutError)) throw error
  })
}
