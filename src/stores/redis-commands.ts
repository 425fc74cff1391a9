import type { CacheStore } from '../cache/store.ts'
import { resolveStoreOptions } from './store-options.ts'
import type { StoreOptions } from './store-options.ts'

/** A store that can claim and that answers with promises. */
export interface ClaimingStore extends CacheStore {
  /** The value last set for `key`, until it expires. */
  get(key: string): Promise<string | undefined>
  /** Keeps `value` until `expiresAt` (ms since the Unix epoch). */
  set(key: string, value: string, expiresAt: number): Promise<void>
  /** Whether the caller is the one who may refresh the value of `key` until `expiresAt` (ms since the Unix epoch). */
  claim(key: string, expiresAt: number): Promise<boolean>
}

/** A store behind anything that carries Redis commands; it sends `GET` and `SET` and no other. */
export function createCommandStore(
  send: (command: 'GET' | 'SET', args: string[]) => Promise<unknown>,
  options: StoreOptions,
): ClaimingStore {
  const { prefix, timeLeft } = resolveStoreOptions(options)
  return {
    async get(key) {
      const answer = await send('GET', [prefix + key])
      return typeof answer === 'string' ? answer : undefined
    },
    async set(key, value, expiresAt) {
      await send('SET', [prefix + key, value, 'PX', String(timeLeft(expiresAt))])
    },
    async claim(key, expiresAt) {
      // Any value will do: nobody gives a claim back, so nobody has to know it for his own.
      const args = [`${prefix}${key}:claim`, '1', 'NX', 'PX', String(timeLeft(expiresAt))]
      return String(await send('SET', args)) === 'OK'
    },
  }
}
