import { describe, expect, it } from 'vitest'

import { createBoundedMap } from '../../src/http/bounded-map.ts'

describe('createBoundedMap()', () => {
  it('keeps what fits, and lets go what came first', () => {
    const map = createBoundedMap<string, string>(30)
    for (const key of ['a', 'b', 'c', 'd']) map.set(key, key, 10)
    expect(['a', 'b', 'c', 'd'].map(map.get)).toEqual([undefined, 'b', 'c', 'd'])
  })

  it('keeps what was asked for meanwhile, once', () => {
    const map = createBoundedMap<string, string>(30)
    for (const key of ['a', 'b', 'c']) map.set(key, key, 10)
    map.get('a')
    map.set('d', 'd', 10)
    expect(['a', 'b', 'c', 'd'].map(map.get)).toEqual(['a', undefined, 'c', 'd'])
    // All three were asked for just now: then the one that came first goes.
    map.set('e', 'e', 10)
    expect(['a', 'c', 'd', 'e'].map(map.get)).toEqual(['a', undefined, 'd', 'e'])
  })

  it('never takes more than its capacity, and nothing that is larger', () => {
    const map = createBoundedMap<string, number>(100)
    const sizes = Array.from({ length: 300 }, (_, index) => (index * 37) % 120)
    for (const [index, size] of sizes.entries()) {
      map.set(String(index), size, size)
      if (index % 3 === 0) map.get(String(index - 1))
      const held = sizes.flatMap((_, each) => map.get(String(each)) ?? [])
      expect(held.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(100)
    }
  })

  it('counts what is set again, deleted or cleared no longer', () => {
    const map = createBoundedMap<string, string>(30)
    for (let round = 0; round < 10; round += 1) map.set('a', 'a', 20)
    map.set('b', 'b', 10)
    expect(['a', 'b'].map(map.get)).toEqual(['a', 'b'])
    map.delete('a')
    map.delete('nothing')
    map.set('c', 'c', 20)
    expect(['a', 'b', 'c'].map(map.get)).toEqual([undefined, 'b', 'c'])
    map.clear()
    expect(['b', 'c'].map(map.get)).toEqual([undefined, undefined])
    for (const key of ['d', 'e', 'f']) map.set(key, key, 10)
    expect(['b', 'd', 'e', 'f'].map(map.get)).toEqual([undefined, 'd', 'e', 'f'])
  })

  it('lets nothing else go for what is set again', () => {
    const map = createBoundedMap<string, string>(20)
    for (const key of ['a', 'b', 'b']) map.set(key, key, 10)
    expect(['a', 'b'].map(map.get)).toEqual(['a', 'b'])
  })

  it('keeps what fills it, but nothing larger, even in the place of what was there', () => {
    const map = createBoundedMap<string, string>(20)
    map.set('a', 'a', 20)
    expect(map.get('a')).toBe('a')
    map.set('a', 'larger', 21)
    expect(map.get('a')).toBeUndefined()
  })

  it('keeps nothing with a capacity of 0', () => {
    const map = createBoundedMap<string, string>(0)
    map.set('a', 'a', 1)
    expect(map.get('a')).toBeUndefined()
  })
})
