export type { Attempt } from './cache/single-flight.ts'
export type { CacheStore } from './cache/store.ts'
export { RatesError } from './errors.ts'
export type { RatesErrorCode, RatesErrorDetails } from './errors.ts'
export type { DataSet, RatesEvent } from './events.ts'
export { createRatesHandler } from './handler.ts'
export type { RatesHandler } from './handler.ts'
export { consoleLogger } from './log.ts'
export type { ConsoleLoggerOptions, LogFormat, LogLevel } from './log.ts'
export type { EndpointResponse, Header, RawRequest, RawResponse } from './http/raw.ts'
export type { RatesOperations } from './operations.ts'
export type { CorsScope, RatesHandlerOptions } from './options.ts'
export { createExchangeRateApiProvider } from './providers/exchange-rate-api.ts'
export type { ExchangeRateApiOptions } from './providers/exchange-rate-api.ts'
export { createFrankfurterProvider } from './providers/frankfurter.ts'
export type { FrankfurterOptions } from './providers/frankfurter.ts'
export type {
  Attribution,
  CrossCheck,
  HistoryDay,
  HistoryDays,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
  ReferenceTable,
} from './providers/provider.ts'
export type { CurrencyCode, KnownCurrencyCode } from './rates/known-currency-code.ts'
export type { HistoryStats } from './rates/history-stats.ts'
export type { Interval } from './rates/interval.ts'
export type { Period } from './rates/period.ts'
export type { ByCode, RatesOf } from './records/by-code.ts'
export type { Conversion, ConversionParams, ConvertedPair } from './records/conversion.ts'
export type {
  ConversionList,
  ConversionListParams,
  ConversionResult,
  ConvertedAmount,
} from './records/conversions.ts'
export type { CurrencyCoverage, CurrencyEnd, CurrencyList } from './records/currencies.ts'
export type { DatedRates, DatedRatesParams } from './records/dated-latest.ts'
export type { HistoryRange, HistoryRangeParams } from './records/history-range.ts'
export type { HistoryParams, Point, RateHistory } from './records/history.ts'
export type { LatestParams, LatestRates } from './records/latest.ts'
export type { DataSetStatus, ServiceStatus } from './records/status.ts'
export { createMemoryStore } from './stores/memory.ts'
export type { MemoryStoreOptions } from './stores/memory.ts'
