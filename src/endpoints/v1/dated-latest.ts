import type { EndpointResult } from '../../http/endpoint.ts'
import { bodyHeaders, represent } from '../../http/representation.ts'
import type { Representation } from '../../http/representation.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import { DAY_MS, toDay } from '../../rates/day.ts'
import { toDatedRates } from '../../records/dated-latest.ts'
import type { DatedRates } from '../../records/dated-latest.ts'
import { assertNotFuture, earliestDayFor } from '../../records/dated.ts'
import type { RateSources, RequestOptions } from '../../sources/rate-sources.ts'
import type { ParsedDatedQuery } from '../table-endpoint.ts'

const json = {
  representTable(record: DatedRates, lastModified: number): Representation {
    return represent(JSON.stringify(record), bodyHeaders({ lifetime: 'minute', lastModified }))
  },
}

/** Responds with the rates of an earlier day. */
export async function respondDated(
  {
    sources,
    responseCache,
    now,
  }: { sources: RateSources; responseCache: ResponseCache; now: () => number },
  { params, key, date }: ParsedDatedQuery,
  request: RequestOptions,
): Promise<EndpointResult> {
  const instant = now()
  const today = toDay(instant)
  assertNotFuture(date, today)
  const { representTable } = params.format === 'csv' ? await import('../csv.ts') : json
  const result = await sources.history(request, earliestDayFor(date))
  const make = (): Representation => {
    const record = toDatedRates(result.value, { ...params, date }, today)
    return representTable(record, Math.min(record.updatedAt, instant))
  }
  const day = Math.floor(instant / DAY_MS)
  return {
    representation: responseCache.getOrCreate(result.value, key, make, day),
    freshness: result,
  }
}
