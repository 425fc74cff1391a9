import type { CacheStore } from '../cache/store.ts'
import { resolveStoreOptions } from './store-options.ts'
import type { StoreOptions } from './store-options.ts'

/** An asynchronous store with a `claim` method. */
export interface ClaimingStore extends CacheStore {
  /** Resolves to the value last set for `key`; undefined once it has expired. */
  get(key: string): Promise<string | undefined>
  /** Stores `value` until `expiresAt` (ms since the Unix epoch). */
  set(key: string, value: string, expiresAt: number): Promise<void>
  /** Resolves to true for exactly one caller, which may refresh the value of `key` until `expiresAt` (ms since the Unix epoch). */
  claim(key: string, expiresAt: number): Promise<boolean>
}

/** Creates a store on top of `send`, which transports Redis commands: only `GET` and `SET`. */
export function createCommandStore(
  send: (command: 'GET' | 'SET', args: string[]) => Promise<unknown>,
  options: StoreOptions,
): ClaimingStore {
  const { prefix, timeLeft } = resolveStoreOptions(options)
  return {
    async get(key) {
      const value = await send('GET', [prefix + key])
      return typeof value === 'string' ? value : undefined
    },
    async set(key, value, expiresAt) {
      await send('SET', [prefix + key, value, 'PX', String(timeLeft(expiresAt))])
    },
    async claim(key, expiresAt) {
      // The value does not matter: claims expire and are never released.
      const args = [`${prefix}${key}:claim`, '1', 'NX', 'PX', String(timeLeft(expiresAt))]
      return String(await send('SET', args)) === 'OK'
    },
  }
}
