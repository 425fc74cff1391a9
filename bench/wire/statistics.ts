import { median } from '../median.ts'
import type { Sample } from './rounds.ts'

export function medianOf(samples: readonly Sample[], quantity: keyof Sample): number {
  return median(samples.map((sample) => sample[quantity]))
}

/** Returns the median of the ratios of two servers in the same round. */
export function medianRatio(
  one: readonly Sample[],
  other: readonly Sample[],
  quantity: keyof Sample,
): number {
  return median(one.map((sample, round) => sample[quantity] / (other[round]?.[quantity] ?? NaN)))
}
