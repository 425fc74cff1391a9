import { RatesError, invalidParameter, missingParameter } from '../errors.ts'
import { findWithdrawal } from '../rates/currency-code.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import { addDays, periodStart, toDay } from '../rates/dates.ts'
import type { Day, Interval, Period } from '../rates/dates.ts'
import type { CurrencyCode } from '../rates/iso-4217.ts'
import { coveredCodes, isCovered, newestDay } from '../rates/market-history.ts'
import type { Derivation, Rate } from '../rates/rate-table.ts'
import { dayAt, historyStats, lastOfEach, pairSeries } from '../rates/series.ts'
import type { HistoryStats, IntervalValue, Pair, PairSeries } from '../rates/series.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import {
  derivedIn,
  requireEverQuoted,
  toSource,
  unsupportedCurrency,
  withdrawalHint,
} from './resolve-code.ts'

/** Parameters of a history. Codes have three letters in either case. */
export interface HistoryParams<To = CurrencyCode, Fill = undefined> extends PointParams<Fill> {
  /** Source currency. */
  from: CurrencyCode
  /** Target currency. */
  to: To
  /** Length of the history, up to the newest published day (default `1M`). */
  period?: Period | undefined
  /** Not allowed with a period; see `HistoryRangeParams`. */
  start?: undefined
  /** Not allowed with a period; see `HistoryRangeParams`. */
  end?: undefined
}

/** Parameters that determine the points of a history. */
export interface PointParams<Fill = 'previous'> {
  /** One point per published day, or one for each week, month, quarter or year (default `day`). */
  interval?: Interval | undefined
  /**
   * Rate of an interval longer than a day: its `last`, the `average` of its days to 10 significant digits, `open` (its
   * first), `high` or `low` (default `last`).
   */
  value?: IntervalValue | undefined
  /**
   * `previous` adds a point for every other calendar day, with the rate of the last published day before it, at most 14
   * days earlier. For daily points only (default: no other points).
   */
  fill?: Fill | undefined
  /** Id of the source of the rates, as in `/v1/sources` (default the first with the currencies). */
  source?: string | undefined
}

/** Rate of a currency pair on one day. */
export interface Point {
  /** Date, `YYYY-MM-DD`. */
  d: Day
  /** Units of `to` per unit of `from`. */
  r: Rate
}

/** Rate of a currency pair on one calendar day. */
export interface FilledPoint extends Point {
  /** True if the rate was published on an earlier day; otherwise absent. */
  filled?: true
}

/** @internal At least one point. */
type PointList<Each> = Each[]

/** Reference rates of a currency pair for a period up to the newest published day. */
export interface RateHistory<Each extends Point = Point> {
  /** Source currency code. */
  from: UppercaseCode
  /** Target currency code. */
  to: UppercaseCode
  /** Length of the history, back from the newest published day. */
  period: Period
  /** Requested interval; absent if none was requested. */
  interval?: Interval | undefined
  /** Requested value of each interval; absent if none was requested. */
  value?: IntervalValue | undefined
  /** `previous` if requested. */
  fill?: 'previous' | undefined
  /**
   * One point per published day, ascending, without weekends and bank holidays; with `interval`, one point of each
   * interval; with `fill`, one point per calendar day.
   */
  points: PointList<Each>
  /** Statistics of the points. */
  stats: HistoryStats
  /** Where rates come from, if some are not in the publication of the source; otherwise absent. */
  derived?: Derivation
  /** Source of the rates; show it next to them. Its name ends with `derived` in parentheses, if that is present. */
  source: Attribution
}

export interface PairHistory extends Omit<RateHistory, 'points'> {
  series: PairSeries
}

export function toPoints({
  series,
  stats,
  source,
  ...head
}: PairHistory | PairRange): RateHistory<FilledPoint> | HistoryRange<FilledPoint> {
  const { filled } = series
  const points = Array.from(series.rates, (r, index): FilledPoint => {
    const d = dayAt(series, index)
    return filled?.[index] ? { d, r, filled: true } : { d, r }
  })
  return { ...head, points, stats, source }
}

/** @internal One target currency, or an array of them. */
export type Targets = CurrencyCode | readonly CurrencyCode[]

