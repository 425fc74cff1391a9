// Every exported name that types.test-d.ts does not use; test/exports.test.ts lists those that neither has.
import { expectTypeOf } from 'expect-type'
import { test } from 'vitest'

import type { FetchHandler, ServeOptions } from '../adapters/node.ts'
import type { ExpressRequest } from '../adapters/express.ts'
import type { NextFunction, NextHandler } from '../adapters/next.ts'
import type {
  NodeHandler,
  NodeRequest,
  NodeResponse,
  RequestSocket,
  RequestStream,
  ResponseSocket,
} from '../adapters/node.ts'
import { createFileKeyStore } from '../src/access/file.ts'
import type { KeyStoreOptions, StoredKey, WritableKeyStore } from '../src/access/file.ts'
import { createMemoryCounters } from '../src/access/index.ts'
import type {
  Admission,
  Counters,
  CountersContext,
  Decision,
  GuardedRequest,
  KeyRecord,
  KeyStore,
  Limit,
  LimitState,
  MemoryCountersOptions,
  OpenCounters,
} from '../src/access/index.ts'
import type { CallOptions } from '../src/client/index.ts'
import type { CompatOptions } from '../src/compat/fixer.ts'
import type {
  AccessRefusal,
  Attempt,
  Attribution,
  ByCode,
  CacheStore,
  Conversion,
  CorsScope,
  CurrenciesParams,
  CurrencyCoverage,
  CurrencyEnd,
  DataSet,
  DataSetStatus,
  DateRule,
  DayChoice,
  DaysParams,
  EndpointResponse,
  ExchangeRateApiOptions,
  FrankfurterOptions,
  GuardContext,
  HandlerListeners,
  HandlerState,
  Header,
  HistoryDay,
  HistoryDays,
  HistoryProvider,
  HistoryStats,
  LatestProvider,
  LatestTable,
  LogFormat,
  LogLevel,
  ManyConversions,
  MemoryStoreOptions,
  Period,
  ProviderContext,
  Publication,
  RatesError,
  RatesErrorDetails,
  RatesEvent,
  RatesHandlerOptions,
  RatesListeners,
  RatesOf,
  RatesOptions,
  RawRequest,
  RawResponse,
  ReadBody,
  Redenomination,
  ReferenceSource,
  ReferenceTable,
  ResponseSummary,
  Rounding,
  Route,
  RouteContext,
  RouteRequest,
  Routes,
  ServiceStatus,
  SnapshotParams,
  SourceList,
  SourceRate,
  UnconfirmedRate,
  Usage,
  UsageLimit,
} from '../src/index.ts'
import {
  allocate,
  digitsOf,
  fromMinorUnits,
  roundTo,
  toDineroRates,
  toMinorUnits,
} from '../src/money/index.ts'
import type {
  RatesSource,
  RoundingMode,
  RoundingOptions,
  ScaledAmount,
} from '../src/money/index.ts'
import type { AnsweringHandler } from '../src/monitoring/index.ts'
import {
  OFFICIAL_PEGS,
  createBankOfCanadaProvider,
  createBankOfEnglandProvider,
  createBankOfIsraelProvider,
  createBcbProvider,
  createBnrProvider,
  createCbrProvider,
  createDanmarksNationalbankProvider,
  createEcbDataApiProvider,
  createEcbProvider,
  createFbilProvider,
  createImfProvider,
  createMnbProvider,
  createNbuProvider,
  createRbaProvider,
  createRiksbankProvider,
  createTcmbProvider,
  fixed,
} from '../src/providers/index.ts'
import type {
  BankFactory,
  BankOptions,
  CurrencyapiOptions,
  Derived,
  EcbDataApiOptions,
  EcbOptions,
  ExchangeRateApiV6Options,
  Fawazahmed0Options,
  FixedRatio,
  FolderOptions,
  FrankfurterV2Options,
  KeyedBankOptions,
  NbpOptions,
  OfficialPeg,
  OpenExchangeRatesOptions,
  OverlayOptions,
  OwnRates,
  SideOptions,
} from '../src/providers/index.ts'
import type { QuoteParams, QuotedParams, SnapshotConversionParams } from '../src/quotes/index.ts'
import type { QuotedRow } from '../src/client/index.ts'
import { createFileStore } from '../src/stores/file.ts'
import { createSqliteStore } from '../src/stores/sqlite.ts'
import type { SqliteStore, SqliteStoreOptions } from '../src/stores/sqlite.ts'
import { fakeClock, fixedProviders } from '../src/testing/index.ts'
import type {
  FailingProvider,
  FakeClock,
  FakeProviders,
  FakeProvidersOptions,
  FixedRates,
} from '../src/testing/index.ts'

