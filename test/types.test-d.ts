import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'
import type { DatabaseSync } from 'node:sqlite'

import { expectTypeOf } from 'expect-type'
import express from 'express'
import type { Cluster, Redis } from 'ioredis'
import type { RedisClientPoolType, RedisClientType, RedisClusterType, createClient } from 'redis'
import type { Agent, MockAgent } from 'undici'
import { test } from 'vitest'

import { serve as serveOnBun } from '../adapters/bun.ts'
import { toWorker } from '../adapters/cloudflare.ts'
import type { WorkerContext } from '../adapters/cloudflare.ts'
import { serve as serveOnDeno } from '../adapters/deno.ts'
import { toExpressHandler } from '../adapters/express.ts'
import { toNextHandler } from '../adapters/next.ts'
import { serve as serveOnNode, toNodeHandler } from '../adapters/node.ts'
import type { RunningServer } from '../adapters/node.ts'
import { createAccess, createKey, hashKey } from '../src/access/index.ts'
import type {
  Access,
  AccessOptions,
  Counters,
  Guard,
  KeyRecord,
  KeyStore,
  Plan,
} from '../src/access/index.ts'
import { createRatesClient } from '../src/client/index.ts'
import type {
  CurrencyCode,
  CurrencyHistory,
  HistorySourceStatus,
  KnownCurrencyCode,
  RatesClient,
  RatesClientOptions,
} from '../src/client/index.ts'
import { fixer } from '../src/compat/fixer.ts'
import { frankfurter } from '../src/compat/frankfurter.ts'
import type { FrankfurterCompatOptions } from '../src/compat/frankfurter.ts'
import { openExchangeRates } from '../src/compat/open-exchange-rates.ts'
import { currencies, findCurrency, findWithdrawn, withdrawnCurrencies } from '../src/currencies.ts'
import type { Currency, WithdrawnCurrency } from '../src/currencies.ts'
import {
  RatesError,
  consoleLogger,
  createExchangeRateApiProvider,
  createFrankfurterProvider,
  createMemoryStore,
  createRates,
  createRatesHandler,
} from '../src/index.ts'
import type {
  CacheStore,
  ConsoleLoggerOptions,
  Conversion,
  ConversionError,
  ConversionList,
  ConversionParams,
  ConversionResult,
  ConversionRow,
  ConvertedAmount,
  CurrencyList,
  Derivation,
  HistoryList,
  HistoryParams,
  HistoryProvider,
  HistoryResult,
  Interval,
  IntervalValue,
  LatestParams,
  LatestProvider,
  LatestRates,
  LatestTable,
  Point,
  RateHistory,
  Rates,
  RatesErrorCode,
  RatesEvent,
  ServerOptions,
  KeyRules,
  ProxyOptions,
  QuoteSettings,
  RatesHandler,
  RatesHandlerOptions,
  Route,
  RatesOperations,
  RatesDay,
  RatesSnapshot,
  RawRequest,
  RawResponse,
  ServiceStatus,
  StreamedBody,
} from '../src/index.ts'
import { createCurrencyapiProvider } from '../src/providers/currencyapi.ts'
import { overlay, pegged } from '../src/providers/derived.ts'
import type { OfficialPeg } from '../src/providers/official-pegs.ts'
import { createExchangeRateApiV6Provider } from '../src/providers/exchange-rate-api-v6.ts'
import { createBancaDItaliaProvider } from '../src/providers/banks/banca-d-italia.ts'
import { createBanxicoProvider } from '../src/providers/banks/banxico.ts'
import { createBcbProvider } from '../src/providers/banks/bcb.ts'
import { createFredProvider } from '../src/providers/banks/fred.ts'
import { createHmrcProvider } from '../src/providers/banks/hmrc.ts'
import { createNorgesBankProvider } from '../src/providers/banks/norges-bank.ts'
import { createTcmbProvider } from '../src/providers/banks/tcmb.ts'
import { createUsTreasuryProvider } from '../src/providers/banks/us-treasury.ts'
import { createCnbProvider } from '../src/providers/banks/cnb.ts'
import { createFawazahmed0Provider } from '../src/providers/fawazahmed0.ts'
import { createFolderProvider } from '../src/providers/folder.ts'
import { createFrankfurterV2Provider } from '../src/providers/frankfurter-v2.ts'
import { createNbpProvider } from '../src/providers/banks/nbp.ts'
import { createOpenExchangeRatesProvider } from '../src/providers/open-exchange-rates.ts'
import { createCacheApiStore } from '../src/stores/cache-api.ts'
import type { CacheApiStoreOptions, WebCache } from '../src/stores/cache-api.ts'
import { createMcpHandler, serveStdio } from '../src/mcp/index.ts'
import type { McpOptions, StdioServer } from '../src/mcp/index.ts'
import {
  createHealth,
  createMetrics,
  withAccessLog,
  withRequestIds,
} from '../src/monitoring/index.ts'
import type {
  AccessLogOptions,
  Health,
  HealthOptions,
  Metrics,
  WrappedHandler,
} from '../src/monitoring/index.ts'
import { createKvStore } from '../src/stores/cloudflare-kv.ts'
import type { KvNamespace } from '../src/stores/cloudflare-kv.ts'
import { createKeyvStore } from '../src/stores/keyv.ts'
import type { KeyvClient } from '../src/stores/keyv.ts'
import { convertAt, createQuotes } from '../src/quotes/index.ts'
import type {
  NewQuoteParams,
  Quote,
  QuotedConversion,
  QuotedConversionList,
  Quotes,
  QuotesOptions,
} from '../src/quotes/index.ts'
import { createRedisCounters } from '../src/access/redis.ts'
import type { RedisCountersOptions } from '../src/access/redis.ts'
import { createRedisStore } from '../src/stores/redis.ts'
import type { ClaimingStore, RedisClient, StoreOptions } from '../src/stores/redis.ts'
import { createUnstorageStore } from '../src/stores/unstorage.ts'
import type { UnstorageClient } from '../src/stores/unstorage.ts'
import { syncRates } from '../src/sql/index.ts'
import type {
  PostgresClient,
  SqliteDatabase,
  SyncRatesOptions,
  SyncedRates,
} from '../src/sql/index.ts'
import { createUpstashStore } from '../src/stores/upstash.ts'
import type { UpstashStoreOptions } from '../src/stores/upstash.ts'
import { createUndiciFetch } from '../src/undici.ts'
import type { UndiciFetchOptions } from '../src/undici.ts'
import {
  failingProvider,
  fakeProviders,
  providerContract,
  storeContract,
} from '../src/testing/index.ts'
import type {
  ContractCase,
  FailingProviderOptions,
  FailureKind,
  FakeClock,
  ProviderContractOptions,
  UpstreamFetch,
} from '../src/testing/index.ts'

const rates = createRates()
const { latest, convert, convertMany, history, currencies: list } = rates
const client = createRatesClient({ baseUrl: 'https://app.example/api' })
const signal = AbortSignal.timeout(1_000)

