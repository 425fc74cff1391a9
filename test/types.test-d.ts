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
import type { ExpressRequest } from '../adapters/express.ts'
import { toNextHandler } from '../adapters/next.ts'
import type { NextFunction, NextHandler } from '../adapters/next.ts'
import * as node from '../adapters/node.ts'
import { createFileKeyStore } from '../src/access/file.ts'
import type { KeyStoreOptions, StoredKey, WritableKeyStore } from '../src/access/file.ts'
import * as keys from '../src/access/index.ts'
import * as clients from '../src/client/index.ts'
import { fixer } from '../src/compat/fixer.ts'
import type { CompatOptions } from '../src/compat/fixer.ts'
import { frankfurter } from '../src/compat/frankfurter.ts'
import type { FrankfurterCompatOptions } from '../src/compat/frankfurter.ts'
import { openExchangeRates } from '../src/compat/open-exchange-rates.ts'
import { currencies, findCurrency, findWithdrawn, withdrawnCurrencies } from '../src/currencies.ts'
import type { Currency, WithdrawnCurrency } from '../src/currencies.ts'
import * as api from '../src/index.ts'
import { createCacheApiStore } from '../src/stores/cache-api.ts'
import type { CacheApiStoreOptions, WebCache } from '../src/stores/cache-api.ts'
import { createMcpHandler, serveStdio } from '../src/mcp/index.ts'
import type { McpOptions, StdioServer } from '../src/mcp/index.ts'
import * as monitor from '../src/monitoring/index.ts'
import { createKvStore } from '../src/stores/cloudflare-kv.ts'
import type { KvNamespace } from '../src/stores/cloudflare-kv.ts'
import { createKeyvStore } from '../src/stores/keyv.ts'
import type { KeyvClient } from '../src/stores/keyv.ts'
import * as quoted from '../src/quotes/index.ts'
import { createRedisCounters } from '../src/access/redis.ts'
import type { RedisCountersOptions } from '../src/access/redis.ts'
import { createRedisStore } from '../src/stores/redis.ts'
import type { ClaimingStore, RedisClient, StoreOptions } from '../src/stores/redis.ts'
import { createUnstorageStore } from '../src/stores/unstorage.ts'
import type { UnstorageClient } from '../src/stores/unstorage.ts'
import * as tables from '../src/sql/index.ts'
import { createUpstashStore } from '../src/stores/upstash.ts'
import type { UpstashStoreOptions } from '../src/stores/upstash.ts'
import { createUndiciFetch } from '../src/undici.ts'
import type { UndiciFetchOptions } from '../src/undici.ts'
import * as fakes from '../src/testing/index.ts'
import * as money from '../src/money/index.ts'
import * as banks from '../src/providers/index.ts'
import { createFileStore } from '../src/stores/file.ts'
import { createSqliteStore } from '../src/stores/sqlite.ts'
import type { SqliteStore, SqliteStoreOptions } from '../src/stores/sqlite.ts'

const rates = api.createRates()
const { latest, convert, convertMany, history, currencies: list } = rates
const client = clients.createRatesClient({ baseUrl: 'https://app.example/api' })
const signal = AbortSignal.timeout(1_000)

const pair = { from: 'USD', to: 'EUR' } as const
const date: string = '2020-02-28'
const codes: string[] = ['EUR']

test('a handler is a fetch-style function with members', () => {
  expectTypeOf<api.RatesHandler>().toExtend<(request: Request) => Promise<Response>>()
  expectTypeOf<Parameters<api.RatesHandler>>().toEqualTypeOf<[request: Request]>()
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
  expectTypeOf<keyof api.RatesHandler>().toEqualTypeOf<Members>()
  expectTypeOf<api.RatesHandler['fetch']>().toEqualTypeOf<(request: Request) => Promise<Response>>()
  expectTypeOf<api.RatesHandler['answer']>().parameters.toEqualTypeOf<[api.RawRequest]>()
  expectTypeOf<api.RatesHandler['answer']>().returns.toEqualTypeOf<
    api.RawResponse | Promise<api.RawResponse>
  >()
  expectTypeOf<api.RawResponse['body']>().toEqualTypeOf<
    Uint8Array<ArrayBuffer> | string | api.StreamedBody | null
  >()
  expectTypeOf<{ method: 'GET'; target: '/'; header: () => null }>().toExtend<api.RawRequest>()
  expectTypeOf<api.RatesHandler['rates']>().toEqualTypeOf<api.Rates>()
  expectTypeOf(api.createRates).returns.toEqualTypeOf<api.Rates>()
  expectTypeOf<api.Rates>().toExtend<api.RatesOperations>()
  expectTypeOf<api.RatesHandler['refresh']>().toEqualTypeOf<() => Promise<void>>()
  expectTypeOf<api.RatesHandler['close']>().toEqualTypeOf<() => void>()
})

test('the options have these types', () => {
  type Services = 'providers' | 'store' | 'fetch' | 'now' | 'waitUntil' | 'onEvent'
  type Values = 'basePath' | 'maxStale' | 'explorer' | 'responseCacheBytes' | 'cors' | 'access'
  type Served = 'routes' | 'trustedProxies' | 'forwardedHeader' | 'quotes'
  expectTypeOf<keyof api.RatesHandlerOptions>().toEqualTypeOf<Services | Values | Served>()
  // @ts-expect-error a misspelt option
  api.createRatesHandler({ basepath: '/fx' })
  expectTypeOf<api.RatesHandlerOptions['cors']>().toEqualTypeOf<
    'v1' | 'all' | 'off' | readonly string[] | undefined
  >()
  // @ts-expect-error a history provider does not provide latest rates
  api.createRatesHandler({ providers: { latest: api.createFrankfurterProvider() } })
})

test('providers are one or an array', () => {
  const provider = api.createExchangeRateApiProvider()
  expectTypeOf(provider).toEqualTypeOf<api.LatestProvider>()
  expectTypeOf(api.createFrankfurterProvider({ url: '' })).toEqualTypeOf<api.HistoryProvider>()
  api.createRatesHandler({ providers: { latest: [provider, fakes.fakeProviders().latest] } })
  api.createRatesHandler({ providers: fakes.fakeProviders({ seed: 1, now: () => 0 }) })
})

test('a folder has what its provider has', () => {
  const url = new URL('file:///rates')
  expectTypeOf(banks.createFolderProvider({ url })).toEqualTypeOf<
    api.LatestProvider & api.HistoryProvider
  >()
  const provider = api.createExchangeRateApiProvider()
  expectTypeOf(banks.createFolderProvider({ url: '', provider })).toExtend<api.LatestProvider>()
  const latest = banks.createFolderProvider({ url, provider: api.createFrankfurterProvider() })
  // @ts-expect-error the folder of a history provider has no latest rates
  api.createRatesHandler({ providers: { latest } })
  // @ts-expect-error the URL is missing
  banks.createFolderProvider({})
})