test('choices are closed lists', () => {
  expectTypeOf<DataSet>().toEqualTypeOf<'latest' | 'history'>()
  expectTypeOf<CorsScope>().toEqualTypeOf<'v1' | 'all' | 'off'>()
  expectTypeOf<Period>().toEqualTypeOf<'1W' | '1M' | '3M' | '6M' | '1Y' | '5Y'>()
  expectTypeOf<Rounding>().toEqualTypeOf<'minor' | 'cash'>()
  expectTypeOf<LogFormat>().toEqualTypeOf<'json' | 'text'>()
  expectTypeOf<LogLevel>().toEqualTypeOf<'info' | 'warn' | 'error'>()
  expectTypeOf<'previous-business-day' | 'period-end'>().toExtend<DateRule>()
  expectTypeOf<'expired_key' | 'forbidden_origin'>().toExtend<AccessRefusal>()
  expectTypeOf<'halfEven' | 'ceil'>().toExtend<RoundingMode>()
  expectTypeOf<Attempt['outcome']>().toEqualTypeOf<
    'running' | 'loaded' | 'restored' | 'delegated' | 'failed'
  >()
  expectTypeOf<'NEXT'>().not.toExtend<DateRule>()
})

test('options are optional, and a key is required', () => {
  expectTypeOf<{}>().toExtend<RatesOptions>()
  expectTypeOf<RatesHandlerOptions>().toExtend<RatesOptions>()
  expectTypeOf<ExchangeRateApiOptions>().toEqualTypeOf<{
    url?: string | undefined
    base?: string | undefined
  }>()
  expectTypeOf<FrankfurterOptions>().toEqualTypeOf<BankOptions>()
  expectTypeOf<EcbOptions>().toEqualTypeOf<BankOptions>()
  expectTypeOf<EcbDataApiOptions>().toEqualTypeOf<BankOptions>()
  expectTypeOf<FrankfurterV2Options['providers']>().toEqualTypeOf<readonly string[] | undefined>()
  expectTypeOf<Fawazahmed0Options['urls']>().toEqualTypeOf<readonly string[] | undefined>()
  expectTypeOf<NbpOptions['table']>().toEqualTypeOf<'A' | 'B' | undefined>()
  expectTypeOf<SideOptions['side']>().toEqualTypeOf<'buying' | 'selling' | 'middle' | undefined>()
  expectTypeOf<
    KeyedBankOptions | CurrencyapiOptions | OpenExchangeRatesOptions | ExchangeRateApiV6Options
  >().toExtend<{ key: string }>()
  expectTypeOf<FolderOptions>().toHaveProperty('url')
  expectTypeOf<MemoryStoreOptions['maxEntries']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<MemoryCountersOptions['maxClients']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<KeyStoreOptions>().toEqualTypeOf<SqliteStoreOptions>()
  expectTypeOf<CompatOptions['basePath']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<ServeOptions['tls']>().toEqualTypeOf<{ key: string; cert: string } | undefined>()
  expectTypeOf<FakeProvidersOptions['seed']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<CallOptions['signal']>().toEqualTypeOf<AbortSignal | undefined>()
  expectTypeOf<{ symbols: string[] }>().toExtend<CurrenciesParams>()
  expectTypeOf<{ base: string; symbols: string[] }>().toExtend<SnapshotParams>()
  expectTypeOf<DaysParams['start']>().toEqualTypeOf<string>()
})

test('a day is chosen with a rule, an age and a source, or not at all', () => {
  expectTypeOf<{ date: string; rule: 'next'; maxAge: number }>().toExtend<DayChoice>()
  expectTypeOf<{ rule: 'next' }>().not.toExtend<DayChoice>()
})

