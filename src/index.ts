export type { Attempt } from './cache/refresh.ts'
export type { CacheStore } from './cache/store.ts'
export { RatesError } from './errors.ts'
export type { RatesErrorCode, RatesErrorDetails } from './errors.ts'
export type { AccessRefusal, DataSet, RatesEvent } from './events.ts'
export { createRatesHandler } from './handler.ts'
export type { HandlerListeners, HandlerState, RatesHandler, ResponseSummary } from './handler.ts'
export { consoleLogger } from './log.ts'
export type { LogLevel } from './event-records.ts'
export type { ConsoleLoggerOptions, LogFormat } from './log.ts'
export type {
  Access,
  Admission,
  Guard,
  GuardContext,
  GuardedRequest,
  KeyRules,
  ProxyOptions,
  Usage,
  UsageLimit,
} from './http/guard.ts'
export type {
  EndpointResponse,
  Header,
  RawRequest,
  RawResponse,
  StreamedBody,
} from './http/messages.ts'
export type { ReadBody } from './http/read-body.ts'
export type { Route, RouteContext, RouteFunction, RouteRequest, Routes } from './http/routes.ts'
export { createRates } from './rates-api.ts'
export type { Rates, RatesListeners } from './rates-api.ts'
export type { RatesOperations } from './api/operations.ts'
export type { CorsScope, RatesHandlerOptions, RatesOptions, ServerOptions } from './options.ts'
export { createExchangeRateApiProvider } from './providers/exchange-rate-api.ts'
export type { ExchangeRateApiOptions } from './providers/exchange-rate-api.ts'
export { createFrankfurterProvider } from './providers/frankfurter.ts'
export type { FrankfurterOptions } from './providers/frankfurter.ts'
export type {
  Attribution,
  Derivation,
  HistoryDay,
  HistoryDays,
  HistoryProvider,
  LatestProvider,
  LatestTable,
  ProviderContext,
  ReferenceTable,
  UnconfirmedRate,
} from './upstream/provider.ts'
export type { CurrencyCode, KnownCurrencyCode } from './rates/iso-4217.ts'
export type { Redenomination } from './rates/currency-code.ts'
export type { HistoryStats, IntervalValue } from './rates/series.ts'
export type { Publication } from './rates/calendar.ts'
export type { DateRule, Interval } from './rates/dates.ts'
export type { Period } from './rates/dates.ts'
export type {
  ByCode,
  Conversion,
  ConversionList,
  ConversionResult,
  ConvertedAmount,
  RatesOf,
  SourceRate,
} from './api/convert.ts'
export type {
  DayChoice,
  ConversionParams,
  ConversionRow,
  CurrenciesParams,
  DaysParams,
  HistoryParams,
  LatestParams,
  SnapshotParams,
} from './api/parameter-types.ts'
export type { Rounding } from './api/rounded.ts'
export type { ConversionError, ManyConversions } from './api/convert-many.ts'
export type {
  CurrencyCoverage,
  CurrencyEnd,
  CurrencyHistory,
  CurrencyList,
} from './api/currencies.ts'
export type { RatesDay } from './api/days.ts'
export type { HistoryList, HistoryResult, Point, RateHistory } from './api/history.ts'
export type { LatestRates } from './api/latest.ts'
export type { RatesSnapshot } from './api/snapshot.ts'
export type { QuoteSettings } from './quotes/settings.ts'
export type { ReferenceSource, SourceList } from './api/sources.ts'
export type { DataSetStatus, HistorySourceStatus, ServiceStatus } from './api/status.ts'
export { createMemoryStore } from './stores/memory.ts'
export type { MemoryStoreOptions } from './stores/memory.ts'
