/** Where fetched rates are kept beyond one handler's memory, so that others have them too. A `Map` is one. */
export interface CacheStore {
  /** The text last set for `key`; anything else counts as a miss. A value or a promise. */
  get(key: string): unknown
  /** Keeps `value`, which may be evicted after `expiresAt` (ms since the Unix epoch). How fresh it is, is not the store's business. */
  set(key: string, value: string, expiresAt: number): unknown
  /**
   * Optional: true for the one caller that may refresh the value of `key` until `expiresAt` (ms since the Unix epoch);
   * false for all others until then. Nobody gives a claim back: it runs out.
   */
  claim?(key: string, expiresAt: number): boolean | Promise<boolean>
}
