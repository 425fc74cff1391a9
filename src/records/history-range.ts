import type { Attribution } from '../providers/provider.ts'
import { addDays } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import type { HistoryStats } from '../rates/history-stats.ts'
import type { Interval } from '../rates/interval.ts'
import type { CurrencyCode } from '../rates/known-currency-code.ts'
import { lastOfEach } from '../rates/last-of-each.ts'
import { newestDay } from '../rates/market-history.ts'
import { dayAt, pairSeries } from '../rates/pair-series.ts'
import type { PairSeries } from '../rates/pair-series.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import { pairHistory, requireStats, toPoints } from './history.ts'
import type { HistoryParams, PairHistory, Point } from './history.ts'
import { toSource } from './source.ts'
import { requireEverQuoted } from './unsupported-currency.ts'

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
  /** Source currency, upper-case code. */
  from: string
  /** Target currency, upper-case code. */
  to: string
  /** Requested first day, `YYYY-MM-DD`. */
  start: string
  /** Requested last day, or the newest published day, `YYYY-MM-DD`. */
  end: string
  /** Requested interval; absent without one. */
  interval?: Interval | undefined
  /** Points in ascending order: one per published day, or the last of each interval. */
  points: Point[]
  /** Statistics of the points. */
  stats: HistoryStats
  /** Source of the rates; show it next to them. */
  source: Attribution
}

/** A `HistoryRange` with its points as columns. */
export interface PairRange extends Omit<HistoryRange, 'points'> {
  series: PairSeries
}

/**
 * Returns the history of a range, or of a period with an interval; `today` is the current day (UTC).
 *
 * @throws {RatesError} `unsupported_currency`; `no_data` without a point in the range
 */
export function intervalHistory(
  snapshot: HistorySnapshot,
  params: HistoryParams | HistoryRangeParams,
  today: Day,
): PairHistory | PairRange {
  if (params.start !== undefined) return pairRange(snapshot, params, today)
  const { from, to, period, series, source } = pairHistory(snapshot, params, today)
  const { interval = 'day' } = params
  const thinned = lastOfEach(series, interval)
  const stats = requireStats(thinned, { from, to }, dayAt(series, 0))
  return { from, to, period, interval, series: thinned, stats, source }
}

/** Converts the columns to points. */
export function toHistoryRange({ series, stats, source, ...head }: PairRange): HistoryRange {
  return { ...head, points: toPoints(series), stats, source }
}

function pairRange(
  { history, attribution }: HistorySnapshot,
  params: HistoryRangeParams,
  today: Day,
): PairRange {
  const { base, columns } = history
  const coverage = { what: 'history covers', covered: () => [base, ...columns.keys()].sort() }
  const from = requireEverQuoted(history, 'from', params.from, coverage)
  const to = requireEverQuoted(history, 'to', params.to, coverage)
  const { start, end = newestDay(history, today) ?? today, interval } = params
  // Days after today are never included, even if they are published.
  const last = end < today ? end : today
  const first = start > last ? addDays(last, 1) : start
  const daily = pairSeries(history, { from, to }, { start: first, end: last })
  const series = interval ? lastOfEach(daily, interval) : daily
  const stats = requireStats(series, { from, to }, start)
  const head = { from, to, start, end, ...(interval && { interval }) }
  return { ...head, series, stats, source: toSource(attribution) }
}
