import type { Attribution } from '../providers/provider.ts'
import type { Day } from '../rates/day.ts'
import type { RateTable } from '../rates/rate-table.ts'
import type { RateSources, Reading, Waiter } from '../sources/sources.ts'
import { datedSnapshot, refuseFuture, requireQuoted, sinceOf } from './dated.ts'
import { requireCode } from './require-code.ts'

/** A table to convert at. */
export interface ConversionTable {
  table: RateTable
  attribution: Attribution
  /** The day of its rates; undefined where they are the latest. */
  date: Day | undefined
  /** The code that `sent`, three letters in either case, means in it; throws where it lacks that, naming `parameter`. */
  requireCode(parameter: string, sent: string): string
}

/** The table of latest rates that has `codes`, or that of the reference rates of `date`. On the day `today` (UTC). */
export async function readConversionTable(
  sources: RateSources,
  { codes, date, today }: { codes: readonly string[]; date: Day | undefined; today: Day },
  waiter?: Waiter,
): Promise<Reading<ConversionTable>> {
  if (date === undefined) {
    const { value, ...how } = await sources.latest(waiter, () => codes)
    const { table } = value
    const require = (parameter: string, sent: string): string => requireCode(table, parameter, sent)
    return { ...how, value: { ...value, date, requireCode: require } }
  }
  refuseFuture(date, today)
  const { value, ...how } = await sources.history(waiter, sinceOf(date))
  const dated = datedSnapshot(value, date, today)
  const require = (parameter: string, sent: string): string =>
    requireQuoted(value, dated, parameter, sent)
  return { ...how, value: { ...dated, requireCode: require } }
}
