import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { createBoundedMap } from '../../src/core.ts'
import { openService } from '../fixtures/service.ts'

it('a bounded map never exceeds its capacity, and counts what it has', () => {
  const map = createBoundedMap<number, number>(100)
  for (let step = 0; step < 3_000; step += 1) {
    const [key, size] = [(step * step) % 7, step % 40 === 1 ? 101 : (step * 37) % 30]
    if (step % 500 === 499) map.clear()
    else if (step % 11 === 0) map.delete(key)
    else map.set(key, size, size)
    if (step % 3 === 0) map.get((step * 5) % 7)
    const isKept = size <= 100 && step % 500 !== 499 && step % 11 !== 0
    expect(map.get(key)).toBe(isKept ? size : undefined)
    const kept = Array.from({ length: 7 }, (_, each) => map.get(each) ?? 0)
    expect(kept.reduce((sum, each) => sum + each, 0)).toBe(map.total())
    expect(map.total()).toBeLessThanOrEqual(100)
  }
})

/** Creates a handler, and a function that returns whether a map has an entry for a text, by watching all maps. */
function openWatched() {
  const set = vi.spyOn(Map.prototype, 'set')
  const read = vi.spyOn(Map.prototype, 'get')
  onTestFinished(() => void vi.restoreAllMocks())
  const { get } = openService()
  return {
    get,
    wasKept: (text: string) => set.mock.calls.some(([key]) => key === text),
    isKept: (text: string) =>
      read.mock.calls.some(([key], index) => key === text && read.mock.results[index]?.value),
    forget: () => void read.mockClear(),
  }
}

const ofLength = (length: number, at = 0): string =>
  `symbols=${','.repeat(at)}EUR`.padEnd(length, ',')

describe('a parsed query', () => {
  it.each([
    ['base=EUR', true],
    [ofLength(768), true],
    [ofLength(769), false],
    // Few clients send equal queries of these forms.
    ['base=EUR&_=1', false],
    ['utm_source=1&base=%45UR', false],
    ['base=EUR&access_key=k', false],
  ])('is kept when it is short and has only parameters: %s, %s', async (query, isKept) => {
    const { get, wasKept } = openWatched()
    expect((await get(`/api/v1/latest?${query}`)).status).toBe(200)
    expect(wasKept(query)).toBe(false)
    await get(`/api/v1/latest?${query}`)
    expect(wasKept(query)).toBe(isKept)
  })

  // Each takes 768 characters and 512 bytes of 256 KiB.
  it.each([
    [204, true],
    [205, false],
  ])('evicts the oldest one: with %d, the first is kept: %s', async (count, isFirstKept) => {
    const { get, isKept, forget } = openWatched()
    const queries = Array.from({ length: count }, (_, index) => ofLength(768, index))
    for (const query of queries) {
      for (const _ of [1, 2]) await get(`/api/v1/latest?${query}`)
    }
    forget()
    await get(`/api/v1/latest?${queries[0]}`)
    expect(isKept(queries[0] ?? '')).toBe(isFirstKept)
  })

  it('and a path that the handler does not serve are not kept', async () => {
    const { get, wasKept } = openWatched()
    for (const path of ['/api/v1/none', '/api/v1/latest']) {
      for (const _ of [1, 2]) await get(path)
      expect(wasKept(path)).toBe(path === '/api/v1/latest')
    }
  })
})
