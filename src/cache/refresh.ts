import type { Runtime } from '../runtime.ts'
import type { RefreshTask } from './single-flight.ts'
import { isFresh } from './cache-entry.ts'
import type { CacheState } from './value-cache.ts'
import type { LoadedValue } from './stored-value.ts'
import { createRefreshLease } from './refresh-lease.ts'
import type { LeaseOptions } from './refresh-lease.ts'
import { TimeoutError, withTimeout } from './with-timeout.ts'

/** A store looked into less than this long ago, in ms, is not asked again before a load. */
const READ_INTERVAL_MS = 1_000

/** Whoever has nothing at all looks this often, in ms, and for so long, for what another process is loading. */
const POLL_INTERVAL_MS = 100
const POLL_TIMEOUT_MS = 4_000

/** What a refresh needs. */
export interface RefreshOptions<Value> extends LeaseOptions<Value> {
  /** Gets a new value. */
  load(signal: AbortSignal, before: CacheState<Value>): Promise<Value>
}

/**
 * The work of one refresh: the store may have what another process has loaded meanwhile; else the one that is granted
 * the claim loads. The others leave it at that while they have something to answer with, and wait for the result while
 * they have nothing: for four seconds, then they load themselves, once.
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

/** Resolves after `duration` ms; rejects when `signal` aborts. */
async function sleep(runtime: Runtime, duration: number, signal: AbortSignal): Promise<void> {
  const never = new Promise<never>(() => {})
  await withTimeout(runtime, duration, never, signal).catch((error: unknown) => {
    if (!(error instanceof TimeoutError)) throw error
  })
}
