import type { Attribution } from '../providers/provider.ts'
import type { Day } from '../rates/day.ts'
import type { RateTable } from '../rates/rate-table.ts'
import type { RateSources, CacheResult, RequestOptions } from '../sources/rate-sources.ts'
import { datedSnapshot, assertNotFuture, requireQuoted, earliestDayFor } from './dated.ts'
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
export async function loadConversionTable(
  sources: RateSources,
  { codes, date, today }: { codes: readonly string[]; date: Day | undefined; today: Day },
  request?: RequestOptions,
): Promise<CacheResult<ConversionTable>> {
  if (date === undefined) {
    const { value, ...how } = await sources.latest(request, () => codes)
    const { table } = value
    const require = (parameter: string, sent: string): string => requireCode(table, parameter, sent)
    return { ...how, value: { ...value, date, requireCode: require } }
  }
  assertNotFuture(date, today)
  const { value, ...how } = await sources.history(request, earliestDayFor(date))
  const dated = datedSnapshot(value, date, today)
  const require = (parameter: string, sent: string): string =>
    requireQuoted(value, dated, parameter, sent)
  return { ...how, value: { ...dated, requireCode: require } }
}
