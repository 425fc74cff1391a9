import { createBoundedMap } from './bounded-map.ts'
import type { RequestContext } from './endpoint.ts'
import type { Job, Limiter } from './limiter.ts'
import type { Representation } from './representation.ts'

/** What a representation takes beside its body, about, in bytes. */
const OVERHEAD = 1_024

/** A question, and what answers it. */
interface Recalled {
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
export interface Memory {
  /** What there is for `key` of `data` on `day`; as `recall`. */
  find(data: object, key: string, day: number): Representation | undefined
  /**
   * What `make` has made for `key` of `data`, on `day` (a number that changes with it) where that matters. With another of
   * either, all that was made before is forgotten.
   */
  recall(data: object, key: string, make: () => Representation, day?: number): Representation
  /**
   * The same for a representation that may be expensive to make. That is limited, and `request` may encode its body before
   * the next one is made.
   *
   * @throws {RatesError} `overloaded`
   */
  recallExpensive(
    recalled: Recalled,
    request: RequestContext,
  ): Representation | Promise<Representation>
}

/** What has been answered. */
export interface Memories {
  /** From latest rates. */
  latest: Memory
  /** A period back from the newest reference rates. */
  history: Memory
  /** About days that whoever asks has chosen. */
  dated: Memory
}

/** A memory that keeps what was made of some data as long as those are in use, in `capacity` bytes for each of them. */
export function createMemoryOfEach(capacity: number, limiter: Limiter): Memory {
  const memories = new WeakMap<object, Memory>()
  function memoryOf(data: object): Memory {
    let memory = memories.get(data)
    if (!memory) memories.set(data, (memory = createMemory(capacity, limiter)))
    return memory
  }
  return {
    find: (data, ...asked) => memoryOf(data).find(data, ...asked),
    recall: (data, ...asked) => memoryOf(data).recall(data, ...asked),
    recallExpensive: (recalled, request) =>
      memoryOf(recalled.data).recallExpensive(recalled, request),
  }
}

/** A memory of `capacity` bytes at most. */
export function createMemory(capacity: number, limiter: Limiter): Memory {
  const held = createBoundedMap<string, Representation>(capacity)
  let [madeOf, madeOn]: [object | undefined, number] = [undefined, NaN]
  let jobs = new Map<string, Job<Representation>>()

  function find(data: object, key: string, day: number): Representation | undefined {
    if (data !== madeOf || day !== madeOn) {
      held.clear()
      jobs = new Map()
      madeOf = data
      madeOn = day
    }
    const known = held.get(key)
    // Whoever reads a `Response` may have taken the bytes away: a stream of bytes does so with what is put into it.
    return known && known.body.length > 0 ? known : undefined
  }

  function keep(key: string, made: Representation): Representation {
    held.set(key, made, made.body.length + OVERHEAD)
    return made
  }

  return {
    find,
    recall: (data, key, make, day = 0) => find(data, key, day) ?? keep(key, make()),
    recallExpensive({ data, key, day, hasWaited, isExpensive, make }, request) {
      const known = find(data, key, day)
      if (known) return known
      if (!isExpensive()) return keep(key, make())
      const compute = (): Representation | Promise<Representation> => {
        const made = make()
        // There may be other data by now.
        if (data === madeOf && day === madeOn) keep(key, made)
        const encoding = request.encode?.(made)
        return encoding ? encoding.then(() => made) : made
      }
      return limiter.run(compute, request, { jobs, key, hasWaited })
    },
  }
}
