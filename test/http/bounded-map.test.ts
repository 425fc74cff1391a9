import { describe, expect, it } from 'vitest'

import { createBoundedMap } from '../../src/http/bounded-map.ts'

/** A map of the letters of `keys`, each with itself as its value, which takes `size`. */
function mapOf(capacity: number, keys: string, size = 10) {
  const map = createBoundedMap<string, string>(capacity)
  for (const key of keys) map.set(key, key, size)
  const valuesOf = (wanted: string) => Array.from(wanted, (key) => map.get(key) ?? '-').join('')
  return { ...map, valuesOf }
}

describe('createBoundedMap()', () => {
  it('keeps what fits, and removes what was added first', () => {
    expect(mapOf(30, 'abcd').valuesOf('abcd')).toBe('-bcd')
  })

  it('keeps what was read meanwhile, once', () => {
    const map = mapOf(30, 'abc')
    map.get('a')
    map.set('d', 'd', 10)
    expect(map.valuesOf('abcd')).toBe('a-cd')
    // All three were read just now: then the oldest is removed.
    map.set('e', 'e', 10)
    expect(map.valuesOf('acde')).toBe('a-de')
  })

  it('never takes more than its capacity', () => {
    const map = createBoundedMap<string, number>(100)
    const sizes = Array.from({ length: 300 }, (_, index) => (index * 37) % 120)
    for (const [index, size] of sizes.entries()) {
      map.set(String(index), size, size)
      if (index % 3 === 0) map.get(String(index - 1))
      const held = sizes.flatMap((_, each) => map.get(String(each)) ?? [])
      expect(held.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(100)
    }
  })

  it('does not count what was set again, deleted or cleared', () => {
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

  it('removes nothing else for what is set again', () => {
    expect(mapOf(20, 'abb').valuesOf('ab')).toBe('ab')
  })

  it('keeps what fills it, but nothing larger, even instead of a smaller value', () => {
    const map = mapOf(20, 'a', 20)
    expect(map.get('a')).toBe('a')
    map.set('a', 'larger', 21)
    expect(map.get('a')).toBeUndefined()
  })

  it('keeps nothing with a capacity of 0', () => {
    expect(mapOf(0, 'a', 1).get('a')).toBeUndefined()
  })
})
