import { createBoundedMap } from './bounded-map.ts'
import type { Representation } from './representation.ts'

/** What a representation takes beside its body, about, in bytes. */
const OVERHEAD = 1_024

/** Representations that were made of the data in hand. */
export interface Memory {
  /**
   * What `make` has made for `key` of `data`, on `day` (a number that changes with it) where that matters. With another of
   * either, all that was made before is forgotten.
   */
  recall(data: object, key: string, make: () => Representation, day?: number): Representation
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
export function createMemoryOfEach(capacity: number): Memory {
  const memories = new WeakMap<object, Memory>()
  return {
    recall(data, ...asked) {
      let memory = memories.get(data)
      if (!memory) memories.set(data, (memory = createMemory(capacity)))
      return memory.recall(data, ...asked)
    },
  }
}

/** A memory of `capacity` bytes at most. */
export function createMemory(capacity: number): Memory {
  const held = createBoundedMap<string, Representation>(capacity)
  let [madeOf, madeOn]: [object | undefined, number] = [undefined, NaN]

  return {
    recall(data, key, make, day = 0) {
      if (data !== madeOf || day !== madeOn) held.clear()
      madeOf = data
      madeOn = day
      const known = held.get(key)
      // Whoever reads a `Response` may have taken the bytes away: a stream of bytes does so with what is put into it.
      if (known && known.body.length > 0) return known
      const made = make()
      held.set(key, made, made.body.length + OVERHEAD)
      return made
    },
  }
}
