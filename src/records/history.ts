import { RatesError } from '../errors.ts'
import type { Attribution } from '../providers/provider.ts'
import type { CurrencyCode } from '../rates/known-currency-code.ts'
import type { Day } from '../rates/day.ts'
import { historyStats } from '../rates/history-stats.ts'
import type { HistoryStats } from '../rates/history-stats.ts'
import type { Interval } from '../rates/interval.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { coveredCodes, isCovered, newestDay } from '../rates/market-history.ts'
import { dayAt, pairSeries } from '../rates/pair-series.ts'
import type { Pair, PairSeries } from '../rates/pair-series.ts'
import { periodStart } from '../rates/period.ts'
import type { Period } from '../rates/period.ts'
import { findWithdrawn } from '../rates/withdrawn.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import { withdrawalHint } from './require-code.ts'
import { toSource } from './source.ts'
import { unsupportedCurrency } from './unsupported-currency.ts'

/** Which history to tell. Codes have three letters in either case. */
export interface HistoryParams {
  /** Source currency. */
  from: CurrencyCode
  /** Target currency. */
  to: CurrencyCode
  /** How far back from the newest published day (default `1M`). */
  period?: Period | undefined
  /** Whether every published day is told, or the last of each week or month (default `day`). */
  interval?: Interval | undefined
  /** A question of days is a `HistoryRangeParams`. */
  start?: undefined
  /** As `start`. */
  end?: undefined
}

/** One day of a pair. */
export interface Point {
  /** The date, `YYYY-MM-DD`. */
  d: string
  /** Units of `to` for one unit of `from`. */
  r: number
}

/** The reference rates of a pair, back from the newest published day. */
export interface RateHistory {
  /** Code of the source currency, in capitals. */
  from: string
  /** Code of the target currency, in capitals. */
  to: string
  /** How far back from the newest published day the points go. */
  period: Period
  /** The interval that was asked for; absent where none was. */
  interval?: Interval | undefined
  /** One point a published day, ascending; `d` is the date, `r` the units of `to` for one unit of `from`. */
  points: Point[]
  /** Summary of the points. */
  stats: HistoryStats
  /** Where the rates come from; to be shown with them. */
  source: Attribution
}

/** A history record with its points as columns. */
export interface PairHistory extends Omit<RateHistory, 'points'> {
  series: PairSeries
}

/** The history record of `history`. */
export function toRateHistory({ series, stats, source, ...head }: PairHistory): RateHistory {
  return { ...head, points: toPoints(series), stats, source }
}

/** The points of `series`. */
export function toPoints(series: PairSeries): Point[] {
  return Array.from(series.rates, (r, index) => ({ d: dayAt(series, index), r }))
}

/**
 * What answers `question` on the day `today` (UTC).
 *
 * @throws {RatesError} `unsupported_currency`; `no_data` where the window has no point
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
 * Returns the summary of the series of `pair` since the day `start`.
 *
 * @throws {RatesError} `no_data` where it is empty
 */
export function requireStats(series: PairSeries, { from, to }: Pair, start: Day): HistoryStats {
  const stats = historyStats(series)
  if (stats) return stats
  const hint = endedBy(start, [from, to])
  throw new RatesError('no_data', `No reference rates of ${from} in ${to}`, { hint })
}

/** A period reaches back from now, so it is of currencies that are quoted now. */
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

/** What became of the first of `codes` that was withdrawn by `day`. */
function endedBy(day: Day, codes: readonly string[]): string | undefined {
  const ended = codes.find((code) => {
    const withdrawal = findWithdrawn(code)
    return withdrawal && withdrawal.withdrawnAt <= day
  })
  return ended && withdrawalHint(ended)
}
