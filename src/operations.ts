import { invalidAmount, invalidCurrency, invalidPeriod, missingParameter } from './errors.ts'
import { isCodeShaped } from './rates/currency-code.ts'
import { toDay } from './rates/day.ts'
import { PERIODS } from './rates/period.ts'
import { conversionRecord } from './records/conversion.ts'
import type { ConversionQuestion, ConversionRecord } from './records/conversion.ts'
import { historyRecord } from './records/history.ts'
import type { HistoryQuestion, HistoryRecord } from './records/history.ts'
import { latestRecord } from './records/latest.ts'
import type { LatestQuestion, LatestRecord } from './records/latest.ts'
import type { RateSources } from './sources/sources.ts'

/** The three operations without HTTP. Each resolves to the record of `/api/v1`, or rejects with a `RatesError`. */
export interface RatesOperations {
  /** Latest rates against a base; `GET /api/v1/latest`. */
  latest(question?: LatestQuestion): Promise<LatestRecord>
  /** An amount of one currency in another; `GET /api/v1/convert`. */
  convert(question: ConversionQuestion): Promise<ConversionRecord>
  /** Daily reference rates of a pair; `GET /api/v1/history`. */
  history(question: HistoryQuestion): Promise<HistoryRecord>
}

/** The operations over `sources`. What can be refused without data is refused before any are asked for. */
export function createOperations(sources: RateSources, now: () => number): RatesOperations {
  return {
    async latest(question = {}) {
      if (question.base !== undefined) refuseMalformed('base', question.base)
      for (const symbol of question.symbols ?? []) refuseMalformed('symbols', symbol)
      const { value } = await sources.latest()
      return latestRecord(value, question)
    },
    async convert(question) {
      refuseMalformed('from', question.from)
      refuseMalformed('to', question.to)
      const { amount = 1 } = question
      if (!Number.isFinite(amount) || amount < 0) throw invalidAmount(String(amount))
      const { value } = await sources.latest()
      return conversionRecord(value, question)
    },
    async history(question) {
      refuseMalformed('from', question.from)
      refuseMalformed('to', question.to)
      const { period = '1M' } = question
      if (!PERIODS.includes(period)) throw invalidPeriod(String(period))
      const { value } = await sources.history()
      return historyRecord(value, question, toDay(now()))
    },
  }
}

function refuseMalformed(parameter: string, code: string): void {
  if (code === undefined) throw missingParameter(parameter)
  if (!isCodeShaped(code)) throw invalidCurrency(parameter, String(code))
}
