import type { EndpointResult, RequestContext } from '../../http/endpoint.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import type { Representation } from '../../http/representation.ts'
import { DAY_MS, toDay } from '../../rates/day.ts'
import { rowsOf } from '../../rates/market-history.ts'
import { toHistoryParams } from '../../records/history-selection.ts'
import { intervalHistory } from '../../records/history-range.ts'
import type { PairRange } from '../../records/history-range.ts'
import type { PairHistory } from '../../records/history.ts'
import type { HistorySnapshot } from '../../sources/history-source.ts'
import type { RateSources } from '../../sources/rate-sources.ts'
import type { Format } from '../parameters.ts'
import { daysOf, isExpensive } from './parse-history.ts'
import type { ParsedHistory } from './parse-history.ts'

/** What a history of days is answered from and with. */
export interface RangeOptions {
  sources: RateSources
  responseCache: ResponseCache
  now: () => number
  /** Returns what writes the format. */
  formOf(format: Format | undefined): HistoryForm | Promise<HistoryForm>
}

/** Something that writes histories. */
export interface HistoryForm {
  representHistory(pair: PairHistory | PairRange): Representation
}

/** Answers a request of days, of intervals or of both. */
export async function respondRange(
  { sources, responseCache, now, formOf }: RangeOptions,
  { params: asked, key }: ParsedHistory,
  request: RequestContext,
): Promise<EndpointResult> {
  const params = toHistoryParams(asked)
  const { representHistory } = await formOf(asked.format)
  const result = await sources.history(request, params.start)
  const instant = now()
  const make = (): Representation =>
    representHistory(intervalHistory(result.value, params, toDay(instant)))
  const day = Math.floor(instant / DAY_MS)
  const work = {
    data: result.value,
    key,
    day,
    hasWaited: !result.hit,
    isExpensive: () => isExpensive(daysIn(params, result.value), asked.format),
    make,
  }
  return {
    representation: await responseCache.getOrCreateLimited(work, request),
    freshness: result,
  }
}

/** How many published days a request is about. */
function daysIn(
  { period, start, end = '9999-12-31' }: ReturnType<typeof toHistoryParams>,
  { history }: HistorySnapshot,
): number {
  if (start === undefined) return daysOf(period)
  const [first, last] = rowsOf(history, start, end)
  return last - first
}
