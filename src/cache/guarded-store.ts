import type { Runtime } from '../runtime.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import type { CacheStore } from './store.ts'
import { withTimeout } from './with-timeout.ts'

/** No request waits for a write, and a remote store needs more time for it. */
const READ_TIMEOUT_MS = 50
const WRITE_TIMEOUT_MS = 1_000

type StoreOperation = 'get' | 'set' | 'claim'

/** A store that never rejects, with a time limit on every operation. */
export interface GuardedStore {
  /** Passes the stored value to `found`, even if it arrives late; resolves when it has arrived or after 50 ms. */
  get(key: string, found: (value: unknown) => void): Promise<void>
  set(key: string, value: string, expiresAt: number): Promise<void>
  /** Returns whether this process may refresh `key` until `expiresAt`; true also where the store cannot decide. */
  claim(key: string, expiresAt: number): Promise<boolean>
}

/** Called for every failed operation. */
export type OnStoreFailure = (operation: StoreOperation, key: string, error: unknown) => void

/** Guards `store` with a timeout for every operation and a circuit breaker. */
export function guardStore(
  store: CacheStore,
  runtime: Runtime,
  onFailure: OnStoreFailure,
): GuardedStore {
  const breaker = createCircuitBreaker(runtime)

  async function attempt<T>(
    operation: StoreOperation,
    key: string,
    work: Promise<T>,
  ): Promise<T | undefined> {
    const timeout = operation === 'set' ? WRITE_TIMEOUT_MS : READ_TIMEOUT_MS
    try {
      const result = await withTimeout(runtime, timeout, work)
      breaker.recordSuccess()
      return result
    } catch (error) {
      breaker.recordFailure()
      onFailure(operation, key, error)
      return undefined
    }
  }

  return {
    async get(key, found) {
      if (!breaker.isCallAllowed()) return
      await attempt('get', key, settle(() => store.get(key)).then(found))
    },
    async set(key, value, expiresAt) {
      if (!breaker.isCallAllowed()) return
      await attempt(
        'set',
        key,
        settle(() => store.set(key, value, expiresAt)),
      )
    },
    async claim(key, expiresAt) {
      if (!store.claim || !breaker.isCallAllowed()) return true
      const granted = await attempt(
        'claim',
        key,
        settle(() => store.claim?.(key, expiresAt)),
      )
      return granted !== false
    },
  }
}

/** Turns a value, a promise or a throw into a promise. */
async function settle(operation: () => unknown): Promise<unknown> {
  return operation()
}
