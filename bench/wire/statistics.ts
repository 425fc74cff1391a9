import { median } from '../median.ts'
import type { Sample } from './rounds.ts'

/** The median of a quantity. */
export function medianOf(samples: readonly Sample[], quantity: keyof Sample): number {
  return median(samples.map((sample) => sample[quantity]))
}

/** The median of the ratios of a quantity of two servers, each of the same round. */
export function medianRatio(
  one: readonly Sample[],
  other: readonly Sample[],
  quantity: keyof Sample,
): number {
  return median(one.map((sample, round) => sample[quantity] / (other[round]?.[quantity] ?? NaN)))
}
