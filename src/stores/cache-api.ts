import type { CacheStore } from '../cache/store.ts'
import { assertKnownOptions, resolveStoreOptions } from '../known-options.ts'

/** The methods of a `Cache` that the store calls; a real `Cache` is assignable. */
export interface WebCache {
  /** Resolves to the response last put for `url`; undefined once it has expired. */
  match(url: string): Promise<{ text(): Promise<string> } | undefined>
  /** Stores `response` for the lifetime in its `Cache-Control`. */
  put(url: string, response: Response): Promise<unknown>
}

/** Options of `createCacheApiStore`. */
export interface CacheApiStoreOptions {
  /** The cache (default `caches.default` where it exists, as in Workers, otherwise `caches.open('ratesmith')`; looked up at each call). */
  cache?: WebCache | undefined
  /** Origin of the URLs that the keys become; it is never requested (default `https://ratesmith.invalid`). */
  origin?: string | undefined
  /** Clock for expiry, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

/**
 * Creates a store in the Web Cache API of Workers and Deno. In Workers, every data centre has a separate cache; on
 * `workers.dev`, nothing is stored. The store has no `claim` method.
 *
 * @throws {TypeError} if the runtime has no Cache API, or an option is invalid
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createCacheApiStore } from 'ratesmith/stores/cache-api'
 *
 * const handler = createRatesHandler({ store: createCacheApiStore() })
 * ```
 */
export function createCacheApiStore(options: CacheApiStoreOptions = {}): CacheStore {
  const { cache, origin = 'https://ratesmith.invalid', now } = options
  assertKnownOptions(options, { cache, origin, now })
  const { timeLeft } = resolveStoreOptions({ now })
  requireCache(cache)
  requireOrigin(origin)
  // The prefix keeps the key `..` from leaving the path.
  const urlOf = (key: string): string => `${origin}/key:${encodeURIComponent(key)}`
  const cacheNow = async (): Promise<WebCache> => cache ?? openCache()
  return {
    async get(key) {
      const response = await (await cacheNow()).match(urlOf(key))
      return response?.text()
    },
    async set(key, value, expiresAt) {
      const seconds = Math.ceil(timeLeft(expiresAt) / 1_000)
      const headers = { 'Cache-Control': `max-age=${seconds}` }
      await (await cacheNow()).put(urlOf(key), new Response(value, { headers }))
    },
  }
}

function openCache(): WebCache | Promise<WebCache> {
  const { caches }: { caches: CacheStorage & { default?: WebCache } } = globalThis
  return caches.default ?? caches.open('ratesmith')
}

function requireCache(cache: WebCache | undefined): void {
  if (cache === undefined && typeof globalThis.caches === 'object') return
  if (typeof cache?.match === 'function' && typeof cache.put === 'function') return
  throw new TypeError('cache must be a Cache with match() and put(): this runtime has no Cache API')
}

function requireOrigin(origin: unknown): void {
  const isOrigin =
    typeof origin === 'string' &&
    /^https?:/.test(origin) &&
    URL.canParse(origin) &&
    new URL(origin).origin === origin
  if (!isOrigin) throw new TypeError('origin must be an http(s) origin without a path')
}
