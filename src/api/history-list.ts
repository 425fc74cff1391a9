import { runInSlices, yieldToEventLoop } from '../async.ts'
import type { Slices } from '../async.ts'
import { invalidParameter } from '../errors.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import type { Day, Interval, Period } from '../rates/dates.ts'
import { MAX_DAYS_AWAY, addDays, toDay } from '../rates/dates.ts'
import { filledSeries, hasRates, valueOfEach } from '../rates/derived-series.ts'
import type { CurrencyCode } from '../rates/iso-4217.ts'
import { INTERVAL_VALUES, pairSeries } from '../rates/series.ts'
import type { IntervalValue } from '../rates/series.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import type { CacheResult, RateSources, RequestOptions } from '../sources/rate-sources.ts'
import type { ByCode } from './convert.ts'
import {
  historyFrame,
  pairHistory,
  pointParams,
  requireStats,
  toHistoryParams,
  toPoints,
} from './history.ts'
import type {
  FilledPoint,
  HistoryListParams,
  HistoryRange,
  OneHistoryParams,
  PairHistory,
  PairRange,
  Point,
  RateHistory,
  SeriesOf,
} from './history.ts'

/** Reference rates of several currency pairs for a period up to the newest published day. */
export interface HistoryList<Series = Record<UppercaseCode, RateHistory>> {
  /** Source currency code. */
  from: UppercaseCode
  /** Length of each history, back from the newest published day. */
  period: Period
  /** Requested interval; absent if none was requested. */
  interval?: Interval | undefined
  /** Requested value of each interval; absent if none was requested. */
  value?: IntervalValue | undefined
  /** `previous` if requested. */
  fill?: 'previous' | undefined
  /** Histories by target currency code, in the order of the request. */
  series: Series
}

/** Reference rates of several currency pairs between two days. */
export interface HistoryRangeList<Series = Record<UppercaseCode, HistoryRange>> {
  /** Source currency code. */
  from: UppercaseCode
  /** First requested day, `YYYY-MM-DD`. */
  start: Day
  /** Last requested day, or the newest published day of any history, `YYYY-MM-DD`. */
  end: Day
  /** Requested interval; absent if none was requested. */
  interval?: Interval | undefined
  /** Requested value of each interval; absent if none was requested. */
  value?: IntervalValue | undefined
  /** `previous` if requested. */
  fill?: 'previous' | undefined
  /** Histories by target currency code, in the order of the request. */
  series: Series
}

/**
 * The response type for `Params`: `RateHistory` or `HistoryRange` for one target, a list of them for an array. With `fill`,
 * the points have `filled`.
 */
export type HistoryResult<Params extends HistoryListParams> = Params extends { start: string }
  ? Params['to'] extends infer To
    ? To extends readonly CurrencyCode[]
      ? HistoryRangeList<ByCode<To, HistoryRange<PointOf<Params>>>>
      : HistoryRange<PointOf<Params>>
    : never
  : Params['to'] extends infer To
    ? To extends readonly CurrencyCode[]
      ? HistoryList<ByCode<To, RateHistory<PointOf<Params>>>>
      : RateHistory<PointOf<Params>>
    : never

/** @internal The points of a history. */
type PointOf<Params> = Params extends { from: unknown; fill?: undefined } ? Point : FilledPoint

export const MAX_HISTORIES = 20

export const FILLS: readonly 'previous'[] = ['previous']

/** @throws {RatesError} `invalid_parameter`, `invalid_currency` */
export function assertListParams({ to, interval = 'day', value, fill }: HistoryListParams): void {
  if (Array.isArray(to) && to.length > MAX_HISTORIES) {
    throw invalidParameter('to', `must have at most ${MAX_HISTORIES} codes`)
  }
  if (value !== undefined && !INTERVAL_VALUES.includes(value)) {
    throw invalidParameter('value', 'must be last, average, open, high or low')
  }
  if (fill !== undefined && !FILLS.includes(fill)) {
    throw invalidParameter('fill', 'must be previous')
  }
  if (interval !== 'day') {
    if (fill) throw invalidParameter('fill', 'needs interval day')
  } else if (value !== undefined && value !== 'last') {
    throw invalidParameter('value', 'needs interval week, month, quarter or year')
  }
}

