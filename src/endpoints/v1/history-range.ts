import type { EndpointResult, RequestContext } from '../../http/endpoint.ts'
import type { Representation } from '../../http/representation.ts'
import type { ResponseCache } from '../../http/response-cache.ts'
import { DAY_MS, toDay } from '../../rates/day.ts'
import { rowsOf } from '../../rates/market-history.ts'
import { intervalHistory } from '../../records/history-range.ts'
import type { PairRange } from '../../records/history-range.ts'
import { toHistoryParams } from '../../records/history-selection.ts'
import type { PairHistory } from '../../records/history.ts'
import type { HistorySnapshot } from '../../sources/history-source.ts'
import type { RateSources } from '../../sources/rate-sources.ts'
import type { Format } from '../parameters.ts'
import { daysOf, isExpensive } from './parse-history.ts'
import type { ParsedHistory } from './parse-history.ts'

/** Options of `respondRange`. */
export interface RangeOptions {
  sources: RateSources
  responseCache: ResponseCache
  now: () => number
  /** Returns the writer for a format. */
  formOf(format: Format | undefined): HistoryForm | Promise<HistoryForm>
}

/** Writes histories in one format. */
export interface HistoryForm {
  representHistory(pair: PairHistory | PairRange): Representation
}

/** Responds to a history request with days, an interval or both. */
export async function respondRange(
  { sources, responseCache, now, formOf }: RangeOptions,
  { params: selection, key }: ParsedHistory,
  request: RequestContext,
): Promise<EndpointResult> {
  const params = toHistoryParams(selection)
  const { representHistory } = await formOf(selection.format)
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
    isExpensive: () => isExpensive(daysIn(params, result.value), selection.format),
    make,
  }
  return {
    representation: await responseCache.getOrCreateLimited(work, request),
    freshness: result,
  }
}

function daysIn(
  { period, start, end = '9999-12-31' }: ReturnType<typeof toHistoryParams>,
  { history }: HistorySnapshot,
): number {
  if (start === undefined) return daysOf(period)
  const [first, last] = rowsOf(history, start, end)
  return last - first
}
