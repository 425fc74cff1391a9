import type { CacheStore } from '../cache/store.ts'
import { requireFunctions, resolveStoreOptions } from '../known-options.ts'
import type { StoreOptions } from '../known-options.ts'

export type { StoreOptions } from '../known-options.ts'

/** The methods of a `Storage` of unstorage that the store calls; a real `Storage` is assignable. */
export interface UnstorageClient {
  /** Resolves to the value last set for `key`, parsed if it looks like JSON; null without one. */
  getItem(key: string): Promise<unknown>
  /** Stores `value`, for `ttl` seconds if the driver can expire values. */
  setItem(key: string, value: string, options: { ttl: number }): Promise<unknown>
}

/** Keeps values from looking like JSON, which unstorage and some drivers would parse. */
const MARK = '='

/** The longest part of a key: file systems allow names of 255 bytes. */
const LONG_PART = /.{200}(?=.)/g

/**
 * Creates a store in a storage of unstorage, such as one in S3, R2, Azure or MongoDB. The store has no `claim` method: when
 * rates become due, several processes may send an upstream request at the same time.
 *
 * Every key becomes a name such as `rates.v1.latest`, of lower-case letters, digits, `-`, `_` and `.`: unstorage would change
 * others, and some drivers ignore the case. Values expire only if the driver can expire them.
 *
 * @throws {TypeError} if `storage` has no `getItem` and `setItem` methods, or an option is invalid
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createUnstorageStore } from 'ratesmith/stores/unstorage'
 * import { createStorage } from 'unstorage'
 * import r2 from 'unstorage/drivers/cloudflare-r2-binding'
 *
 * const storage = createStorage({ driver: r2({ binding: 'RATES' }) })
 * const handler = createRatesHandler({ store: createUnstorageStore(storage) })
 * ```
 */
export function createUnstorageStore(
  storage: UnstorageClient,
  options: StoreOptions = {},
): CacheStore {
  const { prefix, timeLeft } = resolveStoreOptions(options)
  const methods = { 'storage.getItem': storage?.getItem, 'storage.setItem': storage?.setItem }
  requireFunctions(methods, true)
  const writes = new Map<string, Promise<unknown>>()
  return {
    async get(key) {
      const found = await storage.getItem(itemKey(prefix + key))
      // The drivers for files return the error of a file that they cannot read.
      if (found instanceof Error) throw found
      return typeof found === 'string' ? found.slice(MARK.length) : found
    },
    set(key, value, expiresAt) {
      const item = itemKey(prefix + key)
      const ttl = Math.ceil(timeLeft(expiresAt) / 1_000)
      // One after another for each item: the drivers for files mix writes that overlap.
      const earlier = writes.get(item) ?? Promise.resolve()
      const written = earlier.then(() => storage.setItem(item, MARK + value, { ttl }))
      const done = written
        .catch(() => undefined)
        .then(() => void (writes.get(item) === done && writes.delete(item)))
      writes.set(item, done)
      return written
    },
  }
}

/** Two keys never have the same item: every character can be read back. A `+` ends only the parts of long keys. */
function itemKey(key: string): string {
  const toCode = (char: string): string => `_${char.charCodeAt(0).toString(16)}_`
  // No dot at the end: unstorage refuses the names `.` and `..`, and Windows drops it.
  const safe = key.replace(/:(?![a-z0-9])|[^a-z0-9:-]/g, toCode).replaceAll(':', '.')
  return safe.replace(LONG_PART, '$&+:')
}
