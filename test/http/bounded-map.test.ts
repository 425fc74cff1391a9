import { describe, expect, it } from 'vitest'

import { createBoundedMap } from '../../src/http/response-cache.ts'

/** Creates a map with every letter of `keys` as key and value, each of the given `size`. */
function mapOf(capacity: number, keys: string, size = 10) {
  const map = createBoundedMap<string, string>(capacity)
  for (const key of keys) map.set(key, key, size)
  const valuesOf = (wanted: string) => Array.from(wanted, (key) => map.get(key) ?? '-').join('')
  return { ...map, valuesOf }
}

describe('createBoundedMap()', () => {
  it.each([
    ['evicts the oldest entry if the capacity is exceeded', 30, 'abcd', '-bcd'],
    ['evicts no other entry when a value is replaced', 20, 'abb', 'abb'],
    ['stores nothing with a capacity of 0', 0, 'a', '-'],
  ])('%s', (_what, capacity, keys, kept) => {
    expect(mapOf(capacity, keys, capacity === 0 ? 1 : 10).valuesOf(keys)).toBe(kept)
  })

  it('spares an entry that has been read, once', () => {
    const map = mapOf(30, 'abc')
    map.get('a')
    map.set('d', 'd', 10)
    expect(map.valuesOf('abcd')).toBe('a-cd')
    // All three entries have been read, so the oldest is evicted.
    map.set('e', 'e', 10)
    expect(map.valuesOf('acde')).toBe('a-de')
  })

  it('never exceeds its capacity', () => {
    const map = createBoundedMap<string, number>(100)
    const sizes = Array.from({ length: 300 }, (_, index) => (index * 37) % 120)
    for (const [index, size] of sizes.entries()) {
      map.set(String(index), size, size)
      if (index % 3 === 0) map.get(String(index - 1))
      const kept = sizes.flatMap((_, each) => map.get(String(each)) ?? [])
      expect(kept.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(100)
    }
  })

  it('does not count replaced, deleted or cleared entries', () => {
    const map = mapOf(30, 'aaaaaaaaaa', 20)
    map.set('b', 'b', 10)
    expect(map.valuesOf('ab')).toBe('ab')
    map.delete('a')
    map.delete('nothing')
    map.set('c', 'c', 20)
    expect(map.valuesOf('abc')).toBe('-bc')
    map.clear()
    expect(map.valuesOf('bc')).toBe('--')
    for (const key of ['d', 'e', 'f']) map.set(key, key, 10)
    expect(map.valuesOf('bdef')).toBe('-def')
  })

  it('stores a value of its capacity, but no larger one, and then drops the previous value', () => {
    const map = mapOf(20, 'a', 20)
    expect(map.get('a')).toBe('a')
    map.set('a', 'larger', 21)
    expect(map.get('a')).toBeUndefined()
  })
})
