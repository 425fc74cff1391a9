import { RatesError, invalidParameter, invalidPeriod, missingParameter } from '../errors.ts'
import { findWithdrawal } from '../rates/currency-code.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import { INTERVALS, PERIODS, addDays, periodStart, toDay } from '../rates/dates.ts'
import type { Day, Interval, Period } from '../rates/dates.ts'
import type { CurrencyCode } from '../rates/iso-4217.ts'
import { coveredCodes, isCovered, newestDay } from '../rates/market-history.ts'
import type { Rate } from '../rates/rate-table.ts'
import { dayAt, historyStats, lastOfEach, pairSeries } from '../rates/series.ts'
import type { HistoryStats, Pair, PairSeries } from '../rates/series.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import { MISTAKEN_HISTORY_NAMES, assertNoMistakenNames } from './mistaken-names.ts'
import {
  assertCode,
  assertDay,
  requireEverQuoted,
  toSource,
  unsupportedCurrency,
  withdrawalHint,
} from './resolve-code.ts'

/** Parameters of a history. Codes have three letters in either case. */
export interface HistoryParams {
  /** Source currency. */
  from: CurrencyCode
  /** Target currency. */
  to: CurrencyCode
  /** Length of the history, up to the newest published day (default `1M`). */
  period?: Period | undefined
  /** One point per published day, or the last of each week or month (default `day`). */
  interval?: Interval | undefined
  /** Not allowed with a period; see `HistoryRangeParams`. */
  start?: undefined
  /** Not allowed with a period; see `HistoryRangeParams`. */
  end?: undefined
}

/** Rate of a currency pair on one day. */
export interface Point {
  /** Date, `YYYY-MM-DD`. */
  d: Day
  /** Units of `to` per unit of `from`. */
  r: Rate
}

/** @internal At least one point. */
type PointList = Point[]

/** Reference rates of a currency pair for a period up to the newest published day. */
export interface RateHistory {
  /** Source currency code. */
  from: UppercaseCode
  /** Target currency code. */
  to: UppercaseCode
  /** Length of the history, back from the newest published day. */
  period: Period
  /** Requested interval; absent if none was requested. */
  interval?: Interval | undefined
  /**
   * One point per published day, ascending, without weekends and bank holidays; with `interval`, the last point of each
   * interval.
   */
  points: PointList
  /** Statistics of the points. */
  stats: HistoryStats
  /** Source of the rates; show it next to them. */
  source: Attribution
}

/** A `RateHistory` with its points as columns. */
export interface PairHistory extends Omit<RateHistory, 'points'> {
  series: PairSeries
}

/** Converts the columns to points. */
function toPoints({
  series,
  stats,
  source,
  ...head
}: PairHistory | PairRange): RateHistory | HistoryRange {
  const points = Array.from(series.rates, (r, index) => ({ d: dayAt(series, index), r }))
  return { ...head, points, stats, source }
}

/**
 * Checks the parameters of a caller, which may not use TypeScript.
 *
 * @throws {RatesError} `missing_parameter`, `invalid_parameter`, `invalid_currency`, `invalid_period`
 */
function assertHistoryParams(params: HistoryParams | HistoryRangeParams): void {
  const { from, to, period, start, end, interval } = params
  assertNoMistakenNames(params, MISTAKEN_HISTORY_NAMES)
  assertCode('from', from)
  assertCode('to', to)
  if (period !== undefined && !PERIODS.includes(period)) {
    throw invalidPeriod(String(period), PERIODS)
  }
  if (start !== undefined) assertDay('start', start)
  if (end !== undefined) assertDay('end', end)
  if (interval !== undefined && !INTERVALS.includes(interval)) {
    throw invalidParameter('interval', 'must be day, week or month')
  }
}

/**
 * Returns a history for a caller without HTTP; `now` returns the time in ms since the Unix epoch.
 *
 * @throws {RatesError} as `assertHistoryParams`, `toHistoryParams` and `pairHistory` do
 */
export async function rateHistory(
  sources: RateSources,
  params: HistoryParams | HistoryRangeParams,
  now: () => number,
): Promise<RateHistory | HistoryRange> {
  assertHistoryParams(params)
  const selection = toHistoryParams(params)
  const { from, to, start, end } = selection
  const need = { since: start, until: end, codes: [from, to] }
  return sources.history(need, undefined, ({ value }) =>
    toPoints(pairHistory(value, selection, toDay(now()))),
  )
}

