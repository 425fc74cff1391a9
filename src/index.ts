export type { Attempt } from './cache/single-flight.ts'
export type { CacheStore } from './cache/store.ts'
export { RatesError } from './errors.ts'
export type { RatesErrorCode, RatesErrorDetails } from './errors.ts'
export type { DataSet, RatesEvent } from './events.ts'
export { createRatesHandler } from './handler.ts'
export type { RatesHandler } from './handler.ts'
export { consoleLogger } from './log.ts'
export type { ConsoleLoggerOptions, LogFormat, LogLevel } from './log.ts'
export type { RawResponse, RawRequest, Header, EndpointResponse } from './http/raw.ts'
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
export type { ConvertedPair, ConversionParams, Conversion } from './records/conversion.ts'
export type {
  ConversionResult,
  ConversionListParams,
  ConversionList,
  ConvertedAmount,
} from './records/conversions.ts'
export type { CurrencyList, CurrencyCoverage, CurrencyEnd } from './records/currencies.ts'
export type { DatedRatesParams, DatedRates } from './records/dated-latest.ts'
export type { HistoryRangeParams, HistoryRange } from './records/history-range.ts'
export type { HistoryParams, RateHistory, Point } from './records/history.ts'
export type { LatestParams, LatestRates } from './records/latest.ts'
export type { DataSetStatus, ServiceStatus } from './records/status.ts'
export { createMemoryStore } from './stores/memory.ts'
export type { MemoryStoreOptions } from './stores/memory.ts'
