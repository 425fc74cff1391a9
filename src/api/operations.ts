import type { CurrencyCode } from '../rates/iso-4217.ts'
import type { ManyConversions } from './convert-many.ts'
import type { ConversionResult, RatesOf } from './convert.ts'
import type { CurrencyList } from './currencies.ts'
import type { RatesDay } from './days.ts'
import type { HistoryResult } from './history.ts'
import type { LatestRates } from './latest.ts'
import type {
  ConversionParams,
  ConversionRow,
  CurrenciesParams,
  DaysParams,
  HistoryParams,
  LatestParams,
  Targets,
} from './parameter-types.ts'
import type { SourceList } from './sources.ts'
import type { ServiceStatus } from './status.ts'

/**
 * The operations of `/api/v1`. Each resolves to the body of its endpoint, or rejects with a `RatesError`: also for a parameter
 * that it does not have. `Extra` are further parameters of all.
 */
export interface RatesOperations<Extra extends object = {}> {
  /**
   * Returns latest rates, or the reference rates of a day, against a base (default USD); `GET /api/v1/latest`. The keys of
   * `rates` are typed by `symbols`.
   *
   * @example
   * ```ts
   * import { createRates } from 'ratesmith'
   *
   * const rates = createRates()
   * const { rates: byCode } = await rates.latest({ base: 'EUR', symbols: ['USD', 'JPY'] })
   * console.log(byCode.USD)
   * const { asked, date } = await rates.latest({ date: '2023-12-31', rule: 'next' })
   * console.log(asked, date) // 2023-12-31 2024-01-02
   * ```
   */
  latest<const Symbols extends readonly CurrencyCode[] = readonly CurrencyCode[]>(
    params?: LatestParams<Symbols> & Extra,
  ): Promise<LatestRates<RatesOf<Symbols>>>
  /**
   * Converts an amount (default 1) to one currency, or to several if `to` is an array; `GET /api/v1/convert`.
   *
   * @example
   * ```ts
   * import { createRates } from 'ratesmith'
   *
   * const rates = createRates()
   * const { result } = await rates.convert({ from: 'USD', to: 'EUR', amount: '12.50' })
   * const { results } = await rates.convert({ from: 'USD', to: ['EUR', 'GBP'], amount: 100 })
   * console.log(result, results.GBP.rate)
   * ```
   */
  convert<const To extends Targets>(
    params: ConversionParams<To> & Extra,
  ): Promise<ConversionResult<To>>
  /**
   * Converts up to 10,000 amounts at once; `POST /api/v1/convert`, with a body of at most 1 MiB. The result for each row, in
   * order, is what `convert` returns for it, or `{ error }`: an invalid row does not fail the others.
   *
   * @throws {RatesError} `invalid_parameter` unless `rows` is an array within these limits
   * @example
   * ```ts
   * import { createRates } from 'ratesmith'
   *
   * const rates = createRates()
   * const results = await rates.convertMany([
   *   { date: '2026-01-15', from: 'USD', to: 'EUR', amount: -12.5 },
   *   { date: '2026-01-16', from: 'GBP', to: 'EUR', amount: '99.90' },
   * ])
   * for (const row of results) console.log('error' in row ? row.error.message : row.result)
   * ```
   */
  convertMany<const Rows extends readonly ConversionRow[]>(
    rows: Rows,
    options?: Extra,
  ): Promise<ManyConversions<Rows>>
  /**
   * Returns the reference rates of a pair, or of several if `to` is an array (at most 20 codes), for a period up to the newest
   * published day or from one day to another; `GET /api/v1/history`.
   *
   * @example
   * ```ts
   * import { createRates } from 'ratesmith'
   *
   * const rates = createRates()
   * const { points, stats } = await rates.history({ from: 'USD', to: 'EUR', period: '1Y' })
   * const years = { start: '2021-01-01', interval: 'year', value: 'average' } as const
   * const { series } = await rates.history({ from: 'EUR', to: ['USD', 'GBP'], ...years })
   * console.log(points.length, stats.high, series.GBP.points)
   * ```
   */
  history<const To extends Targets>(params: HistoryParams<To> & Extra): Promise<HistoryResult<To>>
  /**
   * Returns every published day with its rates, oldest first: a record for each day and source, in which a code has the rate
   * of the first source that has it. `GET /api/v1/days`. A month is in memory at a time. The iteration throws a `RatesError`
   * where a rate cannot be loaded, and never leaves one out.
   *
   * @example
   * ```ts
   * import { createRates } from 'ratesmith'
   *
   * const rates = createRates()
   * for await (const { date, source, base, rates: byCode } of rates.days({ start: '1999-01-04' })) {
   *   console.log(date, source, base, byCode)
   * }
   * ```
   */
  days(params: DaysParams & Extra): AsyncIterable<RatesDay>
  /**
   * Returns every currency, or those of `symbols`, and the data that cover it; `GET /api/v1/currencies`. Coverage is null while
   * data are missing.
   *
   * @example
   * ```ts
   * import { createRates } from 'ratesmith'
   *
   * const rates = createRates()
   * const { currencies } = await rates.currencies()
   * console.log(currencies.filter(({ history }) => history).length)
   * ```
   */
  currencies(params?: CurrenciesParams & Extra): Promise<CurrencyList>
  /**
   * Returns the sources of reference rates with their terms and newest day; `GET /api/v1/sources`.
   *
   * @example
   * ```ts
   * import { createRates } from 'ratesmith'
   *
   * const rates = createRates()
   * const { sources } = await rates.sources()
   * for (const { id, lastDay, late } of sources) console.log(id, lastDay, late)
   * ```
   */
  sources(options?: Extra): Promise<SourceList>
  /**
   * Returns how fresh both data sets are; `GET /api/v1/status`. Resolves immediately, also without data, and starts every
   * refresh that is due.
   *
   * @example
   * ```ts
   * import { createRates } from 'ratesmith'
   *
   * const rates = createRates()
   * const { latest } = await rates.status()
   * console.log(latest?.stale)
   * ```
   */
  status(options?: Extra): Promise<ServiceStatus>
}
