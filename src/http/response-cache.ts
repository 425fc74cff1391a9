import type { Job, Limiter } from './limiter.ts'
import type { Representation, RequestContext } from './response.ts'

// Approximate size of a representation without its body.
const ENTRY_OVERHEAD_BYTES = 1_024

interface CachedWork {
  data: object
  key: string
  day: number
  hasWaited: boolean
  /** Called only on a cache miss. */
  isExpensive(): boolean
  make(): Representation | Promise<Representation>
}

export interface ResponseCache {
  find(data: object, key: string, day: number): Representation | undefined
  /**
   * Caches only what was requested recently: responses that never recur would evict each other. A call with other data, or
   * another `day`, clears the cache.
   */
  getOrCreate(data: object, key: string, make: () => Representation, day: number): Representation
  /** @throws {RatesError} `overloaded` */
  getOrCreateLimited(
    work: CachedWork,
    request: RequestContext,
  ): Representation | Promise<Representation>
  bytes(): number
}

export interface ResponseCaches {
  latest: ResponseCache
  /** Conversions at latest rates. */
  conversions: ResponseCache
  /** Periods that end at the newest reference rates. */
  history: ResponseCache
  /** Days and ranges that the client selects. */
  dated: ResponseCache
}

export function createResponseCachePerData(
  capacityOf: (data: object) => number,
  limiter: Limiter,
): ResponseCache {
  const caches = new WeakMap<object, ResponseCache>()
  const created = new Set<WeakRef<ResponseCache>>()
  function cacheOf(data: object): ResponseCache {
    let cache = caches.get(data)
    if (cache) return cache
    cache = createResponseCache(capacityOf(data), limiter)
    caches.set(data, cache)
    created.add(new WeakRef(cache))
    return cache
  }
  return {
    find: (data, ...query) => cacheOf(data).find(data, ...query),
    getOrCreate: (data, ...query) => cacheOf(data).getOrCreate(data, ...query),
    getOrCreateLimited: (work, request) => cacheOf(work.data).getOrCreateLimited(work, request),
    bytes() {
      let bytes = 0
      for (const reference of created) {
        const cache = reference.deref()
        if (cache) bytes += cache.bytes()
        else created.delete(reference)
      }
      return bytes
    },
  }
}

export function createResponseCache(capacity: number, limiter: Limiter): ResponseCache {
  const entries = createBoundedMap<string, Representation>(capacity)
  let [currentData, currentDay]: [object | undefined, number] = [undefined, NaN]
  let jobs = new Map<string, Job<Representation>>()
  const isRepeated = createRepeatFilter()

  function find(data: object, key: string, day: number): Representation | undefined {
    if (data !== currentData || day !== currentDay) {
      entries.clear()
      jobs = new Map()
      currentData = data
      currentDay = day
    }
    const cached = entries.get(key)
    // A reader of a `Response` may have detached the bytes: byte streams transfer their chunks.
    return cached && cached.body.length > 0 ? cached : undefined
  }

  function store(key: string, made: Representation): Representation {
    entries.set(key, made, made.body.length + ENTRY_OVERHEAD_BYTES)
    return made
  }

  return {
    find,
    bytes: entries.total,
    getOrCreate: (data, key, make, day) =>
      find(data, key, day) ?? (isRepeated(key) ? store(key, make()) : make()),
    getOrCreateLimited({ data, key, day, hasWaited, isExpensive, make }, request) {
      const cached = find(data, key, day)
      if (cached) return cached
      const keep = (made: Representation): Representation => {
        // New data may have arrived meanwhile.
        if (data === currentData && day === currentDay) store(key, made)
        return made
      }
      // A synchronous result is not awaited, because a promise takes longer.
      const compute = (): Representation | Promise<Representation> => {
        const made = make()
        return made instanceof Promise ? made.then(keep) : keep(made)
      }
      if (!isExpensive()) return compute()
      return limiter.run(compute, request, { jobs, key, hasWaited })
    },
  }
}

export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined
  /** Stores `value` with the given `size`; does not store a value larger than the capacity. */
  set(key: Key, value: Value, size: number): void
  delete(key: Key): void
  clear(): void
  total(): number
}

interface Entry<Value> {
  value: Value
  size: number
  isUsed: boolean
}

/** Creates a bounded map. Evicts the oldest entry first, but gives an entry that has been read a second chance. */
export function createBoundedMap<Key, Value>(capacity: number): BoundedMap<Key, Value> {
  const entries = new Map<Key, Entry<Value>>()
  let total = 0

  function remove(key: Key): void {
    total -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }

  function makeRoom(size: number): void {
    for (const [key, entry] of entries) {
      if (total + size <= capacity) return
      remove(key)
      if (entry.isUsed) add(key, entry.value, entry.size)
    }
  }

  function add(key: Key, value: Value, size: number): void {
    entries.set(key, { value, size, isUsed: false })
    total += size
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (entry) entry.isUsed = true
      return entry?.value
    },
    set(key, value, size) {
      remove(key)
      if (size > capacity) return
      makeRoom(size)
      add(key, value, size)
    },
    delete: remove,
    total: () => total,
    clear() {
      entries.clear()
      total = 0
    },
  }
}

/** No more than a cache holds: keys that recur only after more others would evict each other before. */
const FILTER_SLOTS = 512

/** Rarely also true for a new key. A cache of only repeated keys is not filled by requests that never recur. */
export function createRepeatFilter(): (key: string) => boolean {
  const seen = new Int32Array(FILTER_SLOTS)
  return (key) => {
    let hash = key.length
    for (let index = 0; index < key.length; index += 1) {
      hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193)
    }
    const slot = hash & (FILTER_SLOTS - 1)
    const isRepeated = seen[slot] === hash
    seen[slot] = hash
    return isRepeated
  }
}
