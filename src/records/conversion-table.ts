import type { Attribution } from '../providers/provider.ts'
import type { Day } from '../rates/day.ts'
import type { RateTable } from '../rates/rate-table.ts'
import type { CacheResult, RateSources, RequestOptions } from '../sources/rate-sources.ts'
import { assertNotFuture, datedSnapshot, earliestDayFor, requireQuoted } from './dated.ts'
import { requireCode } from './require-code.ts'

/** The rates for a conversion. */
export interface ConversionTable {
  table: RateTable
  attribution: Attribution
  /** Day of the rates; undefined for the latest rates. */
  date: Day | undefined
  /** Returns the upper-case code for `sent` (three letters); throws an error for `parameter` if the table lacks it. */
  requireCode(parameter: string, sent: string): string
}

/** Loads latest rates with `codes`, or the reference rates of `date`; `today` is the current day (UTC). */
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
