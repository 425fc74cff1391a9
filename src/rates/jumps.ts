import type { Day } from './day.ts'
import type { MarketHistory } from './market-history.ts'

/** No currency of the reference rates has ever moved by so much between two publications. */
const JUMP = 10

/** Every rate from `start` on that is more than ten times, or less than a tenth, of the one before it: `2026-11-20 JPY`. */
export function findJumps({ dates, columns }: MarketHistory, start: Day): string[] {
  const jumps: string[] = []
  for (const [code, column] of columns) {
    let before = NaN
    for (const [row, rate] of column.entries()) {
      if (Number.isNaN(rate)) continue
      const date = dates[row] ?? ''
      if (date >= start && isJump(rate / before)) jumps.push(`${date} ${code}`)
      before = rate
    }
  }
  return jumps
}

function isJump(ratio: number): boolean {
  return ratio > JUMP || ratio < 1 / JUMP
}
