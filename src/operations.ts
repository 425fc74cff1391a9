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
import { toConversion } from './records/conversion.ts'
import type { RatesOf } from './records/by-code.ts'
import type { ConversionResult, ConversionListParams } from './records/conversions.ts'
import type { CurrencyList } from './records/currencies.ts'
import type { DatedRatesParams, DatedRates } from './records/dated-latest.ts'
import type { HistoryRangeParams, HistoryRange } from './records/history-range.ts'
import { toRateHistory, pairHistory } from './records/history.ts'
import type { HistoryParams, RateHistory } from './records/history.ts'
import { codesOf, toLatestRates } from './records/latest.ts'
import type { LatestParams, LatestRates } from './records/latest.ts'
import {
  NOT_OF_CONVERSIONS,
  NOT_OF_HISTORY,
  NOT_OF_TABLES,
  assertNoMistakenNames,
} from './records/mistaken-names.ts'
import type { ServiceStatus } from './records/status.ts'
import type { RateSources } from './sources/rate-sources.ts'

/** The operations without HTTP. Each resolves to the record of `/api/v1`, or rejects with a `RatesError`. */
export interface RatesOperations {
  /** The reference rates of a day against a base; `GET /api/v1/latest` with `date`. `rates` is typed by `symbols`. */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    params: DatedRatesParams<Symbols>,
  ): Promise<DatedRates<RatesOf<Symbols>>>
  /** Latest rates against a base; `GET /api/v1/latest`. `rates` is typed by `symbols`. */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    params?: LatestParams<Symbols>,
  ): Promise<LatestRates<RatesOf<Symbols>>>
  /** An amount of one currency in another, or in several; `GET /api/v1/convert`. */
  convert<const Params extends ConversionListParams>(
    params: Params & { [Name in Exclude<keyof Params, keyof ConversionListParams>]: never },
  ): Promise<ConversionResult<Params>>
  /** Reference rates of a pair from one day to another; `GET /api/v1/history` with `start`. */
  history(params: HistoryRangeParams): Promise<HistoryRange>
  /** Reference rates of a pair, back from the newest published day; `GET /api/v1/history`. */
  history(params: HistoryParams): Promise<RateHistory>
  /** Every currency, and which data cover it; `GET /api/v1/currencies`. What is not known for want of data is null. */
  currencies(): Promise<CurrencyList>
  /**
   * How fresh both data sets are; `GET /api/v1/status`. Resolves at once, in any state of the data, and starts each refresh that
   * is due.
   */
  status(): Promise<ServiceStatus>
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

  function convert<Params extends ConversionListParams>(
    params: Params,
  ): Promise<ConversionResult<Params>>
  function convert(params: ConversionListParams): Promise<ConversionResult<ConversionListParams>> {
    return orRatesError(async () => {
      const { from, to, amount, date, reverse } = params
      assertNoMistakenNames(params, NOT_OF_CONVERSIONS)
      assertCode('from', from)
      if (typeof to === 'string') assertCode('to', to)
      assertAmount(amount)
      if (typeof to === 'string' && date === undefined && !reverse) {
        const { value } = await sources.latest(undefined, () => [from, to])
        return toConversion(value, { from, to, amount })
      }
      const { convertAny } = await import('./records/convert-any.ts')
      return convertAny(sources, params, toDay(now()))
    })
  }

  function latest<Symbols extends readonly CurrencyCode[]>(
    params: DatedRatesParams<Symbols>,
  ): Promise<DatedRates<RatesOf<Symbols>>>
  function latest<Symbols extends readonly CurrencyCode[]>(
    params?: LatestParams<Symbols>,
  ): Promise<LatestRates<RatesOf<Symbols>>>
  function latest(params: LatestParams | DatedRatesParams = {}): Promise<LatestRates> {
    return orRatesError(async () => {
      const { base, symbols = [], date } = params
      assertNoMistakenNames(params, NOT_OF_TABLES)
      if (base !== undefined) assertCode('base', base)
      if (!Array.isArray(symbols)) throw invalidParameter('symbols', 'a list of codes')
      for (const symbol of symbols) assertCode('symbols', symbol)
      if (date === undefined) {
        const codes = (): string[] => codesOf({ base, symbols })
        return toLatestRates((await sources.latest(undefined, codes)).value, params)
      }
      const { latestOnDay } = await import('./records/dated-operations.ts')
      return latestOnDay(sources, now, { ...params, date })
    })
  }

  function history(params: HistoryRangeParams): Promise<HistoryRange>
  function history(params: HistoryParams): Promise<RateHistory>
  function history(
    params: HistoryParams | HistoryRangeParams,
  ): Promise<RateHistory | HistoryRange> {
    return orRatesError(async () => {
      const { from, to, period, start, end, interval } = params
      assertNoMistakenNames(params, NOT_OF_HISTORY)
      assertCode('from', from)
      assertCode('to', to)
      if (period !== undefined && !PERIODS.includes(period))
        throw invalidPeriod(String(period), PERIODS)
      if ((start ?? end ?? interval) !== undefined) {
        const { historyOfSelection } = await import('./records/dated-operations.ts')
        return historyOfSelection(sources, now, params)
      }
      return toRateHistory(pairHistory((await sources.history()).value, params, toDay(now())))
    })
  }

  return {
    latest,
    convert,
    history,
    currencies: () =>
      orRatesError(async () => {
        const { loadBoth, toCurrencyList } = await import('./records/currencies.ts')
        const { latest, history } = await loadBoth(sources)
        return toCurrencyList(latest && latest.value, history && history.value, toDay(now()))
      }),
    status: () =>
      orRatesError(async () => {
        sources.refreshInBackground()
        const { toServiceStatus } = await import('./records/status.ts')
        return toServiceStatus(sources.state(), now())
      }),
  }
}

function assertCode(parameter: string, code: string | undefined): void {
  if (code === undefined) throw missingParameter(parameter)
  if (!isCodeShaped(code)) throw invalidCurrency(parameter, String(code))
}

function assertAmount(amount: number | undefined): void {
  if (amount === undefined || (Number.isFinite(amount) && amount >= 0)) return
  throw invalidAmount(String(amount))
}