const pair = { from: 'USD', to: 'EUR' } as const
const date: string = '2020-02-28'
const codes: string[] = ['EUR']

test('a handler is a fetch-style function with members', () => {
  expectTypeOf<RatesHandler>().toExtend<(request: Request) => Promise<Response>>()
  expectTypeOf<Parameters<RatesHandler>>().toEqualTypeOf<[request: Request]>()
  type Members =
    | 'fetch'
    | 'answer'
    | 'rates'
    | 'keyRules'
    | 'proxies'
    | 'subscribe'
    | 'inspect'
    | 'refresh'
    | 'close'
  expectTypeOf<keyof RatesHandler>().toEqualTypeOf<Members>()
  expectTypeOf<RatesHandler['fetch']>().toEqualTypeOf<(request: Request) => Promise<Response>>()
  expectTypeOf<RatesHandler['answer']>().parameters.toEqualTypeOf<[RawRequest]>()
  expectTypeOf<RatesHandler['answer']>().returns.toEqualTypeOf<RawResponse | Promise<RawResponse>>()
  expectTypeOf<RawResponse['body']>().toEqualTypeOf<
    Uint8Array<ArrayBuffer> | string | StreamedBody | null
  >()
  expectTypeOf<{ method: 'GET'; target: '/'; header: () => null }>().toExtend<RawRequest>()
  expectTypeOf<RatesHandler['rates']>().toEqualTypeOf<Rates>()
  expectTypeOf(createRates).returns.toEqualTypeOf<Rates>()
  expectTypeOf<Rates>().toExtend<RatesOperations>()
  expectTypeOf<RatesHandler['refresh']>().toEqualTypeOf<() => Promise<void>>()
  expectTypeOf<RatesHandler['close']>().toEqualTypeOf<() => void>()
})

test('the options have these types', () => {
  type Services = 'providers' | 'store' | 'fetch' | 'now' | 'waitUntil' | 'onEvent'
  type Values = 'basePath' | 'maxStale' | 'explorer' | 'responseCacheBytes' | 'cors' | 'access'
  type Served = 'routes' | 'trustedProxies' | 'forwardedHeader' | 'quotes'
  expectTypeOf<keyof RatesHandlerOptions>().toEqualTypeOf<Services | Values | Served>()
  // @ts-expect-error a misspelt option
  createRatesHandler({ basepath: '/fx' })
  expectTypeOf<RatesHandlerOptions['cors']>().toEqualTypeOf<
    'v1' | 'all' | 'off' | readonly string[] | undefined
  >()
  // @ts-expect-error a history provider does not provide latest rates
  createRatesHandler({ providers: { latest: createFrankfurterProvider() } })
})

test('providers are one or an array', () => {
  const provider = createExchangeRateApiProvider()
  expectTypeOf(provider).toEqualTypeOf<LatestProvider>()
  expectTypeOf(createFrankfurterProvider({ url: '' })).toEqualTypeOf<HistoryProvider>()
  createRatesHandler({ providers: { latest: [provider, fakeProviders().latest] } })
  createRatesHandler({ providers: fakeProviders({ seed: 1, now: () => 0 }) })
})

test('a folder has what its provider has', () => {
  const url = new URL('file:///rates')
  expectTypeOf(createFolderProvider({ url })).toEqualTypeOf<LatestProvider & HistoryProvider>()
  const provider = createExchangeRateApiProvider()
  expectTypeOf(createFolderProvider({ url: '', provider })).toExtend<LatestProvider>()
  const latest = createFolderProvider({ url, provider: createFrankfurterProvider() })
  // @ts-expect-error the folder of a history provider has no latest rates
  createRatesHandler({ providers: { latest } })
  // @ts-expect-error the URL is missing
  createFolderProvider({})
})

test('feeds with a key require one', () => {
  const url = undefined
  const latest = [
    createCurrencyapiProvider({ key: '', url }),
    createExchangeRateApiV6Provider({ key: '', url, base: undefined }),
    createOpenExchangeRatesProvider({ key: '', url }),
    createFawazahmed0Provider({ urls: undefined }),
    createFrankfurterV2Provider({ url, providers: ['ECB'] }),
  ]
  expectTypeOf(latest).toEqualTypeOf<LatestProvider[]>()
  expectTypeOf(createBancaDItaliaProvider({ url })).toEqualTypeOf<HistoryProvider>()
  const banks = [
    createCnbProvider({ url }),
    createNbpProvider({ table: 'B', url }),
    createNorgesBankProvider(),
    createBanxicoProvider({ key: '', url }),
    createFredProvider({ key: '' }),
    createTcmbProvider({ key: '', side: 'buying' }),
    createBcbProvider({ side: 'selling', url }),
  ]
  expectTypeOf(banks).toEqualTypeOf<(LatestProvider & HistoryProvider)[]>()
  // @ts-expect-error another side
  createBcbProvider({ side: 'ask' })
  // @ts-expect-error the key is missing
  createTcmbProvider({ side: 'buying' })
  // Rates of a month or a quarter are no latest rates.
  expectTypeOf(createHmrcProvider({ url })).toEqualTypeOf<HistoryProvider>()
  expectTypeOf(createUsTreasuryProvider({ url })).toEqualTypeOf<HistoryProvider>()
  // @ts-expect-error they cannot be used as such
  createRatesHandler({ providers: { latest: createHmrcProvider() } })
  // @ts-expect-error the key is missing
  createOpenExchangeRatesProvider({})
  // @ts-expect-error a variable of the environment may be absent
  createCurrencyapiProvider({ key: process.env['KEY'] })
})

test('a provider of latest rates is an attribution and one function', () => {
  createRatesHandler({
    providers: {
      latest: {
        attribution: { name: 'Mine', url: 'https://rates.example' },
        async fetchLatest({ fetch, signal, now, previous }) {
          expectTypeOf(fetch).toEqualTypeOf<typeof globalThis.fetch>()
          expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
          expectTypeOf(now).toEqualTypeOf<() => number>()
          expectTypeOf(previous).toEqualTypeOf<LatestTable | undefined>()
          return { base: 'USD', updatedAt: 0, nextUpdateAt: 0, rates: { EUR: 0.85 } }
        },
      },
    },
  })
})

test('a Map is a store', () => {
  expectTypeOf<Map<string, string>>().toExtend<CacheStore>()
  expectTypeOf<ReturnType<CacheStore['get']>>().toBeUnknown()
  expectTypeOf(createMemoryStore).returns.toEqualTypeOf<CacheStore>()
  expectTypeOf<{
    get(key: string): Promise<string | null>
    set(key: string, value: string, expiresAt: number): Promise<void>
    claim(key: string, expiresAt: number): Promise<boolean>
  }>().toExtend<CacheStore>()
})

