import type { Sample } from './rounds.ts'

/** The middle of some numbers; the mean of the two in the middle where there are as many above as below. */
export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((one, other) => one - other)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]]
  return ((low ?? NaN) + (high ?? NaN)) / 2
}

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
