/**
 * A store for fetched rates that outlives one handler and can be shared between processes. A `Map` is one.
 *
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import type { CacheStore } from 'ratesmith'
 *
 * const entries = new Map<string, string>()
 * const store: CacheStore = {
 *   get: (key) => entries.get(key),
 *   set: (key, value) => entries.set(key, value),
 * }
 * const handler = createRatesHandler({ store })
 * ```
 */
export interface CacheStore {
  /** Returns the string last set for `key`, or a promise of it; any other value counts as a miss. */
  get(key: string): unknown
  /** Keeps `value`, which may be evicted after `expiresAt` (ms since the Unix epoch). The handler decides whether it is fresh. */
  set(key: string, value: string, expiresAt: number): unknown
  /**
   * Optional lease: returns true to the one caller that may refresh the value of `key` until `expiresAt` (ms since the Unix
   * epoch), and false to all others until then. A lease is never released; it expires.
   */
  claim?(key: string, expiresAt: number): boolean | Promise<boolean>
}