test('the real Redis clients are clients', () => {
  expectTypeOf<Redis>().toExtend<RedisClient>()
  expectTypeOf<Cluster>().toExtend<RedisClient>()
  expectTypeOf<RedisClientType>().toExtend<RedisClient>()
  expectTypeOf<RedisClientPoolType>().toExtend<RedisClient>()
  expectTypeOf<ReturnType<typeof createClient>>().toExtend<RedisClient>()
  type OfBun = { send(command: string, args: string[]): Promise<unknown> }
  expectTypeOf<OfBun>().toExtend<RedisClient>()
  // The client of a node-redis cluster has a sendCommand() with more parameters.
  expectTypeOf<RedisClusterType>().not.toExtend<RedisClient>()
  expectTypeOf<{}>().not.toExtend<RedisClient>()
  type Create = (client: RedisClient, options?: StoreOptions) => ClaimingStore
  expectTypeOf(createRedisStore).toEqualTypeOf<Create>()
  expectTypeOf<ClaimingStore>().toExtend<Required<CacheStore>>()
  expectTypeOf<keyof StoreOptions>().toEqualTypeOf<'prefix' | 'now'>()
  type CreateCounters = (client: RedisClient, options?: RedisCountersOptions) => Counters
  expectTypeOf(createRedisCounters).toEqualTypeOf<CreateCounters>()
})

test('the stores over HTTP and in Workers are stores', () => {
  expectTypeOf(createUpstashStore).toEqualTypeOf<(options: UpstashStoreOptions) => ClaimingStore>()
  expectTypeOf<{ url: string; token: string }>().toExtend<UpstashStoreOptions>()
  // @ts-expect-error the token is required
  createUpstashStore({ url: 'https://database.example' })
  type CreateKv = (namespace: KvNamespace, options?: StoreOptions) => CacheStore
  expectTypeOf(createKvStore).toEqualTypeOf<CreateKv>()
  // Shortened: Workers declare their own types.
  expectTypeOf<{
    get(key: string, options?: { cacheTtl?: number }): Promise<string | null>
    get(key: string, type: 'stream'): Promise<ReadableStream | null>
    get(keys: string[], type: 'text'): Promise<Map<string, string | null>>
    put(
      key: string,
      value: string | ArrayBuffer | ReadableStream,
      options?: { expiration?: number; expirationTtl?: number },
    ): Promise<void>
  }>().toExtend<KvNamespace>()
  expectTypeOf(createCacheApiStore).toEqualTypeOf<(options?: CacheApiStoreOptions) => CacheStore>()
  expectTypeOf<Cache>().toExtend<WebCache>()
  expectTypeOf<keyof CacheApiStoreOptions>().toEqualTypeOf<'cache' | 'origin' | 'now'>()
})

test('the stores by name take clients, and have no claim', () => {
  type CreateKeyv = (keyv: KeyvClient, options?: StoreOptions) => CacheStore
  expectTypeOf(createKeyvStore).toEqualTypeOf<CreateKeyv>()
  type CreateUnstorage = (storage: UnstorageClient, options?: StoreOptions) => CacheStore
  expectTypeOf(createUnstorageStore).toEqualTypeOf<CreateUnstorage>()
  // Names of unstorage, without promises.
  expectTypeOf<typeof localStorage>().not.toExtend<UnstorageClient>()
})

test('the contracts take functions that create a store or a provider', () => {
  expectTypeOf(storeContract).returns.toEqualTypeOf<ContractCase[]>()
  expectTypeOf(storeContract).toBeCallableWith(() => new Map())
  expectTypeOf(storeContract).toBeCallableWith(async () => createMemoryStore())
  expectTypeOf(providerContract).returns.toEqualTypeOf<ContractCase[]>()
  expectTypeOf(providerContract).parameter(0).toEqualTypeOf<ProviderContractOptions>()
  expectTypeOf<{
    latest: () => LatestProvider
    history: () => Promise<HistoryProvider>
    fetch: typeof fetch
    now: FakeClock
  }>().toExtend<ProviderContractOptions>()
  expectTypeOf<UpstreamFetch>().toEqualTypeOf<(request: Request) => Response | Promise<Response>>()
  // @ts-expect-error a function that creates a provider, not the provider
  providerContract({ latest: fakeProviders().latest })
})

test('a console logger fits the option onEvent', () => {
  expectTypeOf(consoleLogger).parameter(0).toEqualTypeOf<ConsoleLoggerOptions | undefined>()
  createRatesHandler({ onEvent: consoleLogger({ level: 'info', format: 'json' }) })
  createRatesHandler({
    onEvent(event) {
      expectTypeOf(event).toEqualTypeOf<RatesEvent>()
      if (event.type === 'upstream_failed') expectTypeOf(event.reason).toEqualTypeOf<string>()
      if (event.type === 'rates_updated') {
        expectTypeOf(event.previousUpdatedAt).toEqualTypeOf<number | null>()
      }
      if (event.type === 'rates_late') expectTypeOf(event.due).toEqualTypeOf<number>()
      // @ts-expect-error unknown event
      void (event.type === 'oops')
    },
  })
  // @ts-expect-error levels are a closed list
  consoleLogger({ level: 'debug' })
})

test('a failing provider has both data sets, and a closed list of kinds', () => {
  expectTypeOf(failingProvider).returns.toExtend<LatestProvider & HistoryProvider>()
  expectTypeOf(failingProvider).parameter(0).toEqualTypeOf<FailureKind>()
  expectTypeOf(failingProvider).parameter(1).toEqualTypeOf<FailingProviderOptions | undefined>()
  type OfRequest = 'unreachable' | 'timeout' | 'server-error' | 'rate-limited' | 'unauthorized'
  type OfData = 'malformed' | 'bad-rates' | 'one-bad-rate' | 'outdated'
  expectTypeOf<FailureKind>().toEqualTypeOf<OfRequest | OfData>()
  // @ts-expect-error the kinds are a closed list
  failingProvider('oops')
})

test('the operations resolve to the bodies of the versioned endpoints', () => {
  expectTypeOf(list({ symbols: ['EUR'] })).resolves.toEqualTypeOf<CurrencyList>()
  expectTypeOf(latest({ base: 'EUR' })).resolves.toEqualTypeOf<LatestRates>()
  expectTypeOf(latest()).resolves.toEqualTypeOf<LatestRates>()
  const inEur = latest({ date, rule: 'next', maxAge: 3, source: 'ecb', symbols: ['eur'] })
  expectTypeOf(inEur).resolves.toEqualTypeOf<LatestRates<{ EUR: number }>>()
  expectTypeOf(convert(pair)).resolves.toEqualTypeOf<Conversion>()
  expectTypeOf(history({ ...pair, period: '1Y' })).resolves.toEqualTypeOf<RateHistory>()
  expectTypeOf<Interval>().toEqualTypeOf<'day' | 'week' | 'month' | 'quarter' | 'year'>()
})

