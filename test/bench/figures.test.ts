import { describe, expect, it } from 'vitest'

import { median, medianInterval } from '../../bench/figures.ts'

/** Returns the numbers from 1 to `count`, in another order. */
function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => ((index * 7) % count) + 1)
}

describe('the interval of a median', () => {
  // Of a table of order statistics for 95 %.
  it.each([
    [6, [1, 6]],
    [8, [1, 8]],
    [9, [2, 8]],
    [11, [2, 10]],
    [15, [4, 12]],
    [20, [6, 15]],
    [25, [8, 18]],
  ])('of %d values lies between two of them: %j', (count, interval) => {
    expect(medianInterval(upTo(count))).toEqual(interval)
  })

  it.each([1, 2, 5])('of %d values is their range', (count) => {
    expect(medianInterval(upTo(count))).toEqual([1, count])
  })

  it('contains the median', () => {
    for (let count = 1; count < 60; count += 1) {
      const [low, high] = medianInterval(upTo(count))
      expect(low).toBeLessThanOrEqual(median(upTo(count)))
      expect(high).toBeGreaterThanOrEqual(median(upTo(count)))
    }
  })
})
