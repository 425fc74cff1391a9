/** A map with a limit on the total size of its entries. */
export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined
  /** Stores `value` with the given `size`; does not store a value larger than the capacity. */
  set(key: Key, value: Value, size: number): void
  delete(key: Key): void
  clear(): void
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
    clear() {
      entries.clear()
      total = 0
    },
  }
}