test('a history has the type of the requested codes', () => {
  const years = { start: '2020-01-01', interval: 'year', value: 'average' } as const
  const both = history({ from: 'USD', to: ['EUR', 'gbp'], ...years })
  expectTypeOf(both).resolves.toEqualTypeOf<HistoryList<{ EUR: RateHistory; GBP: RateHistory }>>()
  const codes: string[] = []
  expectTypeOf(history({ from: 'USD', to: codes })).resolves.toEqualTypeOf<HistoryList>()
  const some: ('EUR' | 'GBP')[] = []
  expectTypeOf(history({ from: 'USD', to: some })).resolves.toEqualTypeOf<
    HistoryList<Record<'EUR' | 'GBP', RateHistory | undefined>>
  >()
  expectTypeOf<HistoryResult<CurrencyCode>>().toEqualTypeOf<RateHistory>()
  expectTypeOf<HistoryResult<'EUR' | ['EUR']>>().toEqualTypeOf<
    RateHistory | HistoryList<{ EUR: RateHistory }>
  >()
  expectTypeOf<Point>().toEqualTypeOf<{ d: string; r: number; filled?: true }>()
  expectTypeOf<IntervalValue>().toEqualTypeOf<'last' | 'average' | 'open' | 'high' | 'low'>()
})

test('a conversion to one currency has one type, with any parameters', () => {
  const given: { amount?: number | string; reverse?: boolean; round?: 'minor' | 'cash' } = {}
  expectTypeOf(convert({ ...pair, ...given, date: undefined })).resolves.toEqualTypeOf<Conversion>()
  const dated = convert({ ...pair, ...given, date, rule: 'next', maxAge: 3, source: 'ecb' })
  expectTypeOf(dated).resolves.toEqualTypeOf<Conversion>()
  expectTypeOf(convert({ ...pair, expand: 'sources' })).resolves.toEqualTypeOf<Conversion>()
  const params: ConversionParams<'EUR'> = pair
  expectTypeOf(convert(params)).resolves.toEqualTypeOf<Conversion>()
  const either: ConversionParams = pair
  expectTypeOf(convert(either)).resolves.toEqualTypeOf<ConversionResult>()
  expectTypeOf<ConversionResult>().toEqualTypeOf<Conversion | ConversionList>()
})

test('wrapped providers are of what they wrap, in any order', () => {
  const { latest, history } = fakeProviders()
  const own = { rates: { base: 'EUR', rates: { USD: 1.1 } }, name: 'Treasury', url: '' }
  expectTypeOf(pegged(overlay(latest, own))).toEqualTypeOf(overlay(pegged(latest), own))
  expectTypeOf(pegged(history).fetchHistory).toEqualTypeOf(history.fetchHistory)
  expectTypeOf<OfficialPeg['price']>().toEqualTypeOf<number | null>()
})

test('a conversion to several currencies has the requested codes, in upper case', () => {
  const from = 'USD'
  const to = ['EUR', 'xyz'] as const
  const some: ('EUR' | 'GBP')[] = ['EUR']
  expectTypeOf<ConvertedAmount>().toEqualTypeOf<{
    rate: number
    quotedRate?: number
    result: number
    rounded?: string
    derived?: Derivation
  }>()
  type Both = ConversionList<{ EUR: ConvertedAmount; XYZ: ConvertedAmount }>
  expectTypeOf(convert({ from, to })).resolves.toEqualTypeOf<Both>()
  const reversed = convert({ from, to, date: '2020-02-28', reverse: true, round: 'cash' })
  expectTypeOf(reversed).resolves.toEqualTypeOf<Both>()
  expectTypeOf(convert({ from, to: codes })).resolves.toEqualTypeOf<ConversionList>()
  expectTypeOf(convert({ from, to: some })).resolves.toEqualTypeOf<
    ConversionList<{ EUR: ConvertedAmount | undefined; GBP: ConvertedAmount | undefined }>
  >()
})

test('a misspelt, missing or ill-typed parameter of an operation does not compile', () => {
  // @ts-expect-error from and to are required
  void convert({ from: 'USD' })
  // @ts-expect-error misspelt
  void convert({ ...pair, amout: 1 })
  // @ts-expect-error a rule requires a day
  void latest({ rule: 'next' })
  // @ts-expect-error a rule of a row requires a day
  const row: ConversionRow = { from: 'EUR', to: 'USD', rule: 'next' }
  void row
  // @ts-expect-error misspelt, with a rule
  void latest({ date, rule: 'next', max_age: 3 })
  // @ts-expect-error a source requires a day
  void convert({ ...pair, source: 'ecb' })
  // @ts-expect-error an age requires a day, in a row
  void convertMany([{ ...pair, maxAge: 3 }])
  // @ts-expect-error codes are an array
  void list({ symbols: 'EUR' })
  // @ts-expect-error codes are strings
  void convert({ from: 'USD', to: [978] })
  // @ts-expect-error period and start exclude each other
  void history({ ...pair, start: '1999-01-04', period: '1Y' })
  // @ts-expect-error an end requires a start
  void history({ ...pair, end: '2026-01-30' })
  // @ts-expect-error misspelt, with several currencies
  void history({ from: 'USD', to: ['EUR'], perod: '1Y' })
})

test('days are records as they come, by a required first day', () => {
  const { days } = createRates()
  expectTypeOf(days({ start: '1999-01-04' })).toEqualTypeOf<AsyncIterable<RatesDay>>()
  void days({ start: '1999-01-04', end: '2026-01-02', symbols: ['USD'], source: 'ecb', signal })
  expectTypeOf<RatesDay['prices']>().toEqualTypeOf<Record<string, number> | undefined>()
  // @ts-expect-error the first day is required
  void days({ end: '2026-01-02' })
  // @ts-expect-error codes are a list
  void days({ start: '1999-01-04', symbols: 'USD' })
})

test('a snapshot is plain data that cannot be written, and converts by the parameters of a conversion', () => {
  const taken = rates.snapshot({ base: 'EUR', symbols: ['USD'], date, rule: 'next' })
  expectTypeOf(taken).resolves.toEqualTypeOf<RatesSnapshot>()
  expectTypeOf(rates.snapshot()).resolves.toEqualTypeOf<RatesSnapshot>()
  const snapshot: RatesSnapshot = JSON.parse('')
  expectTypeOf(snapshot.version).toEqualTypeOf<1>()
  expectTypeOf(snapshot.rates).toEqualTypeOf<Readonly<Record<string, string>>>()
  // @ts-expect-error a rate is kept as it was
  snapshot.rates['USD'] = '1'
  // @ts-expect-error and so is a source
  snapshot.source.name = ''
  expectTypeOf(convertAt(snapshot, pair)).toEqualTypeOf<Conversion>()
  const both = convertAt(snapshot, {
    from: 'USD',
    to: ['EUR', 'jpy'],
    reverse: true,
    round: 'cash',
  })
  expectTypeOf(both).toEqualTypeOf<ConversionList<{ EUR: ConvertedAmount; JPY: ConvertedAmount }>>()
  // @ts-expect-error a snapshot has its day
  convertAt(snapshot, { ...pair, date })
  // @ts-expect-error the change needs other rates
  void rates.snapshot({ change: '1D' })
  // @ts-expect-error a rule requires a day
  void rates.snapshot({ rule: 'next' })
  // @ts-expect-error rates are not a snapshot
  convertAt({ base: 'USD', rates: { EUR: 0.85 } }, pair)
})

