/** Ends and labels of the axis of rates. */
export interface RateTicks {
  low: number
  high: number
  labels: { rate: number; label: string }[]
}

const TARGET_TICKS = 4

/** Returns round numbers from below the lowest to above the highest of `rates`, which are positive. */
export function rateTicks(rates: readonly number[]): RateTicks {
  let [low, high] = [Infinity, -Infinity]
  for (const rate of rates) {
    low = Math.min(low, rate)
    high = Math.max(high, rate)
  }
  // Places a constant rate in the middle.
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

/** Rounds `min` up to 1, 2 or 5 times a power of ten. */
function roundStep(min: number): number {
  const power = 10 ** Math.floor(Math.log10(min))
  const multiple = [1, 2, 5, 10].find((multiple) => multiple * power >= min * (1 - 1e-9)) ?? 10
  return multiple * power
}
