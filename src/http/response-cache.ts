import { createBoundedMap } from './bounded-map.ts'
import type { RequestContext } from './endpoint.ts'
import type { Job, Limiter } from './limiter.ts'
import type { Representation } from './representation.ts'

/** What a representation takes beside its body, about, in bytes. */
const ENTRY_OVERHEAD_BYTES = 1_024

/** A question, and what answers it. */
interface CachedWork {
  /** The data that the representation is made of. */
  data: object
  key: string
  /** The day (a number that changes with it). */
  day: number
  /** Whether the request has waited for the data. */
  hasWaited: boolean
  /** Whether it is expensive to make; called where it must be made. */
  isExpensive(): boolean
  make(): Representation
}

/** Representations that were made of the data in hand. */
export interface ResponseCache {
  /** What there is for `key` of `data` on `day`; as `recall`. */
  find(data: object, key: string, day: number): Representation | undefined
  /**
   * What `make` has made for `key` of `data`, on `day` (a number that changes with it) where that matters. With another of
   * either, all that was made before is forgotten.
   */
  getOrCreate(data: object, key: string, make: () => Representation, day?: number): Representation
  /**
   * The same for a representation that may be expensive to make. That is limited, and `request` may encode its body before
   * the next one is made.
   *
   * @throws {RatesError} `overloaded`
   */
  getOrCreateLimited(
    work: CachedWork,
    request: RequestContext,
  ): Representation | Promise<Representation>
}

/** What has been answered. */
export interface ResponseCaches {
  /** From latest rates. */
  latest: ResponseCache
  /** A period back from the newest reference rates. */
  history: ResponseCache
  /** About days that whoever asks has chosen. */
  dated: ResponseCache
}

/** A memory that keeps what was made of some data as long as those are in use, in `capacity` bytes for each of them. */
export function createResponseCachePerData(capacity: number, limiter: Limiter): ResponseCache {
  const caches = new WeakMap<object, ResponseCache>()
  function cacheOf(data: object): ResponseCache {
    let cache = caches.get(data)
    if (!cache) caches.set(data, (cache = createResponseCache(capacity, limiter)))
    return cache
  }
  return {
    find: (data, ...asked) => cacheOf(data).find(data, ...asked),
    getOrCreate: (data, ...asked) => cacheOf(data).getOrCreate(data, ...asked),
    getOrCreateLimited: (work, request) => cacheOf(work.data).getOrCreateLimited(work, request),
  }
}

/** A memory of `capacity` bytes at most. */
export function createResponseCache(capacity: number, limiter: Limiter): ResponseCache {
  const entries = createBoundedMap<string, Representation>(capacity)
  let [madeOf, madeOn]: [object | undefined, number] = [undefined, NaN]
  let jobs = new Map<string, Job<Representation>>()

  function find(data: object, key: string, day: number): Representation | undefined {
    if (data !== madeOf || day !== madeOn) {
      entries.clear()
      jobs = new Map()
      madeOf = data
      madeOn = day
    }
    const known = entries.get(key)
    // Whoever reads a `Response` may have taken the bytes away: a stream of bytes does so with what is put into it.
    return known && known.body.length > 0 ? known : undefined
  }

  function store(key: string, made: Representation): Representation {
    entries.set(key, made, made.body.length + ENTRY_OVERHEAD_BYTES)
    return made
  }

  return {
    find,
    getOrCreate: (data, key, make, day = 0) => find(data, key, day) ?? store(key, make()),
    getOrCreateLimited({ data, key, day, hasWaited, isExpensive, make }, request) {
      const known = find(data, key, day)
      if (known) return known
      if (!isExpensive()) return store(key, make())
      const compute = (): Representation | Promise<Representation> => {
        const made = make()
        // There may be other data by now.
        if (data === madeOf && day === madeOn) store(key, made)
        const encoding = request.encode?.(made)
        return encoding ? encoding.then(() => made) : made
      }
      return limiter.run(compute, request, { jobs, key, hasWaited })
    },
  }
}