test('a quote has the type of its targets, here and over HTTP', () => {
  const secrets = ['a secret of thirty-two bytes, or more', new Uint8Array(32)] as const
  const quotes = createQuotes({ rates, secrets, ttl: '10m', now: () => 0 })
  expectTypeOf(quotes).toEqualTypeOf<Quotes>()
  type Both = QuotedConversionList<{ EUR: ConvertedAmount; JPY: ConvertedAmount }>
  const to = ['EUR', 'jpy'] as const
  const terms = { amount: '99.90', round: 'minor', context: 'cart 4711' } as const
  const whole = { ...pair, ...terms, reverse: true, markup: '1.5', date, source: 'ecb' } as const
  expectTypeOf(quotes.create(whole)).resolves.toEqualTypeOf<QuotedConversion>()
  expectTypeOf(quotes.create({ from: 'USD', to })).resolves.toEqualTypeOf<Both>()
  expectTypeOf(quotes.convert('', { ...pair, ...terms })).resolves.toEqualTypeOf<QuotedConversion>()
  expectTypeOf(quotes.convert('', { to })).resolves.toEqualTypeOf<Both>()
  expectTypeOf(quotes.convert('')).resolves.toEqualTypeOf<Quote>()
  expectTypeOf<Quote>().toEqualTypeOf<QuotedConversion | QuotedConversionList>()
  expectTypeOf<QuotedConversion>().toExtend<Conversion>()
  type Fields = Pick<QuotedConversion, 'quote' | 'jti' | 'expiresAt' | 'markup' | 'quotedRate'>
  expectTypeOf<Fields>().toEqualTypeOf<{
    quote: string
    jti: string
    expiresAt: number
    markup?: string
    quotedRate?: number
  }>()
  expectTypeOf(
    client.quote({ ...pair, ...terms, signal }),
  ).resolves.toEqualTypeOf<QuotedConversion>()
  expectTypeOf(client.quote({ from: 'USD', to })).resolves.toEqualTypeOf<Both>()
  expectTypeOf(
    client.convert({ quote: '', ...pair, ...terms, signal }),
  ).resolves.toEqualTypeOf<QuotedConversion>()
  expectTypeOf(client.convert({ quote: '', from: 'USD', to })).resolves.toEqualTypeOf<Both>()
  expectTypeOf(client.convert({ quote: '', context: 'cart 4711' })).resolves.toEqualTypeOf<Quote>()
  const rows = client.convertMany([{ quote: '', to: 'EUR' }, { quote: '' }, pair])
  expectTypeOf(rows).resolves.toEqualTypeOf<
    [QuotedConversion | ConversionError, Quote | ConversionError, Conversion | ConversionError]
  >()
})

test('a misuse of quotes does not compile', () => {
  const secrets = ['']
  const quotes = createQuotes({ rates: createRatesHandler({ quotes: { secrets } }).rates, secrets })
  expectTypeOf<RatesHandlerOptions['quotes']>().toEqualTypeOf<QuoteSettings | undefined>()
  expectTypeOf<keyof QuoteSettings>().toEqualTypeOf<'secrets' | 'ttl'>()
  expectTypeOf<keyof QuotesOptions>().toEqualTypeOf<'rates' | 'secrets' | 'ttl' | 'now'>()
  expectTypeOf<NewQuoteParams['markup']>().toEqualTypeOf<string | undefined>()
  // @ts-expect-error a markup is a text, whose digits are kept
  void quotes.create({ ...pair, markup: 5 })
  // @ts-expect-error a rule requires a day
  void quotes.create({ ...pair, rule: 'next' })
  // @ts-expect-error sources are not quoted
  void quotes.create({ ...pair, expand: 'sources' })
  // @ts-expect-error a quote has its markup
  void quotes.convert('', { markup: '1.5' })
  // @ts-expect-error a quote comes first
  void quotes.convert({ context: 'cart 4711' })
  // @ts-expect-error secrets are required
  createQuotes({ rates })
  // @ts-expect-error and are a list
  createRatesHandler({ quotes: { secrets: 'a secret of thirty-two bytes, or more' } })
  // @ts-expect-error rates are required
  createQuotes({ secrets })
  // @ts-expect-error a client takes no snapshots
  createQuotes({ rates: client, secrets })
  // @ts-expect-error a client takes no snapshots
  void client.snapshot({ base: 'EUR' })
  // @ts-expect-error quotes convert by quotes, not rates
  void rates.convert({ ...pair, quote: '' })
  // @ts-expect-error rates make no quotes
  void rates.quote(pair)
  // @ts-expect-error a stranger does not choose the markup
  void client.quote({ ...pair, markup: '1.5' })
  // @ts-expect-error nor the day
  void client.quote({ ...pair, date })
  // @ts-expect-error a context needs a quote
  void client.convert({ ...pair, context: 'cart 4711' })
  // @ts-expect-error a quote has its day
  void client.convert({ ...pair, quote: '', date })
})

test('the codes of errors are a closed list', () => {
  expectTypeOf<RatesError['code']>().toEqualTypeOf<RatesErrorCode>()
  // @ts-expect-error unknown code
  void (new RatesError('invalid_currency', '').code === 'oops')
})

test('the proxies of a handler are addresses, or their number', () => {
  createRatesHandler({ trustedProxies: ['10.0.0.0/8'] })
  createRatesHandler({ trustedProxies: 2, forwardedHeader: 'forwarded' })
  // @ts-expect-error everything would be trusted
  createRatesHandler({ trustedProxies: true })
  // @ts-expect-error a header that clients can set
  createRatesHandler({ forwardedHeader: 'x-real-ip' })
  createAccess({ plans: { free: '60/min' }, ipv6Prefix: 56 })
  // @ts-expect-error proxies are an option of the handler
  createAccess({ plans: { free: '60/min' }, trustedProxies: 1 })
})

test('the Node adapter takes any fetch-style handler, and serves HTTP/1, HTTPS and HTTP/2', () => {
  expectTypeOf(toNodeHandler).toBeCallableWith(createRatesHandler())
  expectTypeOf(toNodeHandler).toBeCallableWith((request: Request) => new Response(request.url))
  const listener = toNodeHandler(createRatesHandler())
  expectTypeOf(createServer).toBeCallableWith(listener)
  expectTypeOf(createTlsServer).toBeCallableWith(listener)
  expectTypeOf(createHttp2Server).toBeCallableWith(listener)
  // @ts-expect-error a handler returns a Response
  toNodeHandler(() => 'text')
})

test('the fetch over undici is a fetch, and takes any dispatcher of undici', () => {
  type Create = (options?: UndiciFetchOptions) => Promise<typeof fetch>
  expectTypeOf(createUndiciFetch).toEqualTypeOf<Create>()
  type Options = 'proxy' | 'connections' | 'timeouts' | 'dispatcher'
  expectTypeOf<keyof UndiciFetchOptions>().toEqualTypeOf<Options>()
  expectTypeOf<{ dispatcher: MockAgent | Agent }>().toExtend<UndiciFetchOptions>()
  expectTypeOf<{ proxy: undefined; timeouts: { connect: 1_000 } }>().toExtend<UndiciFetchOptions>()
  // @ts-expect-error proxy must not be true
  void createUndiciFetch({ proxy: true })
})

