/** The axis of rates: its ends, and what stands along it. */
export interface RateTicks {
  low: number
  high: number
  labels: { rate: number; label: string }[]
}

/** About how many marks are wanted. */
const TARGET_TICKS = 4

/** Round numbers from below the lowest to above the highest of `rates`, which are positive. */
export function rateTicks(rates: readonly number[]): RateTicks {
  let [low, high] = [Infinity, -Infinity]
  for (const rate of rates) {
    low = Math.min(low, rate)
    high = Math.max(high, rate)
  }
  // A rate that never moves lies in the middle.
  if (low === high) [low, high] = [low * 0.99, high * 1.01]
  const step = roundStep((high - low) / TARGET_TICKS)
  const [first, last] = [Math.floor(low / step), Math.ceil(high / step)]
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9))
  return {
    low: first * step,
    high: last * step,
    labels: Array.from({ length: last - first + 1 }, (_, index) => {
      const rate = (first + index) * step
      return { rate, label: rate.toFixed(Math.min(digits, 20)) }
    }),
  }
}

/** 1, 2 or 5 times a power of ten, and not less than `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  const multiple = [1, 2, 5, 10].find((multiple) => multiple * power >= least * (1 - 1e-9)) ?? 10
  return multiple * power
}