/** Parameters of a history of one target currency or of several (at most 20), with or without filled days. */
export type HistoryListParams =
  | HistoryParams<Targets, 'previous'>
  | HistoryRangeParams<Targets, 'previous'>

export type OneHistoryParams =
  | HistoryParams<CurrencyCode, 'previous'>
  | HistoryRangeParams<CurrencyCode, 'previous'>

/** All other histories need code that is loaded at the first request. */
export function isPlain(params: HistoryListParams): params is HistoryParams | HistoryRangeParams {
  const { to, value = 'last', fill } = params
  return !Array.isArray(to) && value === 'last' && fill === undefined
}

/** @throws {RatesError} as `assertHistoryParams`, `toHistoryParams` and `pairHistory` do */
export async function rateHistory(
  sources: RateSources,
  params: HistoryParams | HistoryRangeParams,
  now: () => number,
): Promise<RateHistory | HistoryRange> {
  const selection = toHistoryParams(params)
  const { from, to, period = '1M', start, end, source } = selection
  const need = { since: start, until: end, period, source, codes: [from, to] }
  return sources.history(need, undefined, ({ value }) =>
    toPoints(pairHistory(value, selection, toDay(now()))),
  )
}

export type SeriesOf = (
  snapshot: HistorySnapshot,
  pair: Pair,
  window: Window,
  params: PointParams,
) => PairSeries

interface Window {
  start: Day
  end: Day
}

function plainSeries(
  { history }: HistorySnapshot,
  pair: Pair,
  window: Window,
  { interval = 'day' }: PointParams,
): PairSeries {
  return lastOfEach(pairSeries(history, pair, window), interval)
}

/** @throws {RatesError} `unsupported_currency`; `no_data` without a point */
export function pairHistory(
  snapshot: HistorySnapshot,
  params: OneHistoryParams,
  today: Day,
  seriesOf: SeriesOf = plainSeries,
): PairHistory | PairRange {
  const { head, window, start } = historyFrame(snapshot, params, today)
  const series = seriesOf(snapshot, head, window, params)
  const stats = requireStats(series, head, start)
  const { derived } = derivedIn(snapshot.history, [head.from, head.to])
  const source = toSource(snapshot.attribution, derived)
  return { ...head, ...(derived && { derived }), series, stats, source }
}

interface HistoryFrame {
  head:
    | Omit<PairHistory, 'series' | 'stats' | 'source' | 'derived'>
    | Omit<PairRange, 'series' | 'stats' | 'source' | 'derived'>
  window: Window
  start: Day
}

/** @throws {RatesError} `unsupported_currency` */
export function historyFrame(
  snapshot: HistorySnapshot,
  params: OneHistoryParams,
  today: Day,
): HistoryFrame {
  return params.start === undefined
    ? frameOfPeriod(snapshot, params, today)
    : frameOfRange(snapshot, params, today)
}

function frameOfPeriod(
  snapshot: HistorySnapshot,
  params: HistoryParams<CurrencyCode, 'previous'>,
  today: Day,
): HistoryFrame {
  const { period = '1M' } = params
  const end = newestOf(snapshot, today)
  const from = requireCovered(snapshot, end, 'from', params.from)
  const to = requireCovered(snapshot, end, 'to', params.to)
  const start = periodStart(end, period)
  return { head: { from, to, period, ...pointParams(params) }, window: { start, end }, start }
}

export function pointParams({ interval, value, fill }: PointParams): PointParams {
  return {
    ...(interval && { interval }),
    ...(value !== undefined && { value }),
    ...(fill !== undefined && { fill }),
  }
}

/** @throws {RatesError} `no_data` if the series is empty */
export function requireStats(series: PairSeries, { from, to }: Pair, start: Day): HistoryStats {
  const stats = historyStats(series.published ?? series)
  if (stats) return stats
  const hint = withdrawalHintOn(start, [from, to])
  throw new RatesError('no_data', `No reference rates for ${from}/${to} in this range`, { hint })
}

// A period ends now, so only currencies that are quoted now are supported.
function requireCovered(
  { history, codes, daysBack }: HistorySnapshot,
  newest: Day,
  parameter: string,
  sent: string,
): string {
  const code = sent.toUpperCase()
  if (isCovered(history, code, newest, daysBack)) return code
  const covered = codes ?? coveredCodes(history, newest)
  throw unsupportedCurrency(parameter, sent, 'history covers', covered)
}

