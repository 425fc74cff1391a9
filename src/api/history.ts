import { runInSlices, yieldToEventLoop } from '../async.ts'
import type { Slices } from '../async.ts'
import { RatesError } from '../errors.ts'
import { findRedenomination } from '../rates/currency-code.ts'
import type { Redenomination, UppercaseCode } from '../rates/currency-code.ts'
import { MAX_DAYS_AWAY, addDays, periodStart, toDay } from '../rates/dates.ts'
import type { Day, Interval, Period } from '../rates/dates.ts'
import { filledSeries, hasRates, valueOfEach } from '../rates/derived-series.ts'
import type { CurrencyCode } from '../rates/iso-4217.ts'
import {
  commonDays,
  coveredCodes,
  derivationIn,
  isCovered,
  newestDay,
  rowByRule,
} from '../rates/market-history.ts'
import type { Derivation, Rate } from '../rates/rate-table.ts'
import { dayAt, historyStats, pairSeries } from '../rates/series.ts'
import type { HistoryStats, IntervalValue, PairSeries } from '../rates/series.ts'
import type { HistorySnapshot } from '../sources/history.ts'
import type {
  CacheResult,
  HistoryNeed,
  RateSources,
  RequestOptions,
} from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import type { ByCode } from './convert.ts'
import {
  requireEverQuoted,
  sourceOf,
  toSource,
  unsupportedCurrency,
  withdrawalHint,
} from './resolve-code.ts'
import type { AnyHistoryParams, Targets } from './parameter-types.ts'

/** Rate of a currency pair on one day. */
export interface Point {
  /** Date, `YYYY-MM-DD`. */
  d: Day
  /** Units of `to` per unit of `from`. */
  r: Rate
  /** True if the rate was published on an earlier day; otherwise absent. */
  filled?: true
}

/** What a history, of one pair or several, repeats of its request. */
interface HistoryHead {
  /** Source currency code. */
  from: UppercaseCode
  /** Length of the history, back from the newest published day. */
  period?: Period | undefined
  /** First requested day, `YYYY-MM-DD`. */
  start?: Day | undefined
  /** Last requested day, or the newest published day of any pair, `YYYY-MM-DD`. */
  end?: Day | undefined
  /** Requested interval; absent if none was requested. */
  interval?: Interval | undefined
  /** Requested value of each interval; absent if none was requested. */
  value?: IntervalValue | undefined
  /** `previous` if requested. */
  fill?: 'previous' | undefined
}

/** Reference rates of a currency pair: with `period`, or with `start` and `end`, as requested. */
export interface RateHistory extends HistoryHead {
  /** Target currency code. */
  to: UppercaseCode
  /**
   * One point per published day, ascending, without weekends and bank holidays; with `interval`, one point of each
   * interval; with `fill`, one point per calendar day.
   */
  points: Point[]
  /** Statistics of the points. */
  stats: HistoryStats
  /**
   * Currencies that lost zeros between the points and kept their code; otherwise absent. Older rates are of another unit, and
   * `stats` mix both.
   */
  redenominated?: Redenomination[]
  /** Where rates come from, if some are not in the publication of the source; otherwise absent. */
  derived?: Derivation
  /** Source of the rates; show it next to them. Its name ends with `derived` in parentheses, if that is present. */
  source: Attribution
}

/** Reference rates of several currency pairs: with `period`, or with `start` and `end`, as requested. */
export interface HistoryList<Series = Record<UppercaseCode, RateHistory>> extends HistoryHead {
  /** Histories by target currency code, in the order of the request. */
  series: Series
}

/** The response type for the targets `To`: `RateHistory` for one code, a list of them by code for an array. */
export type HistoryResult<To extends Targets> = To extends readonly CurrencyCode[]
  ? HistoryList<ByCode<To, RateHistory>>
  : RateHistory

/** Returns the parameters of each history, without duplicates. */
export function pairsOf(params: AnyHistoryParams<Targets>): AnyHistoryParams[] {
  const { to } = params
  if (typeof to === 'string') return [{ ...params, to }]
  const upper = to.map((code) => code.toUpperCase())
  // The code as it was sent is part of an error.
  const unique = to.filter((_, index) => upper.indexOf(upper[index] ?? '') === index)
  return unique.map((code) => ({ ...params, to: code }))
}

/** `fill` also needs the days before `start`. */
export function needOf(pair: AnyHistoryParams): HistoryNeed {
  const { from, to, period = '1M', start, end, fill, source } = pair
  const since = start !== undefined && fill ? addDays(start, -MAX_DAYS_AWAY) : start
  return { since, until: end, period, source, codes: [from, to] }
}

export type FoundHistory = readonly [pair: AnyHistoryParams, found: CacheResult<HistorySnapshot>]

/** @throws {RatesError} the first error in the order of `pairs`, as `computeHistories` does */
export async function findHistories(
  sources: RateSources,
  pairs: readonly AnyHistoryParams[],
  request: RequestOptions | undefined,
  today: Day,
): Promise<FoundHistory[]> {
  const found = pairs.map(async (pair) =>
    sources.history(needOf(pair), request, (result): FoundHistory => {
      const { value } = result
      const frame = frameOf(value, pair, today)
      // Throws the error of a history without its other work.
      if (!hasRates(value.history, frame.head, frame)) seriesIn(value, frame)
      return [pair, result]
    }),
  )
  await Promise.allSettled(found)
  return Promise.all(found)
}

/** A history without an object per point. */
export interface PairHistory extends Pick<RateHistory, 'stats' | 'source'> {
  head: Omit<RateHistory, 'points' | 'stats' | 'source'>
  series: PairSeries
}