test('records have the fields of the API', () => {
  expectTypeOf<Attribution>().toEqualTypeOf<{ name: string; url: string }>()
  expectTypeOf<SourceList['sources'][number]>().toEqualTypeOf<ReferenceSource>()
  expectTypeOf<ReferenceSource['lastDay']>().toEqualTypeOf<string | null>()
  expectTypeOf<SourceRate['source']>().toEqualTypeOf<Attribution>()
  expectTypeOf<CurrencyCoverage['withdrawn']>().toEqualTypeOf<CurrencyEnd | null>()
  expectTypeOf<CurrencyEnd['ratio']>().toEqualTypeOf<number | null>()
  expectTypeOf<NonNullable<ServiceStatus['latest']>>().toExtend<DataSetStatus>()
  expectTypeOf<HistoryStats>().toHaveProperty('highDate').toEqualTypeOf<string>()
  expectTypeOf<Redenomination>().toEqualTypeOf<{ code: string; date: string; ratio: number }>()
  expectTypeOf<Usage['limits']>().toEqualTypeOf<UsageLimit[]>()
  expectTypeOf<RatesOf<readonly ['EUR']>>().toEqualTypeOf<{ EUR: number }>()
  expectTypeOf<ByCode<readonly ['EUR'], boolean>>().toEqualTypeOf<{ EUR: boolean }>()
  type Row = { from: 'USD'; to: 'EUR' }
  expectTypeOf<Conversion>().toExtend<ManyConversions<readonly [Row]>[0]>()
  expectTypeOf<NonNullable<RatesErrorDetails['parameter']>>().toEqualTypeOf<string>()
})

test('quotes take the parameters of a conversion', () => {
  expectTypeOf<SnapshotConversionParams['reverse']>().toEqualTypeOf<boolean | undefined>()
  expectTypeOf<QuoteParams>().not.toHaveProperty('reverse')
  expectTypeOf<QuotedParams>().toEqualTypeOf<Partial<QuoteParams>>()
  expectTypeOf<QuotedRow['quote']>().toEqualTypeOf<string>()
})

test('providers have latest rates and history', () => {
  type Both = LatestProvider & HistoryProvider
  const BANKS = [
    createBankOfCanadaProvider,
    createBankOfEnglandProvider,
    createBankOfIsraelProvider,
    createBnrProvider,
    createCbrProvider,
    createDanmarksNationalbankProvider,
    createFbilProvider,
    createImfProvider,
    createMnbProvider,
    createNbuProvider,
    createRbaProvider,
    createRiksbankProvider,
  ]
  expectTypeOf(BANKS).toExtend<BankFactory[]>()
  expectTypeOf(createBcbProvider).parameter(0).toExtend<SideOptions | undefined>()
  expectTypeOf(createTcmbProvider).parameter(0).toExtend<KeyedBankOptions & SideOptions>()
  expectTypeOf(createEcbProvider).returns.toEqualTypeOf<Both>()
  expectTypeOf(createEcbDataApiProvider).returns.toEqualTypeOf<Both>()
  expectTypeOf<FailingProvider>().toExtend<Both>()
  expectTypeOf(fixed<LatestProvider>).toEqualTypeOf<
    (provider: LatestProvider, ratios: readonly FixedRatio[]) => Derived<LatestProvider>
  >()
  expectTypeOf<Derived<Both>>().toExtend<Both>()
  expectTypeOf<OverlayOptions['rates']>().toEqualTypeOf<OwnRates | readonly OwnRates[]>()
  expectTypeOf(OFFICIAL_PEGS).toEqualTypeOf<readonly OfficialPeg[]>()
  expectTypeOf<HistoryDays['days']>().toEqualTypeOf<HistoryDay[]>()
  expectTypeOf<ProviderContext['references']>().toEqualTypeOf<
    readonly ReferenceTable[] | undefined
  >()
  expectTypeOf<NonNullable<LatestTable['unconfirmed']>>().toExtend<
    Readonly<Record<string, UnconfirmedRate>>
  >()
  expectTypeOf<NonNullable<HistoryProvider['publication']>>().toEqualTypeOf<Publication>()
})