function newestOf({ history, newest }: HistorySnapshot, today: Day): Day {
  return newest !== undefined && newest <= today ? newest : (newestDay(history, today) ?? today)
}

function withdrawalHintOn(day: Day, codes: readonly string[]): string | undefined {
  const withdrawn = codes.find((code) => {
    const withdrawal = findWithdrawal(code)
    return withdrawal && withdrawal.withdrawnAt <= day
  })
  return withdrawn && withdrawalHint(withdrawn)
}

/** Parameters of a history between two days. Codes have three letters in either case. */
export interface HistoryRangeParams<To = CurrencyCode, Fill = undefined> extends PointParams<Fill> {
  /** Source currency. */
  from: CurrencyCode
  /** Target currency. */
  to: To
  /** First day, `YYYY-MM-DD`; reference rates begin on 1999-01-04. */
  start: string
  /** Last day, `YYYY-MM-DD` (default: the newest published day). */
  end?: string | undefined
  /** Not allowed with days; see `HistoryParams`. */
  period?: undefined
}

/** Reference rates of a currency pair between two days. */
export interface HistoryRange<Each extends Point = Point> {
  /** Source currency code. */
  from: UppercaseCode
  /** Target currency code. */
  to: UppercaseCode
  /** First requested day, `YYYY-MM-DD`. */
  start: Day
  /** Last requested day, or the newest published day, `YYYY-MM-DD`. */
  end: Day
  /** Requested interval; absent if none was requested. */
  interval?: Interval | undefined
  /** Requested value of each interval; absent if none was requested. */
  value?: IntervalValue | undefined
  /** `previous` if requested. */
  fill?: 'previous' | undefined
  /**
   * One point per published day, ascending, without weekends and bank holidays; with `interval`, one point of each
   * interval; with `fill`, one point per calendar day.
   */
  points: PointList<Each>
  /** Statistics of the points. */
  stats: HistoryStats
  /** Where rates come from, if some are not in the publication of the source; otherwise absent. */
  derived?: Derivation
  /** Source of the rates; show it next to them. Its name ends with `derived` in parentheses, if that is present. */
  source: Attribution
}

export interface PairRange extends Omit<HistoryRange, 'points'> {
  series: PairSeries
}

function frameOfRange(
  snapshot: HistorySnapshot,
  params: HistoryRangeParams<CurrencyCode, 'previous'>,
  today: Day,
): HistoryFrame {
  const { history, codes } = snapshot
  const { base, columns } = history
  const covered = (): readonly string[] => codes ?? [base, ...columns.keys()].sort()
  const coverage = { what: 'history covers', covered }
  const from = requireEverQuoted(history, 'from', params.from, coverage)
  const to = requireEverQuoted(history, 'to', params.to, coverage)
  const { start, end = newestOf(snapshot, today) } = params
  // Days after today are never included, even if they are published.
  const last = end < today ? end : today
  const first = start > last ? addDays(last, 1) : start
  const head = { from, to, start, end, ...pointParams(params) }
  return { head, window: { start: first, end: last }, start }
}

export interface HistorySelection<To extends Targets> extends PointParams {
  from: CurrencyCode
  to: To
  period?: Period | undefined
  start?: Day | undefined
  end?: Day | undefined
}

/**
 * @throws {RatesError} `missing_parameter` without `start`; `invalid_parameter` for a period with days, or days in reverse
 * order
 */
export function toHistoryParams<To extends Targets>(
  selection: HistorySelection<To>,
): HistoryParams<To, 'previous'> | HistoryRangeParams<To, 'previous'> {
  const { from, to, period, start, end, source } = selection
  const points = { ...pointParams(selection), ...(source !== undefined && { source }) }
  if (start === undefined && end === undefined) return { from, to, period, ...points }
  if (period !== undefined)
    throw invalidParameter('period', 'must not be combined with start or end')
  if (start === undefined) throw missingParameter('start')
  if (end !== undefined && start > end) throw invalidParameter('start', 'must not be after end')
  return { from, to, start, end, ...points }
}
