import type { Runtime } from '../runtime.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import type { CacheStore } from './store.ts'
import { withTimeout } from './with-timeout.ts'

/** What somebody may be waiting for counts as failed after this long, in ms. */
const READ_TIMEOUT_MS = 50

/** Nobody waits for a write, and a store far away needs its time. In ms. */
const WRITE_TIMEOUT_MS = 1_000

/** The operations of a store. */
type StoreOperation = 'get' | 'set' | 'claim'

/** A store whose trouble stays its own: nothing rejects, and nobody waits longer than 50 ms for an answer. */
export interface GuardedStore {
  /** Gives what is stored to `found`, even if it comes late; resolves when it has come or is not waited for any more. */
  get(key: string, found: (value: unknown) => void): Promise<void>
  set(key: string, value: string, expiresAt: number): Promise<void>
  /** Whether this caller may refresh `key` until `expiresAt`: true too where the store cannot say. */
  claim(key: string, expiresAt: number): Promise<boolean>
}

/** Told of every operation that failed. */
export type OnStoreFailure = (operation: StoreOperation, key: string, error: unknown) => void

/** Guards `store` with a time limit for every operation and a rest after five failures in a row. */
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
    const limit = operation === 'set' ? WRITE_TIMEOUT_MS : READ_TIMEOUT_MS
    try {
      const result = await withTimeout(runtime, limit, work)
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

/** The result of `operation`, which may be a value, a promise or a throw. */
async function settle(operation: () => unknown): Promise<unknown> {
  return operation()
}
