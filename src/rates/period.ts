import { addDays, subtractMonths } from './day.ts'
import type { Day } from './day.ts'

/** Length of a history window up to the newest published day, in weeks, months or years. */
export type Period = '1W' | '1M' | '3M' | '6M' | '1Y' | '5Y'

/** All periods, shortest first. */
export const PERIODS: readonly Period[] = ['1W', '1M', '3M', '6M', '1Y', '5Y']

const MONTHS: Record<Exclude<Period, '1W'>, number> = {
  '1M': 1,
  '3M': 3,
  '6M': 6,
  '1Y': 12,
  '5Y': 60,
}

/** Returns the first day of the window of `period` that ends on `end`; the window includes both. */
export function periodStart(end: Day, period: Period): Day {
  return period === '1W' ? addDays(end, -7) : subtractMonths(end, MONTHS[period])
}
