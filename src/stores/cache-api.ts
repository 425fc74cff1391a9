import type { CacheStore } from '../cache/store.ts'
import { assertKnownOptions } from '../known-options.ts'
import { resolveStoreOptions } from './store-options.ts'

/** The part of a `Cache` that is used; the real one is assignable to it. */
export interface WebCache {
  /** The response last put for `url`, if there still is one. */
  match(url: string): Promise<{ text(): Promise<string> } | undefined>
  /** Keeps `response`, whose `Cache-Control` says for how long. */
  put(url: string, response: Response): Promise<unknown>
}

/** Options of `createCacheApiStore`. */
export interface CacheApiStoreOptions {
  /** The cache (default `caches.default` where there is one, as in Workers, otherwise `caches.open('ratesmith')`; looked up at each call). */
  cache?: WebCache | undefined
  /** Keys become URLs below this origin, which is never asked for anything (default `https://ratesmith.invalid`). */
  origin?: string | undefined
  /** The clock that the life of an entry is measured by, ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

/**
 * A store in the Web's Cache API, as Workers and Deno have it. In Workers every data centre has a cache of its own, and
 * on `workers.dev` it keeps nothing. It cannot claim.
 *
 * @throws {TypeError} where there is no Cache API, or an option cannot be used
 */
export function createCacheApiStore(options: CacheApiStoreOptions = {}): CacheStore {
  const { cache, origin = 'https://ratesmith.invalid', now } = options
  assertKnownOptions(options, { cache, origin, now })
  const { timeLeft } = resolveStoreOptions({ now })
  requireCache(cache)
  requireOrigin(origin)
  // The text before the key keeps `..` from being a way up.
  const urlOf = (key: string): string => `${origin}/key:${encodeURIComponent(key)}`
  const cacheNow = async (): Promise<WebCache> => cache ?? openCache()
  return {
    async get(key) {
      const response = await (await cacheNow()).match(urlOf(key))
      return response?.text()
    },
    async set(key, value, expiresAt) {
      const maxAge = Math.ceil(timeLeft(expiresAt) / 1_000)
      const headers = { 'Cache-Control': `max-age=${maxAge}` }
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
  throw new TypeError(
    'cache must be a cache with match() and put(): this runtime has none of its own',
  )
}

function requireOrigin(origin: unknown): void {
  const isOrigin =
    typeof origin === 'string' &&
    /^https?:/.test(origin) &&
    URL.canParse(origin) &&
    new URL(origin).origin === origin
  if (!isOrigin) throw new TypeError('origin must be an http(s) origin, without a path')
}
