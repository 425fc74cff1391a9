import { RatesError } from '../errors.ts'
import type { Attribution } from '../providers/provider.ts'
import type { Day } from '../rates/day.ts'
import { historyStats } from '../rates/history-stats.ts'
import type { HistoryStats } from '../rates/history-stats.ts'
import type { Interval } from '../rates/interval.ts'
import type { CurrencyCode } from '../rates/known-currency-code.ts'
import { coveredCodes, isCovered, newestDay } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { dayAt, pairSeries } from '../rates/pair-series.ts'
import type { Pair, PairSeries } from '../rates/pair-series.ts'
import { periodStart } from '../rates/period.ts'
import type { Period } from '../rates/period.ts'
import { findWithdrawal } from '../rates/withdrawn.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import { withdrawalHint } from './require-code.ts'
import { toSource } from './source.ts'
import { unsupportedCurrency } from './unsupported-currency.ts'

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
  d: string
  /** Units of `to` per unit of `from`. */
  r: number
}

/** Reference rates of a currency pair for a period up to the newest published day. */
export interface RateHistory {
  /** Source currency, upper-case code. */
  from: string
  /** Target currency, upper-case code. */
  to: string
  /** Length of the history, up to the newest published day. */
  period: Period
  /** Requested interval; absent without one. */
  interval?: Interval | undefined
  /** Points in ascending order: one per published day, or the last of each interval. */
  points: Point[]
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
export function toRateHistory({ series, stats, source, ...head }: PairHistory): RateHistory {
  return { ...head, points: toPoints(series), stats, source }
}

/** Returns the points of `series`. */
export function toPoints(series: PairSeries): Point[] {
  return Array.from(series.rates, (r, index) => ({ d: dayAt(series, index), r }))
}

/**
 * Returns the history of a period; `today` is the current day (UTC).
 *
 * @throws {RatesError} `unsupported_currency`; `no_data` without a point in the period
 */
export function pairHistory(
  { history, attribution }: HistorySnapshot,
  params: Pick<HistoryParams, 'from' | 'to' | 'period'>,
  today: Day,
): PairHistory {
  const { period = '1M' } = params
  const end = newestDay(history, today) ?? today
  const from = requireCovered(history, end, 'from', params.from)
  const to = requireCovered(history, end, 'to', params.to)
  const start = periodStart(end, period)
  const series = pairSeries(history, { from, to }, { start, end })
  const stats = requireStats(series, { from, to }, start)
  return { from, to, period, series, stats, source: toSource(attribution) }
}

/**
 * Returns the statistics of a series from the day `start`.
 *
 * @throws {RatesError} `no_data` if the series is empty
 */
export function requireStats(series: PairSeries, { from, to }: Pair, start: Day): HistoryStats {
  const stats = historyStats(series)
  if (stats) return stats
  const hint = withdrawalHintOn(start, [from, to])
  throw new RatesError('no_data', `No reference rates for ${from}/${to} in this range`, { hint })
}

// A period ends now, so only currencies that are quoted now are supported.
function requireCovered(
  history: MarketHistory,
  newest: Day,
  parameter: string,
  sent: string,
): string {
  const code = sent.toUpperCase()
  if (isCovered(history, code, newest)) return code
  throw unsupportedCurrency(parameter, sent, 'history covers', coveredCodes(history, newest))
}

function withdrawalHintOn(day: Day, codes: readonly string[]): string | undefined {
  const withdrawn = codes.find((code) => {
    const withdrawal = findWithdrawal(code)
    return withdrawal && withdrawal.withdrawnAt <= day
  })
  return withdrawn && withdrawalHint(withdrawn)
}
