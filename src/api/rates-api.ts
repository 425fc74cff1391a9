import type { Runtime } from '../async.ts'
import { toRatesError } from '../errors.ts'
import { toDay } from '../rates/dates.ts'
import type { CurrencyCode } from '../rates/iso-4217.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import { conversion } from './convert.ts'
import type { ConversionListParams, ConversionResult, RatesOf } from './convert.ts'
import type { AnyRowConversion, ConversionRow, ManyConversions } from './convert-many.ts'
import type { CurrencyList } from './currencies.ts'
import type { HistoryResult } from './history-list.ts'
import { isPlain, rateHistory } from './history.ts'
import type {
  HistoryListParams,
  HistoryParams,
  HistoryRange,
  HistoryRangeParams,
  RateHistory,
} from './history.ts'
import { latestRates } from './latest.ts'
import type {
  DatedRates,
  DatedRatesParams,
  LatestParams,
  LatestRates,
  RuledRates,
  RuledRatesParams,
} from './latest.ts'
import type { SourceList } from './sources.ts'
import { serviceStatus } from './status.ts'
import type { ServiceStatus } from './status.ts'

/** The operations without HTTP. Each resolves to the body of the `/api/v1` endpoint, or rejects with a `RatesError`. */
export interface RatesOperations {
  /**
   * Returns the reference rates of a day by a rule; `GET /api/v1/latest` with `date` and `rule`.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const { rates } = createRatesHandler()
   * const { asked, date } = await rates.latest({ date: '2023-12-31', rule: 'next' })
   * console.log(asked, date) // 2023-12-31 2024-01-02
   * ```
   */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    params: RuledRatesParams<Symbols>,
  ): Promise<RuledRates<RatesOf<Symbols>>>
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
   * Converts up to 10,000 amounts at once; `POST /api/v1/convert`. The result for each row, in order, is what `convert` returns
   * for it, or `{ error }`: an invalid row does not fail the others. Loads each data set at most once.
   *
   * @throws {RatesError} `invalid_parameter` unless `rows` is an array of at most 10,000
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const { rates } = createRatesHandler()
   * const results = await rates.convertMany([
   *   { date: '2026-01-15', from: 'USD', to: 'EUR', amount: 12.5 },
   *   { date: '2026-01-16', from: 'GBP', to: 'EUR', amount: '99.90' },
   * ])
   * for (const row of results) console.log('error' in row ? row.error.message : row.result)
   * ```
   */
  convertMany<const Rows extends readonly ConversionRow[]>(
    rows: Rows,
  ): Promise<ManyConversions<Rows>>
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
   * Returns the reference rates of several pairs if `to` is an array (at most 20 codes), and those of every calendar day with
   * `fill`; `GET /api/v1/history` with a list.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const { rates } = createRatesHandler()
   * const years = { start: '2021-01-01', interval: 'year', value: 'average' } as const
   * const { series } = await rates.history({ from: 'EUR', to: ['USD', 'GBP'], ...years })
   * console.log(series.GBP.points)
   * ```
   */
  history<const Params extends HistoryListParams>(
    params: Params & { [Name in Exclude<keyof Params, keyof HistoryParams>]: never },
  ): Promise<HistoryResult<Params>>
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
   * Returns the sources of reference rates with their terms and newest day; `GET /api/v1/sources`.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const { rates } = createRatesHandler()
   * const { sources } = await rates.sources()
   * for (const { id, lastDay, late } of sources) console.log(id, lastDay, late)
   * ```
   */
  sources(): Promise<SourceList>
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

/** The code of all but a plain history is loaded at the first call. */
async function anyHistory(
  sources: RateSources,
  params: HistoryListParams,
  now: () => number,
): Promise<HistoryResult<HistoryListParams>> {
  if (isPlain(params)) return rateHistory(sources, params, now)
  const { derivedHistory } = await import('./history-list.ts')
  return derivedHistory(sources, params, now)
}

/** Creates the operations over `sources`; `onInternalError` receives unforeseen errors. Parameters are checked before data are loaded, where possible. */
export function createRatesApi(
  sources: RateSources,
  runtime: Pick<Runtime, 'now' | 'monotonic' | 'yieldToEventLoop'>,
  onInternalError: (error: unknown) => void,
): RatesOperations {
  const { now } = runtime
  const attempt = createAttempt(onInternalError)

  function latest<Symbols extends readonly CurrencyCode[]>(
    params: RuledRatesParams<Symbols>,
  ): Promise<RuledRates<RatesOf<Symbols>>>
  function latest<Symbols extends readonly CurrencyCode[]>(
    params: DatedRatesParams<Symbols>,
  ): Promise<DatedRates<RatesOf<Symbols>>>
  function latest<Symbols extends readonly CurrencyCode[]>(
    params?: LatestParams<Symbols>,
  ): Promise<LatestRates<RatesOf<Symbols>>>
  function latest(params: LatestParams | DatedRatesParams = {}): Promise<LatestRates> {
    return attempt(() => latestRates(sources, params, now))
  }

  function convert<Params extends ConversionListParams>(
    params: Params,
  ): Promise<ConversionResult<Params>>
  function convert(params: ConversionListParams): Promise<ConversionResult<ConversionListParams>> {
    return attempt(async () => {
      const record = await conversion(sources, params, now)
      if (params.expand === undefined) return record
      const { ratesBySource } = await import('./sources.ts')
      return { ...record, sources: await ratesBySource(sources, params, record, now) }
    })
  }

  function history(params: HistoryRangeParams): Promise<HistoryRange>
  function history(params: HistoryParams): Promise<RateHistory>
  function history<Params extends HistoryListParams>(params: Params): Promise<HistoryResult<Params>>
  function history(params: HistoryListParams): Promise<HistoryResult<HistoryListParams>> {
    return attempt(() => anyHistory(sources, params, now))
  }

  return {
    latest,
    convert,
    convertMany: createConvertMany(sources, runtime, onInternalError),
    history,
    currencies: () =>
      attempt(async () => {
        const { loadCurrencyData, toCurrencyList } = await import('./currencies.ts')
        return toCurrencyList(await loadCurrencyData(sources), toDay(now()))
      }),
    sources: () => attempt(async () => (await import('./sources.ts')).sourceList(sources, now)),
    status: () => attempt(async () => serviceStatus(sources, now())),
  }
}

function createAttempt(
  onInternalError: (error: unknown) => void,
): <Result>(work: () => Promise<Result>) => Promise<Result> {
  return async (work) => {
    try {
      return await work()
    } catch (thrown) {
      const error = toRatesError(thrown)
      if (error.code === 'internal_error') onInternalError(error.cause)
      throw error
    }
  }
}

/** Loads the code with the first call. */
function createConvertMany(
  sources: RateSources,
  runtime: Pick<Runtime, 'now' | 'monotonic' | 'yieldToEventLoop'>,
  onInternalError: (error: unknown) => void,
): RatesOperations['convertMany'] {
  const attempt = createAttempt(onInternalError)

  function convertMany<Rows extends readonly ConversionRow[]>(
    rows: Rows,
  ): Promise<ManyConversions<Rows>>
  function convertMany(rows: readonly ConversionRow[]): Promise<AnyRowConversion[]> {
    return attempt(async () => {
      const { convertRows, loadRates, requireRows } = await import('./convert-many.ts')
      const loaded = await loadRates(sources, requireRows(rows), { runtime })
      const all: AnyRowConversion[] = []
      const use = (results: AnyRowConversion[]): void => void all.push(...results)
      await convertRows(loaded, rows, { runtime, onInternalError }, use)
      return all
    })
  }
  return convertMany
}