/**
 * Returns the history of a period or a range; `today` is the current day (UTC).
 *
 * @throws {RatesError} `unsupported_currency`; `no_data` without a point
 */
export function pairHistory(
  snapshot: HistorySnapshot,
  params: HistoryParams | HistoryRangeParams,
  today: Day,
): PairHistory | PairRange {
  return params.start === undefined
    ? historyOfPeriod(snapshot, params, today)
    : historyOfRange(snapshot, params, today)
}

function historyOfPeriod(
  snapshot: HistorySnapshot,
  params: HistoryParams,
  today: Day,
): PairHistory {
  const { period = '1M', interval } = params
  const { history, attribution } = snapshot
  const end = newestOf(snapshot, today)
  const from = requireCovered(snapshot, end, 'from', params.from)
  const to = requireCovered(snapshot, end, 'to', params.to)
  const start = periodStart(end, period)
  const daily = pairSeries(history, { from, to }, { start, end })
  const series = interval ? lastOfEach(daily, interval) : daily
  const stats = requireStats(series, { from, to }, start)
  const head = { from, to, period, ...(interval && { interval }) }
  return { ...head, series, stats, source: toSource(attribution) }
}

/**
 * Returns the statistics of a series from the day `start`.
 *
 * @throws {RatesError} `no_data` if the series is empty
 */
function requireStats(series: PairSeries, { from, to }: Pair, start: Day): HistoryStats {
  const stats = historyStats(series)
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
export interface HistoryRangeParams {
  /** Source currency. */
  from: CurrencyCode
  /** Target currency. */
  to: CurrencyCode
  /** First day, `YYYY-MM-DD`; reference rates begin on 1999-01-04. */
  start: string
  /** Last day, `YYYY-MM-DD` (default: the newest published day). */
  end?: string | undefined
  /** One point per published day, or the last of each week or month (default `day`). */
  interval?: Interval | undefined
  /** Not allowed with days; see `HistoryParams`. */
  period?: undefined
}

/** Reference rates of a currency pair between two days. */
export interface HistoryRange {
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
  /**
   * One point per published day, ascending, without weekends and bank holidays; with `interval`, the last point of each
   * interval.
   */
  points: PointList
  /** Statistics of the points. */
  stats: HistoryStats
  /** Source of the rates; show it next to them. */
  source: Attribution
}

/** A `HistoryRange` with its points as columns. */
export interface PairRange extends Omit<HistoryRange, 'points'> {
  series: PairSeries
}

function historyOfRange(
  snapshot: HistorySnapshot,
  params: HistoryRangeParams,
  today: Day,
): PairRange {
  const { history, attribution, codes } = snapshot
  const { base, columns } = history
  const covered = (): readonly string[] => codes ?? [base, ...columns.keys()].sort()
  const coverage = { what: 'history covers', covered }
  const from = requireEverQuoted(history, 'from', params.from, coverage)
  const to = requireEverQuoted(history, 'to', params.to, coverage)
  const { start, end = newestOf(snapshot, today), interval } = params
  // Days after today are never included, even if they are published.
  const last = end < today ? end : today
  const first = start > last ? addDays(last, 1) : start
  const daily = pairSeries(history, { from, to }, { start: first, end: last })
  const series = interval ? lastOfEach(daily, interval) : daily
  const stats = requireStats(series, { from, to }, start)
  const head = { from, to, start, end, ...(interval && { interval }) }
  return { ...head, series, stats, source: toSource(attribution) }
}

/** Validated history parameters in any combination. */
export interface HistorySelection {
  from: CurrencyCode
  to: CurrencyCode
  period?: Period | undefined
  start?: Day | undefined
  end?: Day | undefined
  interval?: Interval | undefined
}

/**
 * Returns the parameters of a period or of a range.
 *
 * @throws {RatesError} `missing_parameter` without `start`; `invalid_parameter` for a period with days, or days in reverse order
 */
export function toHistoryParams(selection: HistorySelection): HistoryParams | HistoryRangeParams {
  const { from, to, period, start, end, interval } = selection
  if (start === undefined && end === undefined) return { from, to, period, interval }
  if (period !== undefined)
    throw invalidParameter('period', 'must not be combined with start or end')
  if (start === undefined) throw missingParameter('start')
  if (end !== undefined && start > end) throw invalidParameter('start', 'must not be after end')
  return { from, to, start, end, interval }
}
