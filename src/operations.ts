import {
  invalidAmount,
  invalidCurrency,
  invalidParameter,
  invalidPeriod,
  missingParameter,
  toRatesError,
} from './errors.ts'
import { isCodeShaped } from './rates/currency-code.ts'
import { toDay } from './rates/day.ts'
import type { CurrencyCode } from './rates/known-currency-code.ts'
import { PERIODS } from './rates/period.ts'
import { conversionRecord } from './records/conversion.ts'
import type { RatesOf } from './records/by-code.ts'
import type { ConversionAnswer, ConversionsQuestion } from './records/conversions.ts'
import type { CurrenciesRecord } from './records/currencies.ts'
import type { DatedLatestQuestion, DatedLatestRecord } from './records/dated-latest.ts'
import type { HistoryRangeQuestion, HistoryRangeRecord } from './records/history-range.ts'
import { historyRecord, pairHistory } from './records/history.ts'
import type { HistoryQuestion, HistoryRecord } from './records/history.ts'
import { codesOf, latestRecord } from './records/latest.ts'
import type { LatestQuestion, LatestRecord } from './records/latest.ts'
import {
  NOT_OF_CONVERSIONS,
  NOT_OF_HISTORY,
  NOT_OF_TABLES,
  refuseMistaken,
} from './records/mistaken-names.ts'
import type { StatusRecord } from './records/status.ts'
import type { RateSources } from './sources/sources.ts'

/** The operations without HTTP. Each resolves to the record of `/api/v1`, or rejects with a `RatesError`. */
export interface RatesOperations {
  /** The reference rates of a day against a base; `GET /api/v1/latest` with `date`. `rates` is typed by `symbols`. */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    question: DatedLatestQuestion<Symbols>,
  ): Promise<DatedLatestRecord<RatesOf<Symbols>>>
  /** Latest rates against a base; `GET /api/v1/latest`. `rates` is typed by `symbols`. */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    question?: LatestQuestion<Symbols>,
  ): Promise<LatestRecord<RatesOf<Symbols>>>
  /** An amount of one currency in another, or in several; `GET /api/v1/convert`. */
  convert<const Question extends ConversionsQuestion>(
    question: Question & { [Name in Exclude<keyof Question, keyof ConversionsQuestion>]: never },
  ): Promise<ConversionAnswer<Question>>
  /** Reference rates of a pair from one day to another; `GET /api/v1/history` with `start`. */
  history(question: HistoryRangeQuestion): Promise<HistoryRangeRecord>
  /** Reference rates of a pair, back from the newest published day; `GET /api/v1/history`. */
  history(question: HistoryQuestion): Promise<HistoryRecord>
  /** Every currency, and which data cover it; `GET /api/v1/currencies`. What is not known for want of data is null. */
  currencies(): Promise<CurrenciesRecord>
  /**
   * How fresh both data sets are; `GET /api/v1/status`. Resolves at once, in any state of the data, and starts each refresh that
   * is due.
   */
  status(): Promise<StatusRecord>
}

/** The operations over `sources`; `onInternalError` is told of what nobody foresaw. What can be refused without data is refused before any are asked for. */
export function createOperations(
  sources: RateSources,
  now: () => number,
  onInternalError: (error: unknown) => void,
): RatesOperations {
  async function orRatesError<Outcome>(work: () => Promise<Outcome>): Promise<Outcome> {
    try {
      return await work()
    } catch (thrown) {
      const error = toRatesError(thrown)
      if (error.code === 'internal_error') onInternalError(error.cause)
      throw error
    }
  }

  function convert<Question extends ConversionsQuestion>(
    question: Question,
  ): Promise<ConversionAnswer<Question>>
  function convert(question: ConversionsQuestion): Promise<ConversionAnswer<ConversionsQuestion>> {
    return orRatesError(async () => {
      const { from, to, amount, date, reverse } = question
      refuseMistaken(question, NOT_OF_CONVERSIONS)
      refuseMalformed('from', from)
      if (typeof to === 'string') refuseMalformed('to', to)
      refuseAmount(amount)
      if (typeof to === 'string' && date === undefined && !reverse) {
        const { value } = await sources.latest(undefined, () => [from, to])
        return conversionRecord(value, { from, to, amount })
      }
      const { answerConversion } = await import('./records/answer-conversion.ts')
      return answerConversion(sources, question, toDay(now()))
    })
  }

  function latest<Symbols extends readonly CurrencyCode[]>(
    question: DatedLatestQuestion<Symbols>,
  ): Promise<DatedLatestRecord<RatesOf<Symbols>>>
  function latest<Symbols extends readonly CurrencyCode[]>(
    question?: LatestQuestion<Symbols>,
  ): Promise<LatestRecord<RatesOf<Symbols>>>
  function latest(question: LatestQuestion | DatedLatestQuestion = {}): Promise<LatestRecord> {
    return orRatesError(async () => {
      const { base, symbols = [], date } = question
      refuseMistaken(question, NOT_OF_TABLES)
      if (base !== undefined) refuseMalformed('base', base)
      if (!Array.isArray(symbols)) throw invalidParameter('symbols', 'a list of codes')
      for (const symbol of symbols) refuseMalformed('symbols', symbol)
      if (date === undefined) {
        const codes = (): string[] => codesOf({ base, symbols })
        return latestRecord((await sources.latest(undefined, codes)).value, question)
      }
      const { tellLatest } = await import('./records/dated-operations.ts')
      return tellLatest(sources, now, { ...question, date })
    })
  }

  function history(question: HistoryRangeQuestion): Promise<HistoryRangeRecord>
  function history(question: HistoryQuestion): Promise<HistoryRecord>
  function history(
    question: HistoryQuestion | HistoryRangeQuestion,
  ): Promise<HistoryRecord | HistoryRangeRecord> {
    return orRatesError(async () => {
      const { from, to, period, start, end, interval } = question
      refuseMistaken(question, NOT_OF_HISTORY)
      refuseMalformed('from', from)
      refuseMalformed('to', to)
      if (period !== undefined && !PERIODS.includes(period))
        throw invalidPeriod(String(period), PERIODS)
      if ((start ?? end ?? interval) !== undefined) {
        const { tellHistory } = await import('./records/dated-operations.ts')
        return tellHistory(sources, now, question)
      }
      return historyRecord(pairHistory((await sources.history()).value, question, toDay(now())))
    })
  }

  return {
    latest,
    convert,
    history,
    currencies: () =>
      orRatesError(async () => {
        const { askBoth, currenciesRecord } = await import('./records/currencies.ts')
        const { latest, history } = await askBoth(sources)
        return currenciesRecord(latest && latest.value, history && history.value, toDay(now()))
      }),
    status: () =>
      orRatesError(async () => {
        sources.refreshBehind()
        const { statusRecord } = await import('./records/status.ts')
        return statusRecord(sources.state(), now())
      }),
  }
}

function refuseMalformed(parameter: string, code: string | undefined): void {
  if (code === undefined) throw missingParameter(parameter)
  if (!isCodeShaped(code)) throw invalidCurrency(parameter, String(code))
}

function refuseAmount(amount: number | undefined): void {
  if (amount === undefined || (Number.isFinite(amount) && amount >= 0)) return
  throw invalidAmount(String(amount))
}