test('money is text and bigint', () => {
  expectTypeOf(allocate).returns.toEqualTypeOf<string[]>()
  expectTypeOf(roundTo).parameter(2).toEqualTypeOf<RoundingOptions | undefined>()
  expectTypeOf(roundTo).returns.toEqualTypeOf<string>()
  expectTypeOf(toMinorUnits).returns.toEqualTypeOf<bigint>()
  expectTypeOf(fromMinorUnits).parameter(0).toEqualTypeOf<bigint | number>()
  expectTypeOf(digitsOf).toEqualTypeOf<(code: string) => number>()
  const table = { base: 'USD', rates: { EUR: 0.9 } } satisfies RatesSource<'EUR'>
  expectTypeOf(toDineroRates(table, { bigint: true })).toEqualTypeOf<
    Record<'EUR', ScaledAmount<bigint>>
  >()
})

test('stores, counters and keys can be written', () => {
  expectTypeOf(createFileStore).toEqualTypeOf<(folder: string) => CacheStore>()
  expectTypeOf(createSqliteStore).returns.toEqualTypeOf<SqliteStore>()
  expectTypeOf<SqliteStore>().toExtend<CacheStore>()
  expectTypeOf(createMemoryCounters).returns.toEqualTypeOf<Counters>()
  expectTypeOf<(context: CountersContext) => OpenCounters>().toExtend<Counters['open']>()
  expectTypeOf<OpenCounters['take']>().toEqualTypeOf<
    (client: string, limits: readonly Limit[], cost: number) => Decision | Promise<Decision>
  >()
  expectTypeOf<Decision['states'][number]>().toEqualTypeOf<LimitState>()
  expectTypeOf(createFileKeyStore).returns.toEqualTypeOf<WritableKeyStore>()
  expectTypeOf<WritableKeyStore>().toExtend<KeyStore>()
  expectTypeOf<StoredKey>().toExtend<KeyRecord>()
})

test('guards, routes and listeners see the request', () => {
  expectTypeOf<Admission['refusal']>().toEqualTypeOf<RatesError | undefined>()
  expectTypeOf<GuardedRequest['request']>().toEqualTypeOf<RawRequest>()
  expectTypeOf<GuardContext['isParameter']>().returns.toEqualTypeOf<boolean>()
  expectTypeOf<RouteRequest>().toExtend<Request>()
  expectTypeOf<RouteContext['now']>().returns.toEqualTypeOf<number>()
  expectTypeOf<readonly Route[]>().toExtend<Routes>()
  expectTypeOf<HandlerListeners>().toExtend<RatesListeners>()
  expectTypeOf<RatesListeners['onEvent']>().toEqualTypeOf<
    ((event: RatesEvent) => void) | undefined
  >()
  expectTypeOf<ResponseSummary['request']>().toEqualTypeOf<RawRequest>()
  expectTypeOf<HandlerState['status']>().toEqualTypeOf<ServiceStatus>()
  expectTypeOf<EndpointResponse['headers']>().toEqualTypeOf<Header[]>()
  expectTypeOf<ReadBody>().returns.toEqualTypeOf<Promise<void>>()
  expectTypeOf<AnsweringHandler['answer']>().returns.toEqualTypeOf<
    RawResponse | Promise<RawResponse>
  >()
})

test('hosts pass their own objects', () => {
  expectTypeOf<(request: Request) => Promise<Response>>().toExtend<FetchHandler>()
  expectTypeOf<NodeHandler>().toEqualTypeOf<
    (request: NodeRequest, response: NodeResponse) => void
  >()
  expectTypeOf<ExpressRequest>().toExtend<NodeRequest>()
  expectTypeOf<NonNullable<NodeRequest['socket']>>().toEqualTypeOf<RequestSocket>()
  expectTypeOf<NonNullable<NodeRequest['stream']>>().toEqualTypeOf<RequestStream>()
  expectTypeOf<NonNullable<NodeResponse['socket']>>().toEqualTypeOf<ResponseSocket>()
  expectTypeOf<NextHandler['POST']>().toEqualTypeOf<NextFunction>()
})

test('fakes take a clock, rates and days', () => {
  expectTypeOf(fakeClock).returns.toEqualTypeOf<FakeClock>()
  expectTypeOf(fixedProviders).toEqualTypeOf<(table: FixedRates) => FakeProviders>()
  expectTypeOf<FakeProviders['latest']>().toEqualTypeOf<LatestProvider>()
})