/** @throws {RatesError} `unsupported_currency`; `no_data` without a point */
export function* computeHistories<Result>(
  found: readonly FoundHistory[],
  today: Day,
  use: (history: PairHistory) => Result,
): Slices<Result[]> {
  const results: Result[] = []
  for (const [pair, { value }] of found) {
    if (results.length > 0) yield
    results.push(use(pairHistory(value, pair, today)))
  }
  return results
}

function pairHistory(snapshot: HistorySnapshot, pair: AnyHistoryParams, today: Day): PairHistory {
  const frame = frameOf(snapshot, pair, today)
  const { history, needed, daysBack = MAX_DAYS_AWAY } = snapshot
  const { start, end } = frame
  const { from, to, fill } = frame.head
  const { first, last, ...computed } = seriesIn(snapshot, frame)
  // The first point may be filled with the rate of an earlier day.
  const before = { first: addDays(start, -daysBack), last: start }
  const row = fill ? rowByRule(history, before, 'on-or-before', needed) : -1
  const derived = derivationIn(history, [from, to], { start: history.dates[row] ?? start, end })
  const redenominated = [from, to].flatMap((code) => findRedenomination(code, first, last) ?? [])
  const marks = { ...(redenominated.length > 0 && { redenominated }), ...(derived && { derived }) }
  const source = toSource(sourceOf(snapshot), derived)
  return { head: { ...frame.head, ...marks }, source, ...computed }
}

export function newestOf({ history, newest }: HistorySnapshot, today: Day): Day {
  return newest !== undefined && newest <= today ? newest : (newestDay(history, today) ?? today)
}

interface Frame {
  head: PairHistory['head']
  start: Day
  /** May be before `start`. */
  end: Day
}

/** @throws {RatesError} `unsupported_currency` */
function frameOf(snapshot: HistorySnapshot, pair: AnyHistoryParams, today: Day): Frame {
  const newest = newestOf(snapshot, today)
  const from = requireCode(snapshot, pair, 'from', newest)
  const to = requireCode(snapshot, pair, 'to', newest)
  const { period = '1M', start = periodStart(newest, period), end = newest } = pair
  const days = pair.start === undefined ? { period } : { start, end }
  // Days after today are never included, even if they are published.
  const last = end < today ? end : today
  return { head: { from, to, ...days, ...optionsOf(pair) }, start, end: last }
}

function requireCode(
  { history, codes, daysBack }: HistorySnapshot,
  pair: AnyHistoryParams,
  name: 'from' | 'to',
  newest: Day,
): UppercaseCode {
  const { [name]: sent } = pair
  const what = 'history covers'
  if (pair.start !== undefined) {
    const covered = (): readonly string[] =>
      codes ?? [history.base, ...history.columns.keys()].sort()
    return requireEverQuoted(history, name, sent, { what, covered })
  }
  // A period ends now, so only currencies that are quoted now are supported.
  const code = sent.toUpperCase()
  if (isCovered(history, code, newest, daysBack)) return code
  throw unsupportedCurrency(name, sent, what, codes ?? coveredCodes(history, newest))
}

function optionsOf({
  interval,
  value,
  fill,
}: AnyHistoryParams | RateHistory): Pick<RateHistory, 'interval' | 'value' | 'fill'> {
  return {
    ...(interval && { interval }),
    ...(value && { value }),
    ...(fill && { fill }),
  }
}

/** @throws {RatesError} `no_data` without a rate */
function seriesIn(
  { history, needed, daysBack = MAX_DAYS_AWAY }: HistorySnapshot,
  { head, start, end }: Frame,
): Pick<PairHistory, 'series' | 'stats'> & { first: Day; last: Day } {
  const { from, to, interval = 'day', value = 'last', fill } = head
  const window = { start: start > end ? addDays(end, 1) : start, end }
  const days = fill
    ? filledSeries(needed ? commonDays(history, needed) : history, head, window, daysBack)
    : pairSeries(history, head, window)
  const series = fill ? days : valueOfEach(days, interval, value)
  const stats = historyStats(series.published ?? series)
  const [first, last] = [days.since ?? dayAt(days, 0), dayAt(days, days.rates.length - 1)]
  if (stats) return { series, stats, first, last }
  const hint = withdrawalHint(from, start) ?? withdrawalHint(to, start)
  throw new RatesError('no_data', `No reference rates for ${from}/${to} in this range`, { hint })
}

/** Returns what a list says of all its histories. */
export function headOf(histories: readonly PairHistory['head'][]): Omit<HistoryList, 'series'> {
  const [first] = histories
  if (!first) throw new Error('a list of histories is empty')
  const { from, period, start } = first
  const end = histories
    .map((each) => each.end ?? '')
    .toSorted()
    .at(-1)
  const days = start === undefined ? { period } : { start, end }
  return { from, ...days, ...optionsOf(first) }
}

function toRecord({ head, series, stats, source }: PairHistory): RateHistory {
  const { filled } = series
  const points = Array.from(series.rates, (r, index): Point => {
    const d = dayAt(series, index)
    return filled?.[index] ? { d, r, filled: true } : { d, r }
  })
  return { ...head, points, stats, source }
}

/** @throws {RatesError} as `findHistories` and `computeHistories` do */
export async function rateHistories(
  sources: RateSources,
  params: AnyHistoryParams<Targets>,
  now: () => number,
): Promise<RateHistory | HistoryList> {
  const today = toDay(now())
  const found = await findHistories(sources, pairsOf(params), undefined, today)
  const records = await runInSlices(computeHistories(found, today, toRecord), yieldToEventLoop)
  const [first] = records
  if (typeof params.to === 'string' && first) return first
  const series = Object.fromEntries(records.map((record) => [record.to, record]))
  return { ...headOf(records), series }
}