test('feeds with a key require one', () => {
  const url = undefined
  const latest = [
    banks.createCurrencyapiProvider({ key: '', url }),
    banks.createExchangeRateApiV6Provider({ key: '', url, base: undefined }),
    banks.createOpenExchangeRatesProvider({ key: '', url }),
    banks.createFawazahmed0Provider({ urls: undefined }),
    banks.createFrankfurterV2Provider({ url, providers: ['ECB'] }),
  ]
  expectTypeOf(latest).toEqualTypeOf<api.LatestProvider[]>()
  expectTypeOf(banks.createBancaDItaliaProvider({ url })).toEqualTypeOf<api.HistoryProvider>()
  const both = [
    banks.createCnbProvider({ url }),
    banks.createNbpProvider({ table: 'B', url }),
    banks.createNorgesBankProvider(),
    banks.createBanxicoProvider({ key: '', url }),
    banks.createFredProvider({ key: '' }),
    banks.createTcmbProvider({ key: '', side: 'buying' }),
    banks.createBcbProvider({ side: 'selling', url }),
  ]
  expectTypeOf(both).toEqualTypeOf<(api.LatestProvider & api.HistoryProvider)[]>()
  // @ts-expect-error another side
  banks.createBcbProvider({ side: 'ask' })
  // @ts-expect-error the key is missing
  banks.createTcmbProvider({ side: 'buying' })
  // Rates of a month or a quarter are no latest rates.
  expectTypeOf(banks.createHmrcProvider({ url })).toEqualTypeOf<api.HistoryProvider>()
  expectTypeOf(banks.createUsTreasuryProvider({ url })).toEqualTypeOf<api.HistoryProvider>()
  // @ts-expect-error they cannot be used as such
  api.createRatesHandler({ providers: { latest: banks.createHmrcProvider() } })
  // @ts-expect-error the key is missing
  banks.createOpenExchangeRatesProvider({})
  // @ts-expect-error a variable of the environment may be absent
  banks.createCurrencyapiProvider({ key: process.env['KEY'] })
})

test('a provider of latest rates is an attribution and one function', () => {
  api.createRatesHandler({
    providers: {
      latest: {
        attribution: { name: 'Mine', url: 'https://rates.example' },
        async fetchLatest({ fetch, signal, now, previous }) {
          expectTypeOf(fetch).toEqualTypeOf<typeof globalThis.fetch>()
          expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
          expectTypeOf(now).toEqualTypeOf<() => number>()
          expectTypeOf(previous).toEqualTypeOf<api.LatestTable | undefined>()
          return { base: 'USD', updatedAt: 0, nextUpdateAt: 0, rates: { EUR: 0.85 } }
        },
      },
    },
  })
})

test('a Map is a store', () => {
  expectTypeOf<Map<string, string>>().toExtend<api.CacheStore>()
  expectTypeOf<ReturnType<api.CacheStore['get']>>().toBeUnknown()
  expectTypeOf(api.createMemoryStore).returns.toEqualTypeOf<api.CacheStore>()
  expectTypeOf<{
    get(key: string): Promise<string | null>
    set(key: string, value: string, expiresAt: number): Promise<void>
    claim(key: string, expiresAt: number): Promise<boolean>
  }>().toExtend<api.CacheStore>()
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
  expectTypeOf<ClaimingStore>().toExtend<Required<api.CacheStore>>()
  expectTypeOf<keyof StoreOptions>().toEqualTypeOf<'prefix' | 'now'>()
  type CreateCounters = (client: RedisClient, options?: RedisCountersOptions) => keys.Counters
  expectTypeOf(createRedisCounters).toEqualTypeOf<CreateCounters>()
})

test('the stores over HTTP and in Workers are stores', () => {
  expectTypeOf(createUpstashStore).toEqualTypeOf<(options: UpstashStoreOptions) => ClaimingStore>()
  expectTypeOf<{ url: string; token: string }>().toExtend<UpstashStoreOptions>()
  // @ts-expect-error the token is required
  createUpstashStore({ url: 'https://database.example' })
  type CreateKv = (namespace: KvNamespace, options?: StoreOptions) => api.CacheStore
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
  expectTypeOf(createCacheApiStore).toEqualTypeOf<
    (options?: CacheApiStoreOptions) => api.CacheStore
  >()
  expectTypeOf<Cache>().toExtend<WebCache>()
  expectTypeOf<keyof CacheApiStoreOptions>().toEqualTypeOf<'cache' | 'origin' | 'now'>()
})

test('the stores by name take clients, and have no claim', () => {
  type CreateKeyv = (keyv: KeyvClient, options?: StoreOptions) => api.CacheStore
  expectTypeOf(createKeyvStore).toEqualTypeOf<CreateKeyv>()
  type CreateUnstorage = (storage: UnstorageClient, options?: StoreOptions) => api.CacheStore
  expectTypeOf(createUnstorageStore).toEqualTypeOf<CreateUnstorage>()
  // Names of unstorage, without promises.
  expectTypeOf<typeof localStorage>().not.toExtend<UnstorageClient>()
})

test('the contracts take functions that create a store or a provider', () => {
  expectTypeOf(fakes.storeContract).returns.toEqualTypeOf<fakes.ContractCase[]>()
  expectTypeOf(fakes.storeContract).toBeCallableWith(() => new Map())
  expectTypeOf(fakes.storeContract).toBeCallableWith(async () => api.createMemoryStore())
  expectTypeOf(fakes.providerContract).returns.toEqualTypeOf<fakes.ContractCase[]>()
  expectTypeOf(fakes.providerContract).parameter(0).toEqualTypeOf<fakes.ProviderContractOptions>()
  expectTypeOf<{
    latest: () => api.LatestProvider
    history: () => Promise<api.HistoryProvider>
    fetch: typeof fetch
    now: fakes.FakeClock
  }>().toExtend<fakes.ProviderContractOptions>()
  expectTypeOf<fakes.UpstreamFetch>().toEqualTypeOf<
    (request: Request) => Response | Promise<Response>
  >()
  // @ts-expect-error a function that creates a provider, not the provider
  fakes.providerContract({ latest: fakes.fakeProviders().latest })
})

