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

/** Which days of history to tell. Codes have three letters in either case. */
export interface HistoryRangeParams {
  /** Source currency. */
  from: CurrencyCode
  /** Target currency. */
  to: CurrencyCode
  /** The first day, `YYYY-MM-DD`; there are reference rates since 1999-01-04. */
  start: string
  /** The last day, `YYYY-MM-DD` (default the newest published one). */
  end?: string | undefined
  /** Whether every published day is told, or the last of each week or month (default `day`). */
  interval?: Interval | undefined
  /** A question of a period is a `HistoryParams`. */
  period?: undefined
}

/** The reference rates of a pair on the days of a range. */
export interface HistoryRange {
  /** Code of the source currency, in capitals. */
  from: string
  /** Code of the target currency, in capitals. */
  to: string
  /** The first day that was asked for, `YYYY-MM-DD`. */
  start: string
  /** The last day that was asked for, or the newest published one, `YYYY-MM-DD`. */
  end: string
  /** The interval that was asked for; absent where none was. */
  interval?: Interval | undefined
  /** One point a published day, ascending, or the last of each interval; `d` is the date, `r` the units of `to` for one unit of `from`. */
  points: Point[]
  /** Summary of the points. */
  stats: HistoryStats
  /** Where the rates come from; to be shown with them. */
  source: Attribution
}

/** The record of a range with its points as columns. */
export interface PairRange extends Omit<HistoryRange, 'points'> {
  series: PairSeries
}

/**
 * What answers `question` on the day `today` (UTC).
 *
 * @throws {RatesError} `unsupported_currency`; `no_data` where there is no point
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

/** The record of `range`. */
export function toHistoryRange({ series, stats, source, ...head }: PairRange): HistoryRange {
  return { ...head, points: toPoints(series), stats, source }
}

function pairRange(
  { history, attribution }: HistorySnapshot,
  params: HistoryRangeParams,
  today: Day,
): PairRange {
  const { base, columns } = history
  const about = { what: 'history covers', covered: () => [base, ...columns.keys()].sort() }
  const from = requireEverQuoted(history, 'from', params.from, about)
  const to = requireEverQuoted(history, 'to', params.to, about)
  const { start, end = newestDay(history, today) ?? today, interval } = params
  // No day after today counts, whatever has been published.
  const last = end < today ? end : today
  const first = start > last ? addDays(last, 1) : start
  const daily = pairSeries(history, { from, to }, { start: first, end: last })
  const series = interval ? lastOfEach(daily, interval) : daily
  const stats = requireStats(series, { from, to }, start)
  const head = { from, to, start, end, ...(interval && { interval }) }
  return { ...head, series, stats, source: toSource(attribution) }
}
