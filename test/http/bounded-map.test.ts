import { expect, it } from 'vitest'

import { createBoundedMap } from '../../src/http/response-cache.ts'

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