test('each of many conversions has the type of its row', () => {
  const client = createRatesClient({ baseUrl: '/api' })
  const from = 'USD'
  const results = convertMany([
    { from, to: 'EUR', amount: '1.50' },
    { from, to: ['EUR', 'GBP'], date: '2026-11-20', reverse: true },
  ])
  type First = Conversion | ConversionError
  expectTypeOf(results).resolves.toHaveProperty('length').toEqualTypeOf<2>()
  expectTypeOf(results.then(([first]) => first)).resolves.toEqualTypeOf<First>()
  void results.then(([, second]) => {
    if ('error' in second) return expectTypeOf(second.error.code).toEqualTypeOf<RatesErrorCode>()
    expectTypeOf(second.date).toEqualTypeOf<string | undefined>()
    return expectTypeOf(second.results.GBP).toEqualTypeOf<ConvertedAmount>()
  })
  const rows: { from: string; to: string; amount: number }[] = []
  expectTypeOf(convertMany(rows)).resolves.toEqualTypeOf<First[]>()
  expectTypeOf(client.convertMany(rows, { signal: AbortSignal.abort() })).toEqualTypeOf(
    convertMany(rows),
  )
  const unknownRows: readonly ConversionRow[] = []
  expectTypeOf(convertMany(unknownRows)).resolves.items.toExtend<
    Conversion | ConversionList | ConversionError
  >()
  // @ts-expect-error a row requires a target
  void convertMany([{ from }])
  // @ts-expect-error an amount is a number or a text
  void convertMany([{ from, to: 'EUR', amount: true }])
  // @ts-expect-error rows are a list
  void client.convertMany({ from, to: 'EUR' })
})

test('the Express adapter mounts in current Express and in Connect', () => {
  const mounted = toExpressHandler(createRatesHandler())
  express().use(mounted)
  express().use('/fx', mounted)
  express().get('/api/v1/latest', mounted)
  expectTypeOf(mounted).parameter(2).toEqualTypeOf<() => void>()
  // @ts-expect-error requires a handler with answer()
  toExpressHandler((request: Request) => new Response(request.url))
})

test('Next.js gets a function for each method, which accepts its request and parts of the path', () => {
  const { GET, ...others } = toNextHandler(createRatesHandler())
  type Methods = 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'
  expectTypeOf<keyof typeof others>().toEqualTypeOf<Methods>()
  // As in the types that Next.js generates.
  type NextRequest = Request & { nextUrl: URL }
  type Context = { params: Promise<{ path: string[] }> }
  type RouteFunction = (request: NextRequest, context: Context) => Promise<Response>
  expectTypeOf(GET).toExtend<RouteFunction>()
  expectTypeOf(toNextHandler).toBeCallableWith((request: Request) => new Response(request.url))
  // @ts-expect-error a handler returns a Response
  toNextHandler(() => 'text')
})

test('every server is started and stopped in the same way', () => {
  expectTypeOf(serveOnBun).toEqualTypeOf(serveOnNode)
  expectTypeOf(serveOnDeno).toEqualTypeOf(serveOnNode)
  expectTypeOf(serveOnNode).toBeCallableWith(createRatesHandler(), { port: 0 })
  expectTypeOf(serveOnNode).returns.resolves.toEqualTypeOf<RunningServer>()
})

test('a Worker passes its bindings to the function that creates its handler', () => {
  const worker = toWorker(({ region }: { region: string }) =>
    createRatesHandler({ basePath: `/${region}` }),
  )
  type Bindings = { region: string }
  expectTypeOf(worker.fetch).parameters.toEqualTypeOf<[Request, Bindings, WorkerContext]>()
  expectTypeOf(worker.scheduled).parameter(1).toEqualTypeOf<Bindings>()
  // @ts-expect-error a scheduled event requires refresh()
  toWorker(() => () => new Response())
})

test('a client takes a URL, and optionally a fetch function', () => {
  expectTypeOf(createRatesClient).returns.toEqualTypeOf<RatesClient>()
  expectTypeOf(createRatesClient).parameters.toEqualTypeOf<[RatesClientOptions]>()
  expectTypeOf<keyof RatesClientOptions>().toEqualTypeOf<'baseUrl' | 'fetch' | 'retries' | 'key'>()
  type Rates = 'latest' | 'convert' | 'quote' | 'convertMany' | 'history' | 'days'
  expectTypeOf<keyof RatesClient>().toEqualTypeOf<Rates | 'currencies' | 'sources' | 'status'>()
  createRatesClient({ baseUrl: '', fetch })
  createRatesClient({ baseUrl: '', fetch: createRatesHandler() })
  // Like the fetch of frameworks, which may return a Response without a promise.
  createRatesClient({ baseUrl: '', fetch: (): Response | Promise<Response> => new Response() })
  createRatesClient({ baseUrl: '', fetch: undefined, retries: undefined, key: undefined })
  createRatesClient({ baseUrl: '', key: 'rsk_0' })
  // @ts-expect-error a URL is required
  createRatesClient({})
  // @ts-expect-error a misspelt option
  createRatesClient({ baseURL: '' })
  // @ts-expect-error a key is a string
  createRatesClient({ baseUrl: '', key: 5 })
  // @ts-expect-error fetch must be a function
  createRatesClient({ baseUrl: '', fetch: { fetch } })
})

test('a client has the operations of the handler, which take a signal', () => {
  // In both directions, so that the results have the same types.
  expectTypeOf<RatesClient>().toExtend<RatesOperations>()
  expectTypeOf<RatesOperations>().toExtend<Omit<RatesClient, 'quote' | 'convert' | 'convertMany'>>()
  void client.latest({ signal })
  expectTypeOf(client.days({ start: '2026-01-02', signal })).toEqualTypeOf<
    AsyncIterable<RatesDay>
  >()
  void client.latest({ base: undefined, symbols: undefined, signal: undefined })
  // @ts-expect-error signal must be an AbortSignal
  void client.convert({ ...pair, signal: 'soon' })
  // @ts-expect-error currencies have no base
  void client.currencies({ base: 'EUR' })
})

test('the parameters of a client call decide the type of its result', () => {
  type Coverage = CurrencyList['currencies'][number]
  expectTypeOf<Pick<Coverage, 'symbol' | 'countries'>>().toEqualTypeOf<{
    symbol: string | null
    countries: string[]
  }>()
  expectTypeOf<Coverage['histories']>().toEqualTypeOf<CurrencyHistory[] | undefined>()
  type Sources = NonNullable<ServiceStatus['history']>['sources']
  expectTypeOf<Sources>().toEqualTypeOf<HistorySourceStatus[] | undefined>()
  expectTypeOf<HistorySourceStatus['late']>().toEqualTypeOf<boolean>()
  const both = client.convert({ from: 'USD', to: ['EUR'], date, reverse: true, signal })
  expectTypeOf(both).resolves.toEqualTypeOf<ConversionList<{ EUR: ConvertedAmount }>>()
  // @ts-expect-error misspelt, beside the signal
  void client.history({ from: 'USD', to: ['EUR'], perod: '1Y', signal })
})

