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
import { PERIODS } from './rates/period.ts'
import { conversionRecord } from './records/conversion.ts'
import type { ConversionAnswer, ConversionsQuestion } from './records/conversions.ts'
import type { CurrenciesRecord } from './records/currencies.ts'
import { historyRecord, pairHistory } from './records/history.ts'
import type { HistoryQuestion, HistoryRecord } from './records/history.ts'
import { latestRecord } from './records/latest.ts'
import type { LatestQuestion, LatestRecord } from './records/latest.ts'
import type { RateSources } from './sources/sources.ts'

/** The operations without HTTP. Each resolves to the record of `/api/v1`, or rejects with a `RatesError`. */
export interface RatesOperations {
  /** Latest rates against a base; `GET /api/v1/latest`. */
  latest(question?: LatestQuestion): Promise<LatestRecord>
  /** An amount of one currency in another, or in several; `GET /api/v1/convert`. */
  convert<const Question extends ConversionsQuestion>(
    question: Question & { [Name in Exclude<keyof Question, keyof ConversionsQuestion>]: never },
  ): Promise<ConversionAnswer<Question>>
  /** Daily reference rates of a pair; `GET /api/v1/history`. */
  history(question: HistoryQuestion): Promise<HistoryRecord>
  /** Every currency, and which data cover it; `GET /api/v1/currencies`. What is not known for want of data is null. */
  currencies(): Promise<CurrenciesRecord>
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
      refuseMalformed('from', from)
      if (typeof to === 'string') refuseMalformed('to', to)
      refuseAmount(amount)
      if (typeof to === 'string' && date === undefined && !reverse) {
        return conversionRecord((await sources.latest()).value, { from, to, amount })
      }
      const { answerConversion } = await import('./records/answer-conversion.ts')
      return answerConversion(sources, question, toDay(now()))
    })
  }

  return {
    latest: (question = {}) =>
      orRatesError(async () => {
        const { base, symbols = [] } = question
        if (base !== undefined) refuseMalformed('base', base)
        if (!Array.isArray(symbols)) throw invalidParameter('symbols', 'a list of codes')
        for (const symbol of symbols) refuseMalformed('symbols', symbol)
        return latestRecord((await sources.latest()).value, question)
      }),
    convert,
    history: (question) =>
      orRatesError(async () => {
        const { from, to, period } = question
        refuseMalformed('from', from)
        refuseMalformed('to', to)
        if (period !== undefined && !PERIODS.includes(period))
          throw invalidPeriod(String(period), PERIODS)
        return historyRecord(pairHistory((await sources.history()).value, question, toDay(now())))
      }),
    currencies: () =>
      orRatesError(async () => {
        const { askBoth, currenciesRecord } = await import('./records/currencies.ts')
        const { latest, history } = await askBoth(sources)
        return currenciesRecord(latest?.value, history?.value, toDay(now()))
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
