import { describe, expect, it } from 'vitest'

import { createMemoryStore } from '../../src/stores/memory.ts'
import { itMeetsTheContract } from './meets-contract.ts'

describe('a Map as a store', () => {
  itMeetsTheContract(() => new Map())
})

describe('createMemoryStore()', () => {
  itMeetsTheContract(() => createMemoryStore())

  it('keeps at most maxEntries and evicts the least recently set entry', () => {
    const store = createMemoryStore({ maxEntries: 2 })
    for (const key of ['a', 'b', 'a', 'c']) store.set(key, key, 0)
    expect(['a', 'b', 'c'].map((key) => store.get(key))).toEqual(['a', undefined, 'c'])
  })

  it.each([0, -1, 1.5, NaN])('throws for %d entries', (maxEntries) => {
    const message = new RegExp(`^maxEntries must be .* 1, got ${maxEntries}$`)
    expect(() => createMemoryStore({ maxEntries })).toThrow(message)
    expect(() => createMemoryStore({ maxEntries })).toThrow(TypeError)
  })
})
