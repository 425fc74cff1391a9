/** Where fetched rates are kept beyond one handler's memory. A `Map` is one. */
export interface CacheStore {
  /** The text last set for `key`; anything else counts as a miss. A value or a promise. */
  get(key: string): unknown
  /** Keeps `value`, which may be evicted after `expiresAt` (ms since the Unix epoch). How fresh it is, is not the store's business. */
  set(key: string, value: string, expiresAt: number): unknown
  /** True for the one caller that may refresh `key` until `expiresAt` (ms since the Unix epoch); not asked for yet. */
  claim?(key: string, expiresAt: number): boolean | Promise<boolean>
}
