export { createRatesClient } from './client.ts'
export type { RatesClientOptions } from './client.ts'
export type { RatesClient } from './operations.ts'
export type { CallOptions } from './target.ts'
export { RatesError } from '../errors.ts'
export type { RatesErrorCode, RatesErrorDetails } from '../errors.ts'
export type { Attribution } from '../providers/provider.ts'
export type { CurrencyCode, KnownCurrencyCode } from '../rates/known-currency-code.ts'
export type { HistoryStats } from '../rates/history-stats.ts'
export type { Interval } from '../rates/interval.ts'
export type { Period } from '../rates/period.ts'
export type { ByCode, RatesOf } from '../records/by-code.ts'
export type { Conversion, ConversionParams, ConvertedPair } from '../records/conversion.ts'
export type {
  ConversionList,
  ConversionListParams,
  ConversionResult,
  ConvertedAmount,
} from '../records/conversions.ts'
export type { CurrencyCoverage, CurrencyEnd, CurrencyList } from '../records/currencies.ts'
export type { DatedRates, DatedRatesParams } from '../records/dated-latest.ts'
export type { HistoryRange, HistoryRangeParams } from '../records/history-range.ts'
export type { HistoryParams, Point, RateHistory } from '../records/history.ts'
export type { LatestParams, LatestRates } from '../records/latest.ts'
export type { DataSetStatus, ServiceStatus } from '../records/status.ts'
