import { addDays, toDay, weekdayOf } from './dates.ts'
import { DayRates } from './market-history.ts'
import type { MarketHistory } from './market-history.ts'
import { REFERENCE_CODES } from './rate-table.ts'
import type { RateTable } from './rate-table.ts'

/** A real market may look the same on two days, for example around a holiday. */
export const MIN_EQUAL_DAYS = 3

/** Pegged currencies have equal rates for years, and a few others may by chance. */
const MIN_EQUAL_CODES = 5

/** Publications further apart are not daily ones: at Easter, markets are closed for four days. */
const MAX_DAYS_BETWEEN = 5

const SATURDAY = 6

type PublishedRates = Pick<RateTable, 'base' | 'rates' | 'derived'>

function areEqual(
  { base, rates, derived }: PublishedRates,
  earlier: ReadonlyMap<string, number>,
): boolean {
  const codes = [...rates.keys()].filter((code) => code !== base && !derived?.[code])
  return (
    codes.every((code) => rates.get(code) === earlier.get(code)) &&
    codes.filter((code) => REFERENCE_CODES.has(code)).length >= MIN_EQUAL_CODES
  )
}

/**
 * Returns how many of the newest days of a daily publication in a row have the same published rates, as no market has: at least
 * 1, the newest day itself. Only days with five or more of the European Central Bank's currencies count.
 */
export function countEqualDays(history: MarketHistory): number {
  const { base, dates } = history
  const derived = history.derived?.get(dates.at(-1) ?? '') ?? {}
  const rates = new DayRates(history, dates.length - 1)
  let count = 1
  while (count < dates.length) {
    const earlier = new DayRates(history, dates.length - 1 - count)
    if (!areEqual({ base, rates, derived }, earlier)) break
    count += 1
  }
  return count
}

/**
 * Creates a counter of the tables of one provider. It returns on how many working days in a row the provider has published the
 * same rates (see `countEqualDays`), and 0 for another table of a counted day.
 */
export function createEqualDayCounter(): (table: RateTable) => number {
  let last: { table: RateTable; day: string; count: number } | undefined

  return (table) => {
    const day = toDay(table.updatedAt)
    if (last && day < last.day) return 0
    const isNext = last && day <= addDays(last.day, MAX_DAYS_BETWEEN)
    if (!last || !isNext || !areEqual(table, last.table.rates)) {
      last = { table, day, count: 1 }
      return 1
    }
    // A feed may publish the rates of Friday on Saturday and Sunday, too.
    if (day === last.day || weekdayOf(day) >= SATURDAY) return 0
    last = { table, day, count: last.count + 1 }
    return last.count
  }
}