test('currencies are rows of plain data, and codes are known ones, or any string', () => {
  expectTypeOf(currencies).toEqualTypeOf<readonly Currency[]>()
  expectTypeOf(findCurrency).returns.toEqualTypeOf<Currency | undefined>()
  expectTypeOf(withdrawnCurrencies).toEqualTypeOf<readonly WithdrawnCurrency[]>()
  expectTypeOf(findWithdrawn).returns.toEqualTypeOf<WithdrawnCurrency | undefined>()
  expectTypeOf<'EUR'>().toExtend<KnownCurrencyCode>()
  expectTypeOf<'eur' | 'HRK' | 'XYZ'>().not.toExtend<KnownCurrencyCode>()
  expectTypeOf<string>().not.toExtend<KnownCurrencyCode>()
  expectTypeOf<string>().toExtend<CurrencyCode>()
  // A union with `string` itself would be `string`, and editors would not suggest codes.
  expectTypeOf<CurrencyCode>().not.toEqualTypeOf<string>()
  expectTypeOf<Extract<CurrencyCode, 'EUR'>>().toEqualTypeOf<'EUR'>()
  expectTypeOf<ConversionParams['from']>().toEqualTypeOf<CurrencyCode>()
  expectTypeOf<HistoryParams['to']>().toEqualTypeOf<CurrencyCode>()
  expectTypeOf<LatestParams['base']>().toEqualTypeOf<CurrencyCode | undefined>()
})

test('rates has only the requested symbols, in upper case', async () => {
  const { rates, base } = await client.latest({ base: 'GBP', symbols: ['EUR', 'usd'] })
  expectTypeOf(rates).toEqualTypeOf<{ EUR: number; USD: number }>()
  expectTypeOf(base).toEqualTypeOf<string>()
  // @ts-expect-error not requested
  void rates.GBP
  const symbols = ['EUR', 'USD'] as const
  const { rates: same } = await client.latest({ symbols })
  expectTypeOf(same).toEqualTypeOf<{ EUR: number; USD: number }>()
})

test('a rate may be missing where the code may be withdrawn, or the list shorter than its type', async () => {
  const { rates } = await client.latest({ symbols: ['EUR', 'HRK'] })
  expectTypeOf(rates).toEqualTypeOf<{ EUR: number; HRK: number | undefined }>()
  const symbols: ('EUR' | 'USD')[] = ['EUR']
  const { rates: some } = await client.latest({ symbols })
  expectTypeOf(some).toEqualTypeOf<{ EUR: number | undefined; USD: number | undefined }>()
})

test('rates has any code where the compiler does not know the symbols', async () => {
  const known: CurrencyCode[] = ['EUR']
  expectTypeOf(client.latest({ date: undefined })).resolves.toEqualTypeOf<LatestRates>()
  expectTypeOf(client.latest({ symbols: [] })).resolves.toEqualTypeOf<LatestRates>()
  expectTypeOf(client.latest({ symbols: codes })).resolves.toEqualTypeOf<LatestRates>()
  expectTypeOf(client.latest({ symbols: known })).resolves.toEqualTypeOf<LatestRates>()
  const longer = client.latest({ symbols: ['EUR', ...codes] })
  expectTypeOf(longer).resolves.toEqualTypeOf<LatestRates>()
  const params: LatestParams = {}
  expectTypeOf(client.latest(params)).resolves.toEqualTypeOf<LatestRates>()
})

test('monitoring wraps any handler, and keeps its members', () => {
  const handler = createRatesHandler()
  const write = (line: string): void => void line
  expectTypeOf(createMetrics(handler)).toEqualTypeOf<Metrics>()
  expectTypeOf(createHealth(handler)).toEqualTypeOf<Health>()
  expectTypeOf(createHealth(handler, { require: ['latest'] })).toEqualTypeOf<Health>()
  expectTypeOf<HealthOptions>().toEqualTypeOf<{
    require?: readonly ('latest' | 'history')[] | undefined
  }>()
  const wrapped = withRequestIds(withAccessLog(handler, { write }))
  expectTypeOf(wrapped).toExtend<RatesHandler>()
  expectTypeOf(wrapped).toExtend<WrappedHandler>()
  expectTypeOf(wrapped.fetch).toBeCallableWith(new Request('http://localhost'))
  const answering = withAccessLog(
    { answer: handler.answer, keyRules: { queryParameters: [] } },
    { write },
  )
  expectTypeOf(answering(new Request('http://localhost'))).resolves.toEqualTypeOf<Response>()
  type Names = 'write' | 'clients' | 'now'
  expectTypeOf<keyof AccessLogOptions>().toEqualTypeOf<Names>()
  expectTypeOf<ServerOptions['accessLog']>().toEqualTypeOf<
    boolean | { clients?: boolean | undefined } | undefined
  >()
  toNodeHandler(wrapped)
  toNodeHandler(createMetrics(wrapped).fetch)
  toNodeHandler(createHealth(wrapped).ready)
  toExpressHandler(wrapped)
  toWorker(() => wrapped)
  void serveOnBun(wrapped)
  void serveOnDeno(createMetrics(wrapped).fetch)
  // @ts-expect-error a function has no answer()
  withRequestIds(() => new Response())
  // @ts-expect-error the log needs a function
  withAccessLog(handler, {})
})

test('the routes of other services are an option of the handler', () => {
  expectTypeOf(fixer({ basePath: '/old' })).toEqualTypeOf<Route[]>()
  expectTypeOf(openExchangeRates()).toEqualTypeOf<Route[]>()
  void createRatesHandler({ routes: [fixer(), frankfurter(), openExchangeRates()] })
  // @ts-expect-error a handler is not wrapped
  void fixer(createRatesHandler())
  expectTypeOf<keyof FrankfurterCompatOptions>().toEqualTypeOf<'basePath' | 'unprefixed'>()
  void frankfurter({ unprefixed: false })
  // @ts-expect-error only Frankfurter has paths without a prefix
  void fixer({ unprefixed: false })
})

test('routes get a request with its parts, the operations and the context', () => {
  const route: Route = {
    path: '/shop/:code',
    async get(request, rates, context) {
      expectTypeOf(request).toExtend<Request>()
      expectTypeOf(request.params['code']).toEqualTypeOf<string | undefined>()
      expectTypeOf(request.query['a']).toEqualTypeOf<string | string[] | undefined>()
      expectTypeOf(rates).toEqualTypeOf<RatesOperations>()
      expectTypeOf(context.now()).toEqualTypeOf<number>()
      return context.run(() => new Response())
    },
    cost: ({ method, params }) => (method === 'POST' || params['code'] ? 10 : 1),
    error: ({ code }) => ({ body: { code }, status: 400 }),
  }
  void createRatesHandler({ routes: [route, [route, route]] })
  // @ts-expect-error a text is not a response
  void createRatesHandler({ routes: [{ path: '/', get: () => 'a' }] })
  // @ts-expect-error a route has a path
  void createRatesHandler({ routes: [{ get: () => ({}) }] })
  expectTypeOf<RatesHandler['keyRules']>().toEqualTypeOf<KeyRules | undefined>()
  expectTypeOf<RatesHandler['proxies']>().toEqualTypeOf<ProxyOptions>()
})

