import { RatesError } from '../errors.ts'
import type { Attribution } from '../providers/provider.ts'
import type { CurrencyCode } from '../rates/known-currency-code.ts'
import type { Day } from '../rates/day.ts'
import { historyStats } from '../rates/history-stats.ts'
import type { HistoryStats } from '../rates/history-stats.ts'
import { coveredCodes, isCovered, newestDay } from '../rates/market-history.ts'
import type { MarketHistory } from '../rates/market-history.ts'
import { dayAt, pairSeries } from '../rates/pair-series.ts'
import type { PairSeries } from '../rates/pair-series.ts'
import { periodStart } from '../rates/period.ts'
import type { Period } from '../rates/period.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import { toSource } from './source.ts'
import { unsupportedCurrency } from './unsupported-currency.ts'

/** Which history to tell. Codes have three letters in either case. */
export interface HistoryQuestion {
  /** Source currency. */
  from: CurrencyCode
  /** Target currency. */
  to: CurrencyCode
  /** How far back from the newest published day (default `1M`). */
  period?: Period | undefined
}

/** One day of a pair. */
export interface Point {
  /** The date, `YYYY-MM-DD`. */
  d: string
  /** Units of `to` for one unit of `from`. */
  r: number
}

/** The daily reference rates of a pair. */
export interface HistoryRecord {
  /** Code of the source currency, in capitals. */
  from: string
  /** Code of the target currency, in capitals. */
  to: string
  /** How far back from the newest published day the points go. */
  period: Period
  /** One point a published day, ascending; `d` is the date, `r` the units of `to` for one unit of `from`. */
  points: Point[]
  /** Summary of the points. */
  stats: HistoryStats
  /** Where the rates come from; to be shown with them. */
  source: Attribution
}

/** A history record with its points as columns. */
export interface PairHistory extends Omit<HistoryRecord, 'points'> {
  series: PairSeries
}

/** The history record of `history`. */
export function historyRecord({ series, stats, source, ...head }: PairHistory): HistoryRecord {
  const points = Array.from(series.rates, (r, index) => ({ d: dayAt(series, index), r }))
  return { ...head, points, stats, source }
}

/**
 * What answers `question` on the day `today` (UTC).
 *
 * @throws {RatesError} `unsupported_currency`; `no_data` where the window has no point
 */
export function pairHistory(
  { history, attribution }: HistorySnapshot,
  question: HistoryQuestion,
  today: Day,
): PairHistory {
  const { period = '1M' } = question
  const end = newestDay(history, today) ?? today
  const from = requireCovered(history, end, 'from', question.from)
  const to = requireCovered(history, end, 'to', question.to)
  const series = pairSeries(history, { from, to }, { start: periodStart(end, period), end })
  const stats = historyStats(series)
  if (!stats) throw new RatesError('no_data', `No reference rates of ${from} in ${to}`)
  return { from, to, period, series, stats, source: toSource(attribution) }
}

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
