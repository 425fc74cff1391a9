export { createRatesClient } from './client.ts'
export type { RatesClientOptions } from './client.ts'
export type { RatesClient } from './operations.ts'
export type { CallOptions } from './target.ts'
export { RatesError } from '../errors.ts'
export type { RatesErrorCode, RatesErrorDetails } from '../errors.ts'
export type { Attribution } from '../upstream/provider.ts'
export type { CurrencyCode, KnownCurrencyCode } from '../rates/currency-code.ts'
export type { HistoryStats } from '../rates/series.ts'
export type { Interval } from '../rates/dates.ts'
export type { Period } from '../rates/dates.ts'
export type { ByCode, RatesOf } from '../api/convert.ts'
export type { Conversion, ConversionParams, ConvertedPair } from '../api/convert.ts'
export type {
  ConversionList,
  ConversionListParams,
  ConversionResult,
  ConvertedAmount,
} from '../api/convert.ts'
export type { CurrencyCoverage, CurrencyEnd, CurrencyList } from '../api/currencies.ts'
export type { DatedRates, DatedRatesParams } from '../api/latest.ts'
export type { HistoryRange, HistoryRangeParams } from '../api/history.ts'
export type { HistoryParams, Point, RateHistory } from '../api/history.ts'
export type { LatestParams, LatestRates } from '../api/latest.ts'
export type { DataSetStatus, ServiceStatus } from '../api/status.ts'
