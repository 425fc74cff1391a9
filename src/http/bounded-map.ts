/** A map whose entries may take so much together and no more. */
export interface BoundedMap<Key, Value> {
  get(key: Key): Value | undefined
  /** Keeps `value`, which takes `size`; a value larger than the whole map is not kept. */
  set(key: Key, value: Value, size: number): void
  delete(key: Key): void
  clear(): void
}

interface Entry<Value> {
  value: Value
  size: number
  /** Whether it was asked for since it was kept, or since it was last to go. */
  isUsed: boolean
}

/** A bounded map: what was kept first goes first, but what was asked for meanwhile is given a second chance. */
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