test('a console logger fits the option onEvent', () => {
  expectTypeOf(api.consoleLogger).parameter(0).toEqualTypeOf<api.ConsoleLoggerOptions | undefined>()
  api.createRatesHandler({ onEvent: api.consoleLogger({ level: 'info', format: 'json' }) })
  api.createRatesHandler({
    onEvent(event) {
      expectTypeOf(event).toEqualTypeOf<api.RatesEvent>()
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
  api.consoleLogger({ level: 'debug' })
})

test('a failing provider has both data sets, and a closed list of kinds', () => {
  expectTypeOf(fakes.failingProvider).returns.toExtend<api.LatestProvider & api.HistoryProvider>()
  expectTypeOf(fakes.failingProvider).parameter(0).toEqualTypeOf<fakes.FailureKind>()
  expectTypeOf(fakes.failingProvider)
    .parameter(1)
    .toEqualTypeOf<fakes.FailingProviderOptions | undefined>()
  type OfRequest = 'unreachable' | 'timeout' | 'server-error' | 'rate-limited' | 'unauthorized'
  type OfData = 'malformed' | 'bad-rates' | 'one-bad-rate' | 'outdated'
  expectTypeOf<fakes.FailureKind>().toEqualTypeOf<OfRequest | OfData>()
  // @ts-expect-error the kinds are a closed list
  fakes.failingProvider('oops')
})

test('the operations resolve to the bodies of the versioned endpoints', () => {
  expectTypeOf(list({ symbols: ['EUR'] })).resolves.toEqualTypeOf<api.CurrencyList>()
  expectTypeOf(latest({ base: 'EUR' })).resolves.toEqualTypeOf<api.LatestRates>()
  expectTypeOf(latest()).resolves.toEqualTypeOf<api.LatestRates>()
  const inEur = latest({ date, rule: 'next', maxAge: 3, source: 'ecb', symbols: ['eur'] })
  expectTypeOf(inEur).resolves.toEqualTypeOf<api.LatestRates<{ EUR: number }>>()
  expectTypeOf(convert(pair)).resolves.toEqualTypeOf<api.Conversion>()
  expectTypeOf(history({ ...pair, period: '1Y' })).resolves.toEqualTypeOf<api.RateHistory>()
  expectTypeOf<api.Interval>().toEqualTypeOf<'day' | 'week' | 'month' | 'quarter' | 'year'>()
})

test('a history has the type of the requested codes', () => {
  const years = { start: '2020-01-01', interval: 'year', value: 'average' } as const
  const both = history({ from: 'USD', to: ['EUR', 'gbp'], ...years })
  expectTypeOf(both).resolves.toEqualTypeOf<
    api.HistoryList<{ EUR: api.RateHistory; GBP: api.RateHistory }>
  >()
  const codes: string[] = []
  expectTypeOf(history({ from: 'USD', to: codes })).resolves.toEqualTypeOf<api.HistoryList>()
  const some: ('EUR' | 'GBP')[] = []
  expectTypeOf(history({ from: 'USD', to: some })).resolves.toEqualTypeOf<
    api.HistoryList<Record<'EUR' | 'GBP', api.RateHistory | undefined>>
  >()
  expectTypeOf<api.HistoryResult<clients.CurrencyCode>>().toEqualTypeOf<api.RateHistory>()
  expectTypeOf<api.HistoryResult<'EUR' | ['EUR']>>().toEqualTypeOf<
    api.RateHistory | api.HistoryList<{ EUR: api.RateHistory }>
  >()
  expectTypeOf<api.Point>().toEqualTypeOf<{ d: string; r: number; filled?: true }>()
  expectTypeOf<api.IntervalValue>().toEqualTypeOf<'last' | 'average' | 'open' | 'high' | 'low'>()
})

test('a conversion to one currency has one type, with any parameters', () => {
  const given: { amount?: number | string; reverse?: boolean; round?: 'minor' | 'cash' } = {}
  expectTypeOf(
    convert({ ...pair, ...given, date: undefined }),
  ).resolves.toEqualTypeOf<api.Conversion>()
  const dated = convert({ ...pair, ...given, date, rule: 'next', maxAge: 3, source: 'ecb' })
  expectTypeOf(dated).resolves.toEqualTypeOf<api.Conversion>()
  expectTypeOf(convert({ ...pair, expand: 'sources' })).resolves.toEqualTypeOf<api.Conversion>()
  const params: api.ConversionParams<'EUR'> = pair
  expectTypeOf(convert(params)).resolves.toEqualTypeOf<api.Conversion>()
  const either: api.ConversionParams = pair
  expectTypeOf(convert(either)).resolves.toEqualTypeOf<api.ConversionResult>()
  expectTypeOf<api.ConversionResult>().toEqualTypeOf<api.Conversion | api.ConversionList>()
})

test('wrapped providers are of what they wrap, in any order', () => {
  const { latest, history } = fakes.fakeProviders()
  const own = { rates: { base: 'EUR', rates: { USD: 1.1 } }, name: 'Treasury', url: '' }
  expectTypeOf(banks.pegged(banks.overlay(latest, own))).toEqualTypeOf(
    banks.overlay(banks.pegged(latest), own),
  )
  expectTypeOf(banks.pegged(history).fetchHistory).toEqualTypeOf(history.fetchHistory)
  expectTypeOf<banks.OfficialPeg['price']>().toEqualTypeOf<number | null>()
})

test('a conversion to several currencies has the requested codes, in upper case', () => {
  const from = 'USD'
  const to = ['EUR', 'xyz'] as const
  const some: ('EUR' | 'GBP')[] = ['EUR']
  expectTypeOf<api.ConvertedAmount>().toEqualTypeOf<{
    rate: number
    quotedRate?: number
    result: number
    rounded?: string
    derived?: api.Derivation
  }>()
  type Both = api.ConversionList<{ EUR: api.ConvertedAmount; XYZ: api.ConvertedAmount }>
  expectTypeOf(convert({ from, to })).resolves.toEqualTypeOf<Both>()
  const reversed = convert({ from, to, date: '2020-02-28', reverse: true, round: 'cash' })
  expectTypeOf(reversed).resolves.toEqualTypeOf<Both>()
  expectTypeOf(convert({ from, to: codes })).resolves.toEqualTypeOf<api.ConversionList>()
  expectTypeOf(convert({ from, to: some })).resolves.toEqualTypeOf<
    api.ConversionList<{
      EUR: api.ConvertedAmount | undefined
      GBP: api.ConvertedAmount | undefined
    }>
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
  const row: api.ConversionRow = { from: 'EUR', to: 'USD', rule: 'next' }
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
  const { days } = api.createRates()
  expectTypeOf(days({ start: '1999-01-04' })).toEqualTypeOf<AsyncIterable<api.RatesDay>>()
  void days({ start: '1999-01-04', end: '2026-01-02', symbols: ['USD'], source: 'ecb', signal })
  expectTypeOf<api.RatesDay['prices']>().toEqualTypeOf<Record<string, number> | undefined>()
  // @ts-expect-error the first day is required
  void days({ end: '2026-01-02' })
  // @ts-expect-error codes are a list
  void days({ start: '1999-01-04', symbols: 'USD' })
})

test('a snapshot is plain data that cannot be written, and converts by the parameters of a conversion', () => {
  const taken = rates.snapshot({ base: 'EUR', symbols: ['USD'], date, rule: 'next' })
  expectTypeOf(taken).resolves.toEqualTypeOf<api.RatesSnapshot>()
  expectTypeOf(rates.snapshot()).resolves.toEqualTypeOf<api.RatesSnapshot>()
  const snapshot: api.RatesSnapshot = JSON.parse('')
  expectTypeOf(snapshot.version).toEqualTypeOf<1>()
  expectTypeOf(snapshot.rates).toEqualTypeOf<Readonly<Record<string, string>>>()
  // @ts-expect-error a rate is kept as it was
  snapshot.rates['USD'] = '1'
  // @ts-expect-error and so is a source
  snapshot.source.name = ''
  expectTypeOf(quoted.convertAt(snapshot, pair)).toEqualTypeOf<api.Conversion>()
  const both = quoted.convertAt(snapshot, {
    from: 'USD',
    to: ['EUR', 'jpy'],
    reverse: true,
    round: 'cash',
  })
  expectTypeOf(both).toEqualTypeOf<
    api.ConversionList<{ EUR: api.ConvertedAmount; JPY: api.ConvertedAmount }>
  >()
  // @ts-expect-error a snapshot has its day
  quoted.convertAt(snapshot, { ...pair, date })
  // @ts-expect-error the change needs other rates
  void rates.snapshot({ change: '1D' })
  // @ts-expect-error a rule requires a day
  void rates.snapshot({ rule: 'next' })
  // @ts-expect-error rates are not a snapshot
  quoted.convertAt({ base: 'USD', rates: { EUR: 0.85 } }, pair)
})

test('a quote has the type of its targets, here and over HTTP', () => {
  const secrets = ['a secret of thirty-two bytes, or more', new Uint8Array(32)] as const
  const quotes = quoted.createQuotes({ rates, secrets, ttl: '10m', now: () => 0 })
  expectTypeOf(quotes).toEqualTypeOf<quoted.Quotes>()
  type Both = quoted.QuotedConversionList<{ EUR: api.ConvertedAmount; JPY: api.ConvertedAmount }>
  const to = ['EUR', 'jpy'] as const
  const terms = { amount: '99.90', round: 'minor', context: 'cart 4711' } as const
  const whole = { ...pair, ...terms, reverse: true, markup: '1.5', date, source: 'ecb' } as const
  expectTypeOf(quotes.create(whole)).resolves.toEqualTypeOf<quoted.QuotedConversion>()
  expectTypeOf(quotes.create({ from: 'USD', to })).resolves.toEqualTypeOf<Both>()
  expectTypeOf(
    quotes.convert('', { ...pair, ...terms }),
  ).resolves.toEqualTypeOf<quoted.QuotedConversion>()
  expectTypeOf(quotes.convert('', { to })).resolves.toEqualTypeOf<Both>()
  expectTypeOf(quotes.convert('')).resolves.toEqualTypeOf<quoted.Quote>()
  expectTypeOf<quoted.Quote>().toEqualTypeOf<
    quoted.QuotedConversion | quoted.QuotedConversionList
  >()
  expectTypeOf<quoted.QuotedConversion>().toExtend<api.Conversion>()
  type Fields = Pick<
    quoted.QuotedConversion,
    'quote' | 'jti' | 'expiresAt' | 'markup' | 'quotedRate'
  >
  expectTypeOf<Fields>().toEqualTypeOf<{
    quote: string
    jti: string
    expiresAt: number
    markup?: string
    quotedRate?: number
  }>()
  expectTypeOf(
    client.quote({ ...pair, ...terms, signal }),
  ).resolves.toEqualTypeOf<quoted.QuotedConversion>()
  expectTypeOf(client.quote({ from: 'USD', to })).resolves.toEqualTypeOf<Both>()
  expectTypeOf(
    client.convert({ quote: '', ...pair, ...terms, signal }),
  ).resolves.toEqualTypeOf<quoted.QuotedConversion>()
  expectTypeOf(client.convert({ quote: '', from: 'USD', to })).resolves.toEqualTypeOf<Both>()
  expectTypeOf(
    client.convert({ quote: '', context: 'cart 4711' }),
  ).resolves.toEqualTypeOf<quoted.Quote>()
  const rows = client.convertMany([{ quote: '', to: 'EUR' }, { quote: '' }, pair])
  expectTypeOf(rows).resolves.toEqualTypeOf<
    [
      quoted.QuotedConversion | api.ConversionError,
      quoted.Quote | api.ConversionError,
      api.Conversion | api.ConversionError,
    ]
  >()
})

test('a misuse of quotes does not compile', () => {
  const secrets = ['']
  const quotes = quoted.createQuotes({
    rates: api.createRatesHandler({ quotes: { secrets } }).rates,
    secrets,
  })
  expectTypeOf<api.RatesHandlerOptions['quotes']>().toEqualTypeOf<api.QuoteSettings | undefined>()
  expectTypeOf<keyof api.QuoteSettings>().toEqualTypeOf<'secrets' | 'ttl'>()
  expectTypeOf<keyof quoted.QuotesOptions>().toEqualTypeOf<'rates' | 'secrets' | 'ttl' | 'now'>()
  expectTypeOf<quoted.NewQuoteParams['markup']>().toEqualTypeOf<string | undefined>()
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
  quoted.createQuotes({ rates })
  // @ts-expect-error and are a list
  api.createRatesHandler({ quotes: { secrets: 'a secret of thirty-two bytes, or more' } })
  // @ts-expect-error rates are required
  quoted.createQuotes({ secrets })
  // @ts-expect-error a client takes no snapshots
  quoted.createQuotes({ rates: client, secrets })
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
  expectTypeOf<api.RatesError['code']>().toEqualTypeOf<api.RatesErrorCode>()
  // @ts-expect-error unknown code
  void (new api.RatesError('invalid_currency', '').code === 'oops')
})

test('the proxies of a handler are addresses, or their number', () => {
  api.createRatesHandler({ trustedProxies: ['10.0.0.0/8'] })
  api.createRatesHandler({ trustedProxies: 2, forwardedHeader: 'forwarded' })
  // @ts-expect-error everything would be trusted
  api.createRatesHandler({ trustedProxies: true })
  // @ts-expect-error a header that clients can set
  api.createRatesHandler({ forwardedHeader: 'x-real-ip' })
  keys.createAccess({ plans: { free: '60/min' }, ipv6Prefix: 56 })
  // @ts-expect-error proxies are an option of the handler
  keys.createAccess({ plans: { free: '60/min' }, trustedProxies: 1 })
})

test('the Node adapter takes any fetch-style handler, and serves HTTP/1, HTTPS and HTTP/2', () => {
  expectTypeOf(node.toNodeHandler).toBeCallableWith(api.createRatesHandler())
  expectTypeOf(node.toNodeHandler).toBeCallableWith((request: Request) => new Response(request.url))
  const listener = node.toNodeHandler(api.createRatesHandler())
  expectTypeOf(createServer).toBeCallableWith(listener)
  expectTypeOf(createTlsServer).toBeCallableWith(listener)
  expectTypeOf(createHttp2Server).toBeCallableWith(listener)
  // @ts-expect-error a handler returns a Response
  node.toNodeHandler(() => 'text')
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
  const client = clients.createRatesClient({ baseUrl: '/api' })
  const from = 'USD'
  const results = convertMany([
    { from, to: 'EUR', amount: '1.50' },
    { from, to: ['EUR', 'GBP'], date: '2026-11-20', reverse: true },
  ])
  type First = api.Conversion | api.ConversionError
  expectTypeOf(results).resolves.toHaveProperty('length').toEqualTypeOf<2>()
  expectTypeOf(results.then(([first]) => first)).resolves.toEqualTypeOf<First>()
  void results.then(([, second]) => {
    if ('error' in second)
      return expectTypeOf(second.error.code).toEqualTypeOf<api.RatesErrorCode>()
    expectTypeOf(second.date).toEqualTypeOf<string | undefined>()
    return expectTypeOf(second.results.GBP).toEqualTypeOf<api.ConvertedAmount>()
  })
  const rows: { from: string; to: string; amount: number }[] = []
  expectTypeOf(convertMany(rows)).resolves.toEqualTypeOf<First[]>()
  expectTypeOf(client.convertMany(rows, { signal: AbortSignal.abort() })).toEqualTypeOf(
    convertMany(rows),
  )
  const unknownRows: readonly api.ConversionRow[] = []
  expectTypeOf(convertMany(unknownRows)).resolves.items.toExtend<
    api.Conversion | api.ConversionList | api.ConversionError
  >()
  // @ts-expect-error a row requires a target
  void convertMany([{ from }])
  // @ts-expect-error an amount is a number or a text
  void convertMany([{ from, to: 'EUR', amount: true }])
  // @ts-expect-error rows are a list
  void client.convertMany({ from, to: 'EUR' })
})

test('the Express adapter mounts in current Express and in Connect', () => {
  const mounted = toExpressHandler(api.createRatesHandler())
  express().use(mounted)
  express().use('/fx', mounted)
  express().get('/api/v1/latest', mounted)
  expectTypeOf(mounted).parameter(2).toEqualTypeOf<() => void>()
  // @ts-expect-error requires a handler with answer()
  toExpressHandler((request: Request) => new Response(request.url))
})

test('Next.js gets a function for each method, which accepts its request and parts of the path', () => {
  const { GET, ...others } = toNextHandler(api.createRatesHandler())
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
  expectTypeOf(serveOnBun).toEqualTypeOf(node.serve)
  expectTypeOf(serveOnDeno).toEqualTypeOf(node.serve)
  expectTypeOf(node.serve).toBeCallableWith(api.createRatesHandler(), { port: 0 })
  expectTypeOf(node.serve).returns.resolves.toEqualTypeOf<node.RunningServer>()
})

test('a Worker passes its bindings to the function that creates its handler', () => {
  const worker = toWorker(({ region }: { region: string }) =>
    api.createRatesHandler({ basePath: `/${region}` }),
  )
  type Bindings = { region: string }
  expectTypeOf(worker.fetch).parameters.toEqualTypeOf<[Request, Bindings, WorkerContext]>()
  expectTypeOf(worker.scheduled).parameter(1).toEqualTypeOf<Bindings>()
  // @ts-expect-error a scheduled event requires refresh()
  toWorker(() => () => new Response())
})

test('a client takes a URL, and optionally a fetch function', () => {
  expectTypeOf(clients.createRatesClient).returns.toEqualTypeOf<clients.RatesClient>()
  expectTypeOf(clients.createRatesClient).parameters.toEqualTypeOf<[clients.RatesClientOptions]>()
  expectTypeOf<keyof clients.RatesClientOptions>().toEqualTypeOf<
    'baseUrl' | 'fetch' | 'retries' | 'key'
  >()
  type Operations = 'latest' | 'convert' | 'quote' | 'convertMany' | 'history' | 'days'
  expectTypeOf<keyof clients.RatesClient>().toEqualTypeOf<
    Operations | 'currencies' | 'sources' | 'status'
  >()
  clients.createRatesClient({ baseUrl: '', fetch })
  clients.createRatesClient({ baseUrl: '', fetch: api.createRatesHandler() })
  // Like the fetch of frameworks, which may return a Response without a promise.
  clients.createRatesClient({
    baseUrl: '',
    fetch: (): Response | Promise<Response> => new Response(),
  })
  clients.createRatesClient({ baseUrl: '', fetch: undefined, retries: undefined, key: undefined })
  clients.createRatesClient({ baseUrl: '', key: 'rsk_0' })
  // @ts-expect-error a URL is required
  clients.createRatesClient({})
  // @ts-expect-error a misspelt option
  clients.createRatesClient({ baseURL: '' })
  // @ts-expect-error a key is a string
  clients.createRatesClient({ baseUrl: '', key: 5 })
  // @ts-expect-error fetch must be a function
  clients.createRatesClient({ baseUrl: '', fetch: { fetch } })
})

test('a client has the operations of the handler, which take a signal', () => {
  // In both directions, so that the results have the same types.
  expectTypeOf<clients.RatesClient>().toExtend<api.RatesOperations>()
  expectTypeOf<api.RatesOperations>().toExtend<
    Omit<clients.RatesClient, 'quote' | 'convert' | 'convertMany'>
  >()
  void client.latest({ signal })
  expectTypeOf(client.days({ start: '2026-01-02', signal })).toEqualTypeOf<
    AsyncIterable<api.RatesDay>
  >()
  void client.latest({ base: undefined, symbols: undefined, signal: undefined })
  // @ts-expect-error signal must be an AbortSignal
  void client.convert({ ...pair, signal: 'soon' })
  // @ts-expect-error currencies have no base
  void client.currencies({ base: 'EUR' })
})

test('the parameters of a client call decide the type of its result', () => {
  type Coverage = api.CurrencyList['currencies'][number]
  expectTypeOf<Pick<Coverage, 'symbol' | 'countries'>>().toEqualTypeOf<{
    symbol: string | null
    countries: string[]
  }>()
  expectTypeOf<Coverage['histories']>().toEqualTypeOf<clients.CurrencyHistory[] | undefined>()
  type Sources = NonNullable<api.ServiceStatus['history']>['sources']
  expectTypeOf<Sources>().toEqualTypeOf<clients.HistorySourceStatus[] | undefined>()
  expectTypeOf<clients.HistorySourceStatus['late']>().toEqualTypeOf<boolean>()
  const both = client.convert({ from: 'USD', to: ['EUR'], date, reverse: true, signal })
  expectTypeOf(both).resolves.toEqualTypeOf<api.ConversionList<{ EUR: api.ConvertedAmount }>>()
  // @ts-expect-error misspelt, beside the signal
  void client.history({ from: 'USD', to: ['EUR'], perod: '1Y', signal })
})

test('currencies are rows of plain data, and codes are known ones, or any string', () => {
  expectTypeOf(currencies).toEqualTypeOf<readonly Currency[]>()
  expectTypeOf(findCurrency).returns.toEqualTypeOf<Currency | undefined>()
  expectTypeOf(withdrawnCurrencies).toEqualTypeOf<readonly WithdrawnCurrency[]>()
  expectTypeOf(findWithdrawn).returns.toEqualTypeOf<WithdrawnCurrency | undefined>()
  expectTypeOf<'EUR'>().toExtend<clients.KnownCurrencyCode>()
  expectTypeOf<'eur' | 'HRK' | 'XYZ'>().not.toExtend<clients.KnownCurrencyCode>()
  expectTypeOf<string>().not.toExtend<clients.KnownCurrencyCode>()
  expectTypeOf<string>().toExtend<clients.CurrencyCode>()
  // A union with `string` itself would be `string`, and editors would not suggest codes.
  expectTypeOf<clients.CurrencyCode>().not.toEqualTypeOf<string>()
  expectTypeOf<Extract<clients.CurrencyCode, 'EUR'>>().toEqualTypeOf<'EUR'>()
  expectTypeOf<api.ConversionParams['from']>().toEqualTypeOf<clients.CurrencyCode>()
  expectTypeOf<api.HistoryParams['to']>().toEqualTypeOf<clients.CurrencyCode>()
  expectTypeOf<api.LatestParams['base']>().toEqualTypeOf<clients.CurrencyCode | undefined>()
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
  const known: clients.CurrencyCode[] = ['EUR']
  expectTypeOf(client.latest({ date: undefined })).resolves.toEqualTypeOf<api.LatestRates>()
  expectTypeOf(client.latest({ symbols: [] })).resolves.toEqualTypeOf<api.LatestRates>()
  expectTypeOf(client.latest({ symbols: codes })).resolves.toEqualTypeOf<api.LatestRates>()
  expectTypeOf(client.latest({ symbols: known })).resolves.toEqualTypeOf<api.LatestRates>()
  const longer = client.latest({ symbols: ['EUR', ...codes] })
  expectTypeOf(longer).resolves.toEqualTypeOf<api.LatestRates>()
  const params: api.LatestParams = {}
  expectTypeOf(client.latest(params)).resolves.toEqualTypeOf<api.LatestRates>()
})

test('monitoring wraps any handler, and keeps its members', () => {
  const handler = api.createRatesHandler()
  const write = (line: string): void => void line
  expectTypeOf(monitor.createMetrics(handler)).toEqualTypeOf<monitor.Metrics>()
  expectTypeOf(monitor.createHealth(handler)).toEqualTypeOf<monitor.Health>()
  expectTypeOf(
    monitor.createHealth(handler, { require: ['latest'] }),
  ).toEqualTypeOf<monitor.Health>()
  expectTypeOf<monitor.HealthOptions>().toEqualTypeOf<{
    require?: readonly ('latest' | 'history')[] | undefined
  }>()
  const wrapped = monitor.withRequestIds(monitor.withAccessLog(handler, { write }))
  expectTypeOf(wrapped).toExtend<api.RatesHandler>()
  expectTypeOf(wrapped).toExtend<monitor.WrappedHandler>()
  expectTypeOf(wrapped.fetch).toBeCallableWith(new Request('http://localhost'))
  const answering = monitor.withAccessLog(
    { answer: handler.answer, keyRules: { queryParameters: [] } },
    { write },
  )
  expectTypeOf(answering(new Request('http://localhost'))).resolves.toEqualTypeOf<Response>()
  type Names = 'write' | 'clients' | 'now'
  expectTypeOf<keyof monitor.AccessLogOptions>().toEqualTypeOf<Names>()
  expectTypeOf<api.ServerOptions['accessLog']>().toEqualTypeOf<
    boolean | { clients?: boolean | undefined } | undefined
  >()
  node.toNodeHandler(wrapped)
  node.toNodeHandler(monitor.createMetrics(wrapped).fetch)
  node.toNodeHandler(monitor.createHealth(wrapped).ready)
  toExpressHandler(wrapped)
  toWorker(() => wrapped)
  void serveOnBun(wrapped)
  void serveOnDeno(monitor.createMetrics(wrapped).fetch)
  // @ts-expect-error a function has no answer()
  monitor.withRequestIds(() => new Response())
  // @ts-expect-error the log needs a function
  monitor.withAccessLog(handler, {})
})

test('the routes of other services are an option of the handler', () => {
  expectTypeOf(fixer({ basePath: '/old' })).toEqualTypeOf<api.Route[]>()
  expectTypeOf(openExchangeRates()).toEqualTypeOf<api.Route[]>()
  void api.createRatesHandler({ routes: [fixer(), frankfurter(), openExchangeRates()] })
  // @ts-expect-error a handler is not wrapped
  void fixer(api.createRatesHandler())
  expectTypeOf<keyof FrankfurterCompatOptions>().toEqualTypeOf<'basePath' | 'unprefixed'>()
  void frankfurter({ unprefixed: false })
  // @ts-expect-error only Frankfurter has paths without a prefix
  void fixer({ unprefixed: false })
})

test('routes get a request with its parts, the operations and the context', () => {
  const route: api.Route = {
    path: '/shop/:code',
    async get(request, rates, context) {
      expectTypeOf(request).toExtend<Request>()
      expectTypeOf(request.params['code']).toEqualTypeOf<string | undefined>()
      expectTypeOf(request.query['a']).toEqualTypeOf<string | string[] | undefined>()
      expectTypeOf(rates).toEqualTypeOf<api.RatesOperations>()
      expectTypeOf(context.now()).toEqualTypeOf<number>()
      return context.run(() => new Response())
    },
    cost: ({ method, params }) => (method === 'POST' || params['code'] ? 10 : 1),
    error: ({ code }) => ({ body: { code }, status: 400 }),
  }
  void api.createRatesHandler({ routes: [route, [route, route]] })
  // @ts-expect-error a text is not a response
  void api.createRatesHandler({ routes: [{ path: '/', get: () => 'a' }] })
  // @ts-expect-error a route has a path
  void api.createRatesHandler({ routes: [{ get: () => ({}) }] })
  expectTypeOf<api.RatesHandler['keyRules']>().toEqualTypeOf<api.KeyRules | undefined>()
  expectTypeOf<api.RatesHandler['proxies']>().toEqualTypeOf<api.ProxyOptions>()
})

test('access rules are an option of the handler', () => {
  const plans = { public: '60/min', pro: '100000/month' } as const
  const access = keys.createAccess({ plans, anonymous: 'public' })
  expectTypeOf(access).toEqualTypeOf<keys.Access>()
  expectTypeOf<api.RatesHandlerOptions['access']>().toEqualTypeOf<keys.Access | undefined>()
  expectTypeOf<ReturnType<keys.Access['createGuard']>>().toEqualTypeOf<keys.Guard>()
  expectTypeOf<keys.AccessOptions['plans']>().toEqualTypeOf<Readonly<Record<string, keys.Plan>>>()
  expectTypeOf<Parameters<NonNullable<keys.AccessOptions['client']>>>().toEqualTypeOf<
    [api.RawRequest]
  >()
  void keys.createAccess({ plans: { pro: '600/min, 100000/month' }, anonymous: 'pro' })
  // @ts-expect-error a plan is a text
  void keys.createAccess({ plans: { pro: 600 } })
  // @ts-expect-error plans are required
  void keys.createAccess({ anonymous: 'public' })
  // @ts-expect-error a client is a string
  void keys.createAccess({ plans, client: () => undefined })
  // @ts-expect-error not one of the values
  void keys.createAccess({ plans, whenCountersFail: 'ignore' })
})

test('a plan is one of the documented forms', () => {
  expectTypeOf<'60/min' | '1/s' | '2/h' | '100000/day' | '100000/month'>().toExtend<keys.Plan>()
  expectTypeOf<'100/10s' | '100/15min' | '5/12h' | '5/1day'>().toExtend<keys.Plan>()
  expectTypeOf<'600/min, 100000/month' | '600/min,100000/month'>().toExtend<keys.Plan>()
  expectTypeOf<'100000/month, 600/min' | '100000/month,100/10s'>().toExtend<keys.Plan>()
  expectTypeOf<'60' | '60/m' | '60/sec' | '60/minute'>()
    .exclude<keys.Plan>()
    .toEqualTypeOf<'60' | '60/m' | '60/sec' | '60/minute'>()
  expectTypeOf<'60/Min' | '60/months' | '60/2month'>()
    .exclude<keys.Plan>()
    .toEqualTypeOf<'60/Min' | '60/months' | '60/2month'>()
  expectTypeOf<'1/s, 2/min' | '1/month, 2/month' | '1/s, 2/h, 3/month' | '1/s;2/month'>()
    .exclude<keys.Plan>()
    .toEqualTypeOf<'1/s, 2/min' | '1/month, 2/month' | '1/s, 2/h, 3/month' | '1/s;2/month'>()
  const quota: number = 60
  void keys.createAccess({ plans: { public: `${quota}/min` }, anonymous: 'public' })
  // @ts-expect-error a misspelt unit
  void keys.createAccess({ plans: { public: '60/minute' }, anonymous: 'public' })
  const fromEnvironment: string = '60/min'
  // @ts-expect-error any text
  void keys.createAccess({ plans: { public: fromEnvironment }, anonymous: 'public' })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as documented: checked at run time
  void keys.createAccess({ plans: { public: fromEnvironment as keys.Plan }, anonymous: 'public' })
})

test('a key store returns a record, nothing, or a promise of them', () => {
  expectTypeOf(keys.createKey()).resolves.toEqualTypeOf<{ key: string; hash: string }>()
  expectTypeOf(keys.hashKey('')).resolves.toEqualTypeOf<string>()
  const records = new Map<string, keys.KeyRecord>()
  expectTypeOf({ find: (hash: string) => records.get(hash) }).toExtend<keys.KeyStore>()
  expectTypeOf({ find: async (_hash: string) => null }).toExtend<keys.KeyStore>()
  expectTypeOf({ find: async (hash: string) => records.get(hash) }).toExtend<keys.KeyStore>()
  expectTypeOf({ find: () => ({ id: 'a' }) }).not.toExtend<keys.KeyStore>()
  expectTypeOf<keys.KeyRecord['expiresAt']>().toEqualTypeOf<number | undefined>()
})

test('a table takes its rates from the app or a client, over any client of a database', () => {
  type Client = tables.PostgresClient | tables.SqliteDatabase
  expectTypeOf(tables.syncRates).toEqualTypeOf<
    (client: Client, options: tables.SyncRatesOptions) => Promise<tables.SyncedRates>
  >()
  expectTypeOf<tables.SyncedRates>().toEqualTypeOf<{ inserted: number; updated: number }>()
  expectTypeOf<DatabaseSync>().toExtend<tables.SqliteDatabase>()
  // As pg declares its own, with callbacks, and PGlite.
  interface Pool {
    query(text: string, values?: unknown[]): Promise<{ rows: Record<string, string>[] }>
    query(text: string, callback: (error: Error) => void): void
  }
  expectTypeOf<Pool>().toExtend<tables.PostgresClient>()
  const query: tables.PostgresClient['query'] = async () => ({ rows: [] })
  const signal = AbortSignal.timeout(60_000)
  const days = { since: '2026-01-01', symbols: ['USD'], sources: ['ecb'], signal } as const
  void tables.syncRates({ query }, { rates, table: 'finance.rates', ...days })
  void tables.syncRates({ query }, { rates: client })
  // @ts-expect-error without rates
  void tables.syncRates({ query }, {})
  // @ts-expect-error a function is not a client
  void tables.syncRates(query, { rates })
})

test('tools for agents take their rates from the app or a client', () => {
  type Respond = (request: Request) => Promise<Response>
  expectTypeOf(createMcpHandler).toEqualTypeOf<
    (rates: api.RatesOperations, options?: McpOptions) => Respond
  >()
  type Names = 'allowedHosts' | 'allowedOrigins' | 'access' | keyof api.ProxyOptions
  expectTypeOf<keyof McpOptions>().toEqualTypeOf<Names>()
  expectTypeOf<McpOptions['access']>().toEqualTypeOf<keys.Access | undefined>()
  expectTypeOf(serveStdio(client)).resolves.toEqualTypeOf<StdioServer>()
  const allowedHosts = ['rates.example.com'] as const
  const access = keys.createAccess({ anonymous: 'public', plans: { public: '60/min' } })
  void node.serve(createMcpHandler(client, { allowedHosts, access, trustedProxies: 1 }))
  api.createRatesHandler({
    routes: [{ path: '/mcp', post: (request, shared) => createMcpHandler(shared)(request) }],
  })
  // @ts-expect-error without rates
  createMcpHandler()
  // @ts-expect-error a handler has rates, and is not them
  createMcpHandler(api.createRatesHandler())
  // @ts-expect-error a misspelt option
  createMcpHandler(rates, { allowedOrigin: [] })
  // @ts-expect-error hosts are a list
  createMcpHandler(rates, { allowedHosts: 'rates.example.com' })
  // @ts-expect-error plans are options of createAccess()
  createMcpHandler(rates, { access: { plans: { public: '60/min' } } })
  // @ts-expect-error stdin has no hosts
  void serveStdio(rates, { allowedHosts })
})

test('choices are closed lists', () => {
  expectTypeOf<api.DataSet>().toEqualTypeOf<'latest' | 'history'>()
  expectTypeOf<api.CorsScope>().toEqualTypeOf<'v1' | 'all' | 'off'>()
  expectTypeOf<api.Period>().toEqualTypeOf<'1W' | '1M' | '3M' | '6M' | '1Y' | '5Y'>()
  expectTypeOf<api.Rounding>().toEqualTypeOf<'minor' | 'cash'>()
  expectTypeOf<api.LogFormat>().toEqualTypeOf<'json' | 'text'>()
  expectTypeOf<api.LogLevel>().toEqualTypeOf<'info' | 'warn' | 'error'>()
  expectTypeOf<'previous-business-day' | 'period-end'>().toExtend<api.DateRule>()
  expectTypeOf<'expired_key' | 'forbidden_origin'>().toExtend<api.AccessRefusal>()
  expectTypeOf<'halfEven' | 'ceil'>().toExtend<money.RoundingMode>()
  expectTypeOf<api.Attempt['outcome']>().toEqualTypeOf<
    'running' | 'loaded' | 'restored' | 'delegated' | 'failed'
  >()
  expectTypeOf<'NEXT'>().not.toExtend<api.DateRule>()
})

test('options are optional, and a key is required', () => {
  expectTypeOf<{}>().toExtend<api.RatesOptions>()
  expectTypeOf<api.RatesHandlerOptions>().toExtend<api.RatesOptions>()
  expectTypeOf<api.ExchangeRateApiOptions>().toEqualTypeOf<{
    url?: string | undefined
    base?: string | undefined
  }>()
  expectTypeOf<api.FrankfurterOptions>().toEqualTypeOf<banks.BankOptions>()
  expectTypeOf<banks.EcbOptions>().toEqualTypeOf<banks.BankOptions>()
  expectTypeOf<banks.EcbDataApiOptions>().toEqualTypeOf<banks.BankOptions>()
  expectTypeOf<banks.FrankfurterV2Options['providers']>().toEqualTypeOf<
    readonly string[] | undefined
  >()
  expectTypeOf<banks.Fawazahmed0Options['urls']>().toEqualTypeOf<readonly string[] | undefined>()
  expectTypeOf<banks.NbpOptions['table']>().toEqualTypeOf<'A' | 'B' | undefined>()
  expectTypeOf<banks.SideOptions['side']>().toEqualTypeOf<
    'buying' | 'selling' | 'middle' | undefined
  >()
  expectTypeOf<
    | banks.KeyedBankOptions
    | banks.CurrencyapiOptions
    | banks.OpenExchangeRatesOptions
    | banks.ExchangeRateApiV6Options
  >().toExtend<{ key: string }>()
  expectTypeOf<banks.FolderOptions>().toHaveProperty('url')
  expectTypeOf<api.MemoryStoreOptions['maxEntries']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<keys.MemoryCountersOptions['maxClients']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<KeyStoreOptions>().toEqualTypeOf<SqliteStoreOptions>()
  expectTypeOf<CompatOptions['basePath']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<node.ServeOptions['tls']>().toEqualTypeOf<
    { key: string; cert: string } | undefined
  >()
  expectTypeOf<fakes.FakeProvidersOptions['seed']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<clients.CallOptions['signal']>().toEqualTypeOf<AbortSignal | undefined>()
  expectTypeOf<{ symbols: string[] }>().toExtend<api.CurrenciesParams>()
  expectTypeOf<{ base: string; symbols: string[] }>().toExtend<api.SnapshotParams>()
  expectTypeOf<api.DaysParams['start']>().toEqualTypeOf<string>()
})

test('a day is chosen with a rule, an age and a source, or not at all', () => {
  expectTypeOf<{ date: string; rule: 'next'; maxAge: number }>().toExtend<api.DayChoice>()
  expectTypeOf<{ rule: 'next' }>().not.toExtend<api.DayChoice>()
})

test('records have the fields of the API', () => {
  expectTypeOf<api.Attribution>().toEqualTypeOf<{ name: string; url: string }>()
  expectTypeOf<api.SourceList['sources'][number]>().toEqualTypeOf<api.ReferenceSource>()
  expectTypeOf<api.ReferenceSource['lastDay']>().toEqualTypeOf<string | null>()
  expectTypeOf<api.SourceRate['source']>().toEqualTypeOf<api.Attribution>()
  expectTypeOf<api.CurrencyCoverage['withdrawn']>().toEqualTypeOf<api.CurrencyEnd | null>()
  expectTypeOf<api.CurrencyEnd['ratio']>().toEqualTypeOf<number | null>()
  expectTypeOf<NonNullable<api.ServiceStatus['latest']>>().toExtend<api.DataSetStatus>()
  expectTypeOf<api.HistoryStats>().toHaveProperty('highDate').toEqualTypeOf<string>()
  expectTypeOf<api.Redenomination>().toEqualTypeOf<{ code: string; date: string; ratio: number }>()
  expectTypeOf<api.Usage['limits']>().toEqualTypeOf<api.UsageLimit[]>()
  expectTypeOf<api.RatesOf<readonly ['EUR']>>().toEqualTypeOf<{ EUR: number }>()
  expectTypeOf<api.ByCode<readonly ['EUR'], boolean>>().toEqualTypeOf<{ EUR: boolean }>()
  type Row = { from: 'USD'; to: 'EUR' }
  expectTypeOf<api.Conversion>().toExtend<api.ManyConversions<readonly [Row]>[0]>()
  expectTypeOf<NonNullable<api.RatesErrorDetails['parameter']>>().toEqualTypeOf<string>()
})

test('quotes take the parameters of a conversion', () => {
  expectTypeOf<quoted.SnapshotConversionParams['reverse']>().toEqualTypeOf<boolean | undefined>()
  expectTypeOf<quoted.QuoteParams>().not.toHaveProperty('reverse')
  expectTypeOf<quoted.QuotedParams>().toEqualTypeOf<Partial<quoted.QuoteParams>>()
  expectTypeOf<clients.QuotedRow['quote']>().toEqualTypeOf<string>()
})

test('providers have latest rates and history', () => {
  type Both = api.LatestProvider & api.HistoryProvider
  const BANKS = [
    banks.createBankOfCanadaProvider,
    banks.createBankOfEnglandProvider,
    banks.createBankOfIsraelProvider,
    banks.createBnrProvider,
    banks.createCbrProvider,
    banks.createDanmarksNationalbankProvider,
    banks.createFbilProvider,
    banks.createImfProvider,
    banks.createMnbProvider,
    banks.createNbuProvider,
    banks.createRbaProvider,
    banks.createRiksbankProvider,
  ]
  expectTypeOf(BANKS).toExtend<banks.BankFactory[]>()
  expectTypeOf(banks.createBcbProvider).parameter(0).toExtend<banks.SideOptions | undefined>()
  expectTypeOf(banks.createTcmbProvider)
    .parameter(0)
    .toExtend<banks.KeyedBankOptions & banks.SideOptions>()
  expectTypeOf(banks.createEcbProvider).returns.toEqualTypeOf<Both>()
  expectTypeOf(banks.createEcbDataApiProvider).returns.toEqualTypeOf<Both>()
  expectTypeOf<fakes.FailingProvider>().toExtend<Both>()
  expectTypeOf(banks.fixed<api.LatestProvider>).toEqualTypeOf<
    (
      provider: api.LatestProvider,
      ratios: readonly banks.FixedRatio[],
    ) => banks.Derived<api.LatestProvider>
  >()
  expectTypeOf<banks.Derived<Both>>().toExtend<Both>()
  expectTypeOf<banks.OverlayOptions['rates']>().toEqualTypeOf<
    banks.OwnRates | readonly banks.OwnRates[]
  >()
  expectTypeOf(banks.OFFICIAL_PEGS).toEqualTypeOf<readonly banks.OfficialPeg[]>()
  expectTypeOf<api.HistoryDays['days']>().toEqualTypeOf<api.HistoryDay[]>()
  expectTypeOf<api.ProviderContext['references']>().toEqualTypeOf<
    readonly api.ReferenceTable[] | undefined
  >()
  expectTypeOf<NonNullable<api.LatestTable['unconfirmed']>>().toExtend<
    Readonly<Record<string, api.UnconfirmedRate>>
  >()
  expectTypeOf<NonNullable<api.HistoryProvider['publication']>>().toEqualTypeOf<api.Publication>()
})

test('money is text and bigint', () => {
  expectTypeOf(money.allocate).returns.toEqualTypeOf<string[]>()
  expectTypeOf(money.roundTo).parameter(2).toEqualTypeOf<money.RoundingOptions | undefined>()
  expectTypeOf(money.roundTo).returns.toEqualTypeOf<string>()
  expectTypeOf(money.toMinorUnits).returns.toEqualTypeOf<bigint>()
  expectTypeOf(money.fromMinorUnits).parameter(0).toEqualTypeOf<bigint | number>()
  expectTypeOf(money.digitsOf).toEqualTypeOf<(code: string) => number>()
  const table = { base: 'USD', rates: { EUR: 0.9 } } satisfies money.RatesSource<'EUR'>
  expectTypeOf(money.toDineroRates(table, { bigint: true })).toEqualTypeOf<
    Record<'EUR', money.ScaledAmount<bigint>>
  >()
})

test('stores, counters and keys can be written', () => {
  expectTypeOf(createFileStore).toEqualTypeOf<(folder: string) => api.CacheStore>()
  expectTypeOf(createSqliteStore).returns.toEqualTypeOf<SqliteStore>()
  expectTypeOf<SqliteStore>().toExtend<api.CacheStore>()
  expectTypeOf(keys.createMemoryCounters).returns.toEqualTypeOf<keys.Counters>()
  expectTypeOf<(context: keys.CountersContext) => keys.OpenCounters>().toExtend<
    keys.Counters['open']
  >()
  expectTypeOf<keys.OpenCounters['take']>().toEqualTypeOf<
    (
      client: string,
      limits: readonly keys.Limit[],
      cost: number,
    ) => keys.Decision | Promise<keys.Decision>
  >()
  expectTypeOf<keys.Decision['states'][number]>().toEqualTypeOf<keys.LimitState>()
  expectTypeOf(createFileKeyStore).returns.toEqualTypeOf<WritableKeyStore>()
  expectTypeOf<WritableKeyStore>().toExtend<keys.KeyStore>()
  expectTypeOf<StoredKey>().toExtend<keys.KeyRecord>()
})

test('guards, routes and listeners see the request', () => {
  expectTypeOf<keys.Admission['refusal']>().toEqualTypeOf<api.RatesError | undefined>()
  expectTypeOf<keys.GuardedRequest['request']>().toEqualTypeOf<api.RawRequest>()
  expectTypeOf<api.GuardContext['isParameter']>().returns.toEqualTypeOf<boolean>()
  expectTypeOf<api.RouteRequest>().toExtend<Request>()
  expectTypeOf<api.RouteContext['now']>().returns.toEqualTypeOf<number>()
  expectTypeOf<readonly api.Route[]>().toExtend<api.Routes>()
  expectTypeOf<api.HandlerListeners>().toExtend<api.RatesListeners>()
  expectTypeOf<api.RatesListeners['onEvent']>().toEqualTypeOf<
    ((event: api.RatesEvent) => void) | undefined
  >()
  expectTypeOf<api.ResponseSummary['request']>().toEqualTypeOf<api.RawRequest>()
  expectTypeOf<api.HandlerState['status']>().toEqualTypeOf<api.ServiceStatus>()
  expectTypeOf<api.EndpointResponse['headers']>().toEqualTypeOf<api.Header[]>()
  expectTypeOf<api.ReadBody>().returns.toEqualTypeOf<Promise<void>>()
  expectTypeOf<monitor.AnsweringHandler['answer']>().returns.toEqualTypeOf<
    api.RawResponse | Promise<api.RawResponse>
  >()
})

test('hosts pass their own objects', () => {
  expectTypeOf<(request: Request) => Promise<Response>>().toExtend<node.FetchHandler>()
  expectTypeOf<node.NodeHandler>().toEqualTypeOf<
    (request: node.NodeRequest, response: node.NodeResponse) => void
  >()
  expectTypeOf<ExpressRequest>().toExtend<node.NodeRequest>()
  expectTypeOf<NonNullable<node.NodeRequest['socket']>>().toEqualTypeOf<node.RequestSocket>()
  expectTypeOf<NonNullable<node.NodeRequest['stream']>>().toEqualTypeOf<node.RequestStream>()
  expectTypeOf<NonNullable<node.NodeResponse['socket']>>().toEqualTypeOf<node.ResponseSocket>()
  expectTypeOf<NextHandler['POST']>().toEqualTypeOf<NextFunction>()
})

test('fakes take a clock, rates and days', () => {
  expectTypeOf(fakes.fakeClock).returns.toEqualTypeOf<fakes.FakeClock>()
  expectTypeOf(fakes.fixedProviders).toEqualTypeOf<
    (table: fakes.FixedRates) => fakes.FakeProviders
  >()
  expectTypeOf<fakes.FakeProviders['latest']>().toEqualTypeOf<api.LatestProvider>()
})
