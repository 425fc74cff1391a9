import { expect, it } from 'vitest'

import { median, medianInterval } from '../../bench/figures.ts'

/** Returns the numbers from 1 to `count`, in another order. */
function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => ((index * 7) % count) + 1)
}

// Of a table of order statistics for 95 %; of less than six values, the interval is their range.
it.each([
  [1, [1, 1]],
  [2, [1, 2]],
  [5, [1, 5]],
  [6, [1, 6]],
  [8, [1, 8]],
  [9, [2, 8]],
  [11, [2, 10]],
  [15, [4, 12]],
  [20, [6, 15]],
  [25, [8, 18]],
])('the interval of a median of %d values is %j, around it', (count, interval) => {
  expect(medianInterval(upTo(count))).toEqual(interval)
  expect(median(upTo(count))).toBe((1 + count) / 2)
})
