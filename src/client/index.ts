export { createRatesClient } from './client.ts'
export type { RatesClientOptions } from './client.ts'
export type { RatesClient } from './operations.ts'
export type { CallOptions } from './questions.ts'
export { RatesError } from '../errors.ts'
export type { RatesErrorCode, RatesErrorDetails } from '../errors.ts'
export type { Attribution } from '../providers/provider.ts'
export type { CurrencyCode, KnownCurrencyCode } from '../rates/known-currency-code.ts'
export type { HistoryStats } from '../rates/history-stats.ts'
export type { Interval } from '../rates/interval.ts'
export type { Period } from '../rates/period.ts'
export type { ByCode, RatesOf } from '../records/by-code.ts'
export type { Conversion, ConversionQuestion, ConversionRecord } from '../records/conversion.ts'
export type {
  ConversionAnswer,
  ConversionsQuestion,
  ConversionsRecord,
  ConvertedAmount,
} from '../records/conversions.ts'
export type { CurrenciesRecord, CurrencyCoverage, CurrencyEnd } from '../records/currencies.ts'
export type { DatedLatestQuestion, DatedLatestRecord } from '../records/dated-latest.ts'
export type { HistoryRangeQuestion, HistoryRangeRecord } from '../records/history-range.ts'
export type { HistoryQuestion, HistoryRecord, Point } from '../records/history.ts'
export type { LatestQuestion, LatestRecord } from '../records/latest.ts'
export type { DataSetStatus, StatusRecord } from '../records/status.ts'
