import type { Day } from '../rates/day.ts'
import type { CurrencyCode } from '../rates/known-currency-code.ts'
import { findWithdrawal } from '../rates/withdrawn.ts'
import type { HistorySnapshot } from '../sources/history-source.ts'
import { datedSnapshot, requireQuoted } from './dated.ts'
import { toLatestRates } from './latest.ts'
import type { LatestParams, LatestRates } from './latest.ts'

/** Parameters of the rates of an earlier day. Codes have three letters in either case. */
export interface DatedRatesParams<
  Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[],
> extends Omit<LatestParams<Symbols>, 'date'> {
  /** Day of the rates, `YYYY-MM-DD`, since 1999-01-04; without a publication on that day, the last published day before. */
  date: string
}

/** Reference rates of one day against one base. */
export interface DatedRates<Rates = Record<string, number>> extends Omit<
  LatestRates<Rates>,
  'older'
> {
  /** Publication day of the rates, `YYYY-MM-DD`. */
  date: string
}

/**
 * Returns the rates of an earlier day; `today` is the current day (UTC).
 *
 * @throws {RatesError} as `datedSnapshot` and `requireQuoted` do
 */
export function toDatedRates(
  snapshot: HistorySnapshot,
  { base = 'USD', symbols = [], date: requested }: DatedRatesParams,
  today: Day,
): DatedRates {
  const dated = datedSnapshot(snapshot, requested, today)
  requireQuoted(snapshot, dated, 'base', base)
  for (const symbol of symbols) {
    // As with latest rates, a withdrawn currency must not break working clients.
    if (!isWithdrawnBy(dated.date, symbol)) requireQuoted(snapshot, dated, 'symbols', symbol)
  }
  const { base: code, ...rest } = toLatestRates(dated, { base, symbols })
  return { base: code, date: dated.date, ...rest }
}

function isWithdrawnBy(date: Day, sent: string): boolean {
  const withdrawal = findWithdrawal(sent.toUpperCase())
  return withdrawal !== undefined && withdrawal.withdrawnAt <= date
}
