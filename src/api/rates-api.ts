import {
  invalidAmount,
  invalidCurrency,
  invalidParameter,
  invalidPeriod,
  missingParameter,
  toRatesError,
} from '../errors.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import type { CurrencyCode } from '../rates/currency-code.ts'
import { INTERVALS, PERIODS, isDay, toDay } from '../rates/dates.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import { toConversion } from './convert.ts'
import type { ConversionListParams, ConversionResult, RatesOf } from './convert.ts'
import type { CurrencyList } from './currencies.ts'
import {
  intervalHistory,
  pairHistory,
  toHistoryParams,
  toHistoryRange,
  toRateHistory,
} from './history.ts'
import type { HistoryParams, HistoryRange, HistoryRangeParams, RateHistory } from './history.ts'
import { codesOf, toDatedRates, toLatestRates } from './latest.ts'
import type { DatedRates, DatedRatesParams, LatestParams, LatestRates } from './latest.ts'
import {
  MISTAKEN_CONVERSION_NAMES,
  MISTAKEN_HISTORY_NAMES,
  MISTAKEN_TABLE_NAMES,
  assertNoMistakenNames,
} from './mistaken-names.ts'
import { assertNotFuture, earliestDayFor } from './resolve-code.ts'
import type { ServiceStatus } from './status.ts'

/** The operations without HTTP. Each resolves to the body of the `/api/v1` endpoint, or rejects with a `RatesError`. */
export interface RatesOperations {
  /**
   * Returns the reference rates of a day; `GET /api/v1/latest` with `date`. The keys of `rates` are typed by `symbols`.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const { rates } = createRatesHandler()
   * const { date, rates: byCode } = await rates.latest({ date: '2025-12-31', symbols: ['EUR'] })
   * console.log(date, byCode.EUR)
   * ```
   */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    params: DatedRatesParams<Symbols>,
  ): Promise<DatedRates<RatesOf<Symbols>>>
  /**
   * Returns latest rates (default base USD); `GET /api/v1/latest`. The keys of `rates` are typed by `symbols`.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const { rates } = createRatesHandler()
   * const { rates: byCode } = await rates.latest({ base: 'EUR', symbols: ['USD', 'JPY'] })
   * console.log(byCode.USD)
   * ```
   */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    params?: LatestParams<Symbols>,
  ): Promise<LatestRates<RatesOf<Symbols>>>
  /**
   * Converts an amount (default 1) to one currency or several; `GET /api/v1/convert`.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const { rates } = createRatesHandler()
   * const { result, rate } = await rates.convert({ from: 'USD', to: 'EUR', amount: 12.5 })
   * ```
   */
  convert<const Params extends ConversionListParams>(
    params: Params & { [Name in Exclude<keyof Params, keyof ConversionListParams>]: never },
  ): Promise<ConversionResult<Params>>
  /**
   * Returns the reference rates of a pair in a range of days; `GET /api/v1/history` with `start`.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const { rates } = createRatesHandler()
   * const { points } = await rates.history({ from: 'USD', to: 'EUR', start: '2026-01-01' })
   * ```
   */
  history(params: HistoryRangeParams): Promise<HistoryRange>
  /**
   * Returns the reference rates of a pair for a period up to the newest published day; `GET /api/v1/history`.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const { rates } = createRatesHandler()
   * const { points, stats } = await rates.history({ from: 'USD', to: 'EUR', period: '1Y' })
   * ```
   */
  history(params: HistoryParams): Promise<RateHistory>
  /**
   * Returns every currency and the data that cover it; `GET /api/v1/currencies`. Coverage is null while data are missing.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const { rates } = createRatesHandler()
   * const { currencies } = await rates.currencies()
   * console.log(currencies.filter(({ history }) => history).length)
   * ```
   */
  currencies(): Promise<CurrencyList>
  /**
   * Returns how fresh both data sets are; `GET /api/v1/status`. Resolves immediately, also without data, and starts every
   * refresh that is due.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const { rates } = createRatesHandler()
   * const { latest } = await rates.status()
   * console.log(latest?.stale)
   * ```
   */
  status(): Promise<ServiceStatus>
}

/** Creates the operations over `sources`; `onInternalError` receives unforeseen errors. Parameters are checked before data are loaded, where possible. */
export function createOperations(
  sources: RateSources,
  now: () => number,
  onInternalError: (error: unknown) => void,
): RatesOperations {
  async function orRatesError<Result>(work: () => Promise<Result>): Promise<Result> {
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
      assertNoMistakenNames(params, MISTAKEN_CONVERSION_NAMES)
      assertCode('from', from)
      if (typeof to === 'string') assertCode('to', to)
      assertAmount(amount)
      if (typeof to === 'string' && date === undefined && !reverse) {
        const { value } = await sources.latest(undefined, () => [from, to])
        return toConversion(value, { from, to, amount })
      }
      const { convertAny } = await import('./convert.ts')
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
      assertNoMistakenNames(params, MISTAKEN_TABLE_NAMES)
      if (base !== undefined) assertCode('base', base)
      if (!Array.isArray(symbols)) throw invalidParameter('symbols', 'must be an array of codes')
      for (const symbol of symbols) assertCode('symbols', symbol)
      if (date === undefined) {
        const codes = (): string[] => codesOf({ base, symbols })
        return toLatestRates((await sources.latest(undefined, codes)).value, params)
      }
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
      assertNoMistakenNames(params, MISTAKEN_HISTORY_NAMES)
      assertCode('from', from)
      assertCode('to', to)
      if (period !== undefined && !PERIODS.includes(period))
        throw invalidPeriod(String(period), PERIODS)
      if ((start ?? end ?? interval) !== undefined) {
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
        const { loadBoth, toCurrencyList } = await import('./currencies.ts')
        const { latest, history } = await loadBoth(sources)
        return toCurrencyList(latest && latest.value, history && history.value, toDay(now()))
      }),
    status: () =>
      orRatesError(async () => {
        sources.refreshInBackground()
        const { toServiceStatus } = await import('./status.ts')
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

/** Returns the rates of an earlier day; validates `date`. */
export async function latestOnDay(
  sources: RateSources,
  now: () => number,
  params: DatedRatesParams,
): Promise<DatedRates> {
  const { date } = params
  assertDay('date', date)
  assertNotFuture(date, toDay(now()))
  const { value } = await sources.history(undefined, earliestDayFor(date))
  return toDatedRates(value, params, toDay(now()))
}

/** Returns a history; validates the days and the interval. */
export async function historyOfSelection(
  sources: RateSources,
  now: () => number,
  selection: HistoryParams | HistoryRangeParams,
): Promise<RateHistory | HistoryRange> {
  const { start, end, interval } = selection
  if (start !== undefined) assertDay('start', start)
  if (end !== undefined) assertDay('end', end)
  if (interval !== undefined && !INTERVALS.includes(interval)) {
    throw invalidParameter('interval', 'must be day, week or month')
  }
  const params = toHistoryParams(selection)
  const { value } = await sources.history(undefined, params.start)
  const history = intervalHistory(value, params, toDay(now()))
  return 'start' in history ? toHistoryRange(history) : toRateHistory(history)
}

function assertDay(parameter: string, sent: unknown): void {
  if (typeof sent === 'string' && isDay(sent)) return
  throw invalidParameter(parameter, 'must be YYYY-MM-DD')
}