test('access rules are an option of the handler', () => {
  const plans = { public: '60/min', pro: '100000/month' } as const
  const access = createAccess({ plans, anonymous: 'public' })
  expectTypeOf(access).toEqualTypeOf<Access>()
  expectTypeOf<RatesHandlerOptions['access']>().toEqualTypeOf<Access | undefined>()
  expectTypeOf<ReturnType<Access['createGuard']>>().toEqualTypeOf<Guard>()
  expectTypeOf<AccessOptions['plans']>().toEqualTypeOf<Readonly<Record<string, Plan>>>()
  expectTypeOf<Parameters<NonNullable<AccessOptions['client']>>>().toEqualTypeOf<[RawRequest]>()
  void createAccess({ plans: { pro: '600/min, 100000/month' }, anonymous: 'pro' })
  // @ts-expect-error a plan is a text
  void createAccess({ plans: { pro: 600 } })
  // @ts-expect-error plans are required
  void createAccess({ anonymous: 'public' })
  // @ts-expect-error a client is a string
  void createAccess({ plans, client: () => undefined })
  // @ts-expect-error not one of the values
  void createAccess({ plans, whenCountersFail: 'ignore' })
})

test('a plan is one of the documented forms', () => {
  expectTypeOf<'60/min' | '1/s' | '2/h' | '100000/day' | '100000/month'>().toExtend<Plan>()
  expectTypeOf<'100/10s' | '100/15min' | '5/12h' | '5/1day'>().toExtend<Plan>()
  expectTypeOf<'600/min, 100000/month' | '600/min,100000/month'>().toExtend<Plan>()
  expectTypeOf<'100000/month, 600/min' | '100000/month,100/10s'>().toExtend<Plan>()
  expectTypeOf<'60' | '60/m' | '60/sec' | '60/minute'>()
    .exclude<Plan>()
    .toEqualTypeOf<'60' | '60/m' | '60/sec' | '60/minute'>()
  expectTypeOf<'60/Min' | '60/months' | '60/2month'>()
    .exclude<Plan>()
    .toEqualTypeOf<'60/Min' | '60/months' | '60/2month'>()
  expectTypeOf<'1/s, 2/min' | '1/month, 2/month' | '1/s, 2/h, 3/month' | '1/s;2/month'>()
    .exclude<Plan>()
    .toEqualTypeOf<'1/s, 2/min' | '1/month, 2/month' | '1/s, 2/h, 3/month' | '1/s;2/month'>()
  const quota: number = 60
  void createAccess({ plans: { public: `${quota}/min` }, anonymous: 'public' })
  // @ts-expect-error a misspelt unit
  void createAccess({ plans: { public: '60/minute' }, anonymous: 'public' })
  const fromEnvironment: string = '60/min'
  // @ts-expect-error any text
  void createAccess({ plans: { public: fromEnvironment }, anonymous: 'public' })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as documented: checked at run time
  void createAccess({ plans: { public: fromEnvironment as Plan }, anonymous: 'public' })
})

test('a key store returns a record, nothing, or a promise of them', () => {
  expectTypeOf(createKey()).resolves.toEqualTypeOf<{ key: string; hash: string }>()
  expectTypeOf(hashKey('')).resolves.toEqualTypeOf<string>()
  const records = new Map<string, KeyRecord>()
  expectTypeOf({ find: (hash: string) => records.get(hash) }).toExtend<KeyStore>()
  expectTypeOf({ find: async (_hash: string) => null }).toExtend<KeyStore>()
  expectTypeOf({ find: async (hash: string) => records.get(hash) }).toExtend<KeyStore>()
  expectTypeOf({ find: () => ({ id: 'a' }) }).not.toExtend<KeyStore>()
  expectTypeOf<KeyRecord['expiresAt']>().toEqualTypeOf<number | undefined>()
})

test('a table takes its rates from the app or a client, over any client of a database', () => {
  type Client = PostgresClient | SqliteDatabase
  expectTypeOf(syncRates).toEqualTypeOf<
    (client: Client, options: SyncRatesOptions) => Promise<SyncedRates>
  >()
  expectTypeOf<SyncedRates>().toEqualTypeOf<{ inserted: number; updated: number }>()
  expectTypeOf<DatabaseSync>().toExtend<SqliteDatabase>()
  // As pg declares its own, with callbacks, and PGlite.
  interface Pool {
    query(text: string, values?: unknown[]): Promise<{ rows: Record<string, string>[] }>
    query(text: string, callback: (error: Error) => void): void
  }
  expectTypeOf<Pool>().toExtend<PostgresClient>()
  const query: PostgresClient['query'] = async () => ({ rows: [] })
  const signal = AbortSignal.timeout(60_000)
  const days = { since: '2026-01-01', symbols: ['USD'], sources: ['ecb'], signal } as const
  void syncRates({ query }, { rates, table: 'finance.rates', ...days })
  void syncRates({ query }, { rates: client })
  // @ts-expect-error without rates
  void syncRates({ query }, {})
  // @ts-expect-error a function is not a client
  void syncRates(query, { rates })
})

test('tools for agents take their rates from the app or a client', () => {
  type Respond = (request: Request) => Promise<Response>
  expectTypeOf(createMcpHandler).toEqualTypeOf<
    (rates: RatesOperations, options?: McpOptions) => Respond
  >()
  type Names = 'allowedHosts' | 'allowedOrigins' | 'access' | keyof ProxyOptions
  expectTypeOf<keyof McpOptions>().toEqualTypeOf<Names>()
  expectTypeOf<McpOptions['access']>().toEqualTypeOf<Access | undefined>()
  expectTypeOf(serveStdio(client)).resolves.toEqualTypeOf<StdioServer>()
  const allowedHosts = ['rates.example.com'] as const
  const access = createAccess({ anonymous: 'public', plans: { public: '60/min' } })
  void serveOnNode(createMcpHandler(client, { allowedHosts, access, trustedProxies: 1 }))
  createRatesHandler({
    routes: [{ path: '/mcp', post: (request, shared) => createMcpHandler(shared)(request) }],
  })
  // @ts-expect-error without rates
  createMcpHandler()
  // @ts-expect-error a handler has rates, and is not them
  createMcpHandler(createRatesHandler())
  // @ts-expect-error a misspelt option
  createMcpHandler(rates, { allowedOrigin: [] })
  // @ts-expect-error hosts are a list
  createMcpHandler(rates, { allowedHosts: 'rates.example.com' })
  // @ts-expect-error plans are options of createAccess()
  createMcpHandler(rates, { access: { plans: { public: '60/min' } } })
  // @ts-expect-error stdin has no hosts
  void serveStdio(rates, { allowedHosts })
})