const derivedSeries: SeriesOf = (
  { history, daysBack = MAX_DAYS_AWAY },
  pair,
  window,
  { interval = 'day', value = 'last', fill },
) =>
  fill
    ? filledSeries(history, pair, window, daysBack)
    : valueOfEach(pairSeries(history, pair, window), interval, value)

/** Returns the parameters of each history, without duplicates. */
export function eachParams({ to, ...others }: HistoryListParams): OneHistoryParams[] {
  const codes = typeof to === 'string' ? [to] : to
  const unique = new Set(codes.map((code) => code.toUpperCase()))
  // The code as it was sent is part of an error.
  return [...unique].map((code) => {
    return { ...others, to: codes.find((sent) => sent.toUpperCase() === code) ?? code }
  })
}

export type FoundHistories = readonly [
  params: OneHistoryParams,
  found: CacheResult<HistorySnapshot>,
][]

/** @throws {RatesError} the first error in the order of `list`, as `pairHistory` does */
export async function findHistories(
  sources: RateSources,
  list: readonly OneHistoryParams[],
  request: RequestOptions | undefined,
  today: Day,
): Promise<FoundHistories> {
  const found = await Promise.allSettled(
    list.map(async (params) => {
      const { from, to, period = '1M', start, end, fill, source } = params
      const since = start === undefined || !fill ? start : addDays(start, -MAX_DAYS_AWAY)
      const need = { since, until: end, period, source, codes: [from, to] }
      return sources.history(need, request, (result) => {
        assertPoints(result.value, params, today)
        return [params, result] as const
      })
    }),
  )
  return found.map((each) => {
    if (each.status === 'rejected') throw each.reason
    const [params, result] = each.value
    return [params, result]
  })
}

/** Throws the error of `pairHistory`, without its work. */
function assertPoints(snapshot: HistorySnapshot, params: OneHistoryParams, today: Day): void {
  const { head, window, start } = historyFrame(snapshot, params, today)
  if (hasRates(snapshot.history, head, window)) return
  const series = derivedSeries(snapshot, head, window, params)
  if (series.rates.length === 0) requireStats(series, head, start)
}

export function* computeHistories<Result>(
  found: FoundHistories,
  today: Day,
  use: (pair: PairHistory | PairRange) => Result,
): Slices<Result[]> {
  const results: Result[] = []
  for (const [params, { value }] of found) {
    if (results.length > 0) yield
    results.push(use(pairHistory(value, params, today, derivedSeries)))
  }
  return results
}

export type ListHead = Omit<HistoryList, 'series'> | Omit<HistoryRangeList, 'series'>

export function listHead(found: FoundHistories, today: Day): ListHead {
  const heads = found.map(([params, { value }]) => historyFrame(value, params, today).head)
  const [first] = heads
  if (!first) throw new Error('a list of histories is empty')
  const { from } = first
  const points = pointParams(first)
  if ('period' in first) return { from, period: first.period, ...points }
  const ends = heads.map((head) => ('end' in head ? head.end : ''))
  return { from, start: first.start, end: ends.toSorted().at(-1) ?? '', ...points }
}

/** @throws {RatesError} as `assertHistoryParams`, `assertListParams`, `toHistoryParams` and `pairHistory` do */
export async function derivedHistory(
  sources: RateSources,
  params: HistoryListParams,
  now: () => number,
): Promise<HistoryResult<HistoryListParams>> {
  assertListParams(params)
  const selection = toHistoryParams(params)
  const today = toDay(now())
  const found = await findHistories(sources, eachParams(selection), undefined, today)
  const records = await runInSlices(computeHistories(found, today, toPoints), yieldToEventLoop)
  const [first] = records
  if (typeof params.to === 'string' && first) return first
  const head = listHead(found, today)
  return 'period' in head
    ? { ...head, series: byCode(records.filter((record) => 'period' in record)) }
    : { ...head, series: byCode(records.filter((record) => 'start' in record)) }
}

function byCode<Each extends { to: string }>(records: readonly Each[]): Record<string, Each> {
  return Object.fromEntries(records.map((record) => [record.to, record]))
}
