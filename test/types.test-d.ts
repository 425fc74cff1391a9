import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { createServer as createTlsServer } from 'node:https'

import { expectTypeOf } from 'expect-type'
import express from 'express'
import type { Cluster, Redis } from 'ioredis'
import type { RedisClientPoolType, RedisClientType, RedisClusterType, createClient } from 'redis'
import type { Agent, MockAgent } from 'undici'
import { test } from 'vitest'
import type * as z from 'zod/mini'

import { serve as serveOnBun } from '../adapters/bun.ts'
import { toWorker } from '../adapters/cloudflare.ts'
import type { WorkerContext } from '../adapters/cloudflare.ts'
import { serve as serveOnDeno } from '../adapters/deno.ts'
import { toExpressHandler } from '../adapters/express.ts'
import { createUndiciFetch, serve as serveOnNode, toNodeHandler } from '../adapters/node.ts'
import type { RunningServer, UndiciFetchOptions } from '../adapters/node.ts'
import {
  RatesError,
  createExchangeRateApiProvider,
  createFrankfurterProvider,
  createMemoryStore,
  createRatesHandler,
} from '../src/index.ts'
import type {
  Answer,
  AnswerRequest,
  CacheStore,
  ConversionAnswer,
  ConversionQuestion,
  ConversionRecord,
  ConversionsQuestion,
  ConversionsRecord,
  ConvertedAmount,
  CurrenciesRecord,
  DatedLatestRecord,
  HistoryProvider,
  HistoryRangeRecord,
  HistoryRecord,
  Interval,
  LatestProvider,
  LatestRecord,
  LatestTable,
  Period,
  RatesErrorCode,
  RatesEvent,
  RatesHandler,
  RatesHandlerOptions,
  RatesOperations,
  StatusRecord,
} from '../src/index.ts'
import { currencies, findCurrency, findWithdrawn, withdrawnCurrencies } from '../src/currencies.ts'
import type { Currency, WithdrawnCurrency } from '../src/currencies.ts'
import { createCurrencyapiProvider } from '../src/providers/currencyapi.ts'
import { createExchangeRateApiV6Provider } from '../src/providers/exchange-rate-api-v6.ts'
import { createFawazahmed0Provider } from '../src/providers/fawazahmed0.ts'
import {
  createFrankfurterV2EcbProvider,
  createFrankfurterV2Provider,
} from '../src/providers/frankfurter-v2.ts'
import { createOpenExchangeRatesProvider } from '../src/providers/open-exchange-rates.ts'
import { createCacheApiStore } from '../src/stores/cache-api.ts'
import type { CacheApiStoreOptions, WebCache } from '../src/stores/cache-api.ts'
import { createKvStore } from '../src/stores/cloudflare-kv.ts'
import type { KvNamespace } from '../src/stores/cloudflare-kv.ts'
import { createFileStore } from '../src/stores/file.ts'
import { createRedisStore } from '../src/stores/redis.ts'
import type { ClaimingStore, RedisClient, StoreOptions } from '../src/stores/redis.ts'
import { createSqliteStore } from '../src/stores/sqlite.ts'
import type { SqliteStore, SqliteStoreOptions } from '../src/stores/sqlite.ts'
import { crossCheck } from '../src/providers/cross-check.ts'
import type { CrossCheckOptions } from '../src/providers/cross-check.ts'
import { createUpstashStore } from '../src/stores/upstash.ts'
import type { UpstashStoreOptions } from '../src/stores/upstash.ts'
import { conversionRecord, conversionsRecord } from '../src/openapi/conversion-records.ts'
import { historyRangeRecord, historyRecord } from '../src/openapi/history-record.ts'
import { datedLatestRecord, latestRecord } from '../src/openapi/rate-records.ts'
import { currenciesRecord, statusRecord } from '../src/openapi/service-records.ts'
import {
  failingProvider,
  fakeClock,
  fakeProviders,
  providerContract,
  storeContract,
} from '../src/testing/index.ts'
import type {
  ContractCase,
  FailingProviderOptions,
  FailureKind,
  FakeClock,
  ProviderTrial,
  UpstreamFetch,
} from '../src/testing/index.ts'

test('createRatesHandler takes options, all of them optional, and makes a handler', () => {
  expectTypeOf(createRatesHandler).parameter(0).toEqualTypeOf<RatesHandlerOptions | undefined>()
  expectTypeOf(createRatesHandler).toBeCallableWith()
  expectTypeOf(createRatesHandler).returns.toEqualTypeOf<RatesHandler>()
  expectTypeOf<{}>().toExtend<RatesHandlerOptions>()
})

test('a handler is a fetch-style function with four members', () => {
  expectTypeOf<RatesHandler>().toExtend<(request: Request) => Promise<Response>>()
  expectTypeOf<Parameters<RatesHandler>>().toEqualTypeOf<[request: Request]>()
  expectTypeOf<keyof RatesHandler>().toEqualTypeOf<
    'fetch' | 'answer' | 'rates' | 'refresh' | 'close'
  >()
  expectTypeOf<RatesHandler['fetch']>().toEqualTypeOf<(request: Request) => Promise<Response>>()
  expectTypeOf<RatesHandler['answer']>().toEqualTypeOf<
    (request: AnswerRequest) => Promise<Answer>
  >()
  expectTypeOf<RatesHandler['rates']>().toEqualTypeOf<RatesOperations>()
  expectTypeOf<RatesHandler['refresh']>().toEqualTypeOf<() => Promise<void>>()
  expectTypeOf<RatesHandler['close']>().toEqualTypeOf<() => void>()
})

test('the options are these', () => {
  expectTypeOf<keyof RatesHandlerOptions>().toEqualTypeOf<
    | 'basePath'
    | 'providers'
    | 'store'
    | 'fetch'
    | 'now'
    | 'maxStale'
    | 'waitUntil'
    | 'onEvent'
    | 'explorer'
    | 'memory'
    | 'cors'
  >()
  expectTypeOf<{ basePath: undefined; store: undefined }>().toExtend<RatesHandlerOptions>()
  expectTypeOf<{ maxStale: { latest: number } }>().toExtend<RatesHandlerOptions>()
  // @ts-expect-error a misspelt option
  createRatesHandler({ basepath: '/fx' })
  // @ts-expect-error no origin can be allowed by itself
  createRatesHandler({ cors: 'https://app.example' })
  // @ts-expect-error a history provider has no latest rates
  createRatesHandler({ providers: { latest: createFrankfurterProvider() } })
})

test('providers are one or several', () => {
  const latest = createExchangeRateApiProvider()
  expectTypeOf(latest).toEqualTypeOf<LatestProvider>()
  expectTypeOf(createFrankfurterProvider({ url: '' })).toEqualTypeOf<HistoryProvider>()
  createRatesHandler({ providers: { latest: [latest, fakeProviders().latest] } })
  createRatesHandler({ providers: fakeProviders({ seed: 1, now: () => 0 }) })
})

test('feeds with a key need one, and others none', () => {
  const url = undefined
  const latest = [
    createCurrencyapiProvider({ key: '', url }),
    createExchangeRateApiV6Provider({ key: '', url, base: undefined }),
    createOpenExchangeRatesProvider({ key: '', url }),
    createFawazahmed0Provider({ urls: undefined }),
    createFrankfurterV2Provider({ url, providers: ['ECB'] }),
  ]
  expectTypeOf(latest).toEqualTypeOf<LatestProvider[]>()
  expectTypeOf(createFrankfurterV2EcbProvider({ url })).toEqualTypeOf<HistoryProvider>()
  // @ts-expect-error there is no key
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
  expectTypeOf(createMemoryStore).returns.toEqualTypeOf<CacheStore>()
  expectTypeOf<{
    get(key: string): Promise<string | null>
    set(key: string, value: string, expiresAt: number): Promise<void>
    claim(key: string, expiresAt: number): Promise<boolean>
  }>().toExtend<CacheStore>()
})

test('the stores on disk are stores; the one in SQLite claims and closes too', () => {
  expectTypeOf(createFileStore).toEqualTypeOf<(folder: string) => CacheStore>()
  expectTypeOf(createSqliteStore).returns.toEqualTypeOf<SqliteStore>()
  expectTypeOf(createSqliteStore).toBeCallableWith('rates.db')
  expectTypeOf<SqliteStore>().toExtend<Required<CacheStore>>()
  expectTypeOf<SqliteStore['close']>().toEqualTypeOf<() => void>()
  expectTypeOf<keyof SqliteStoreOptions>().toEqualTypeOf<'now'>()
})

test('the real Redis clients are clients', () => {
  expectTypeOf<Redis>().toExtend<RedisClient>()
  expectTypeOf<Cluster>().toExtend<RedisClient>()
  expectTypeOf<RedisClientType>().toExtend<RedisClient>()
  expectTypeOf<RedisClientPoolType>().toExtend<RedisClient>()
  expectTypeOf<ReturnType<typeof createClient>>().toExtend<RedisClient>()
  // As Bun declares its own.
  expectTypeOf<{
    send(command: string, args: string[]): Promise<unknown>
  }>().toExtend<RedisClient>()
  // That of a node-redis cluster has a sendCommand() which wants more.
  expectTypeOf<RedisClusterType>().not.toExtend<RedisClient>()
  expectTypeOf<{}>().not.toExtend<RedisClient>()
  expectTypeOf(createRedisStore).toEqualTypeOf<
    (client: RedisClient, options?: StoreOptions) => ClaimingStore
  >()
  expectTypeOf<ClaimingStore>().toExtend<Required<CacheStore>>()
  expectTypeOf<keyof StoreOptions>().toEqualTypeOf<'prefix' | 'now'>()
})

test('the stores over HTTP and in Workers are stores', () => {
  expectTypeOf(createUpstashStore).toEqualTypeOf<(options: UpstashStoreOptions) => ClaimingStore>()
  expectTypeOf<{ url: string; token: string }>().toExtend<UpstashStoreOptions>()
  // @ts-expect-error the token is required
  createUpstashStore({ url: 'https://database.example' })
  expectTypeOf(createKvStore).toEqualTypeOf<
    (namespace: KvNamespace, options?: StoreOptions) => CacheStore
  >()
  // In short, as Workers declare their own.
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

test('the contract takes whatever makes a store', () => {
  expectTypeOf(storeContract).returns.toEqualTypeOf<ContractCase[]>()
  expectTypeOf(storeContract).toBeCallableWith(() => new Map())
  expectTypeOf(storeContract).toBeCallableWith(async () => createMemoryStore())
  expectTypeOf<ContractCase>().toEqualTypeOf<{ name: string; run(): Promise<void> }>()
})

test('the contract of providers takes those of latest rates, of history or both, and their upstream', () => {
  expectTypeOf(providerContract).returns.toEqualTypeOf<ContractCase[]>()
  expectTypeOf(providerContract).parameter(0).toEqualTypeOf<ProviderTrial>()
  expectTypeOf<{
    latest: () => LatestProvider
    history: () => Promise<HistoryProvider>
    fetch: typeof fetch
    now: FakeClock
  }>().toExtend<ProviderTrial>()
  expectTypeOf<UpstreamFetch>().toEqualTypeOf<(request: Request) => Response | Promise<Response>>()
  // @ts-expect-error what makes a provider, not the provider
  providerContract({ latest: fakeProviders().latest })
})

test('a fake clock is a clock, and is told what time it is', () => {
  expectTypeOf<FakeClock>().toExtend<NonNullable<RatesHandlerOptions['now']>>()
  expectTypeOf(fakeClock).parameter(0).toEqualTypeOf<number | Date | string | undefined>()
  expectTypeOf(fakeClock).returns.toEqualTypeOf<FakeClock>()
  expectTypeOf<FakeClock['set']>().toEqualTypeOf<(instant: number | Date | string) => void>()
  expectTypeOf<FakeClock['advance']>().toEqualTypeOf<(duration: number) => void>()
})

test('a failing provider is one of both data sets, of a closed list of kinds', () => {
  expectTypeOf(failingProvider).returns.toExtend<LatestProvider & HistoryProvider>()
  expectTypeOf(failingProvider).parameter(0).toEqualTypeOf<FailureKind>()
  expectTypeOf(failingProvider).parameter(1).toEqualTypeOf<FailingProviderOptions | undefined>()
  expectTypeOf<FailureKind>().toEqualTypeOf<
    | 'unreachable'
    | 'timeout'
    | 'server-error'
    | 'rate-limited'
    | 'unauthorized'
    | 'malformed'
    | 'bad-rates'
    | 'one-bad-rate'
    | 'outdated'
  >()
  // @ts-expect-error the kinds are a closed list
  failingProvider('oops')
})

test('the operations resolve to the records of the versioned endpoints', () => {
  const { latest, convert, history, currencies: list } = createRatesHandler().rates
  expectTypeOf(list).toEqualTypeOf<() => Promise<CurrenciesRecord>>()
  expectTypeOf(latest)
    .toBeCallableWith({ base: 'EUR' })
    .returns.resolves.toEqualTypeOf<LatestRecord>()
  expectTypeOf(convert({ from: 'USD', to: 'EUR' })).resolves.toEqualTypeOf<ConversionRecord>()
  expectTypeOf(latest).toBeCallableWith().returns.resolves.toEqualTypeOf<LatestRecord>()
  expectTypeOf(latest).toBeCallableWith({ base: 'EUR', symbols: ['USD'] })
  expectTypeOf(convert).toBeCallableWith({ from: 'USD', to: 'EUR' })
  // @ts-expect-error the amount is a number
  void convert({ from: 'USD', to: 'EUR', amount: '1' })
  // @ts-expect-error from and to are required
  void convert({ from: 'USD' })
  // @ts-expect-error there are six periods
  void history({ from: 'USD', to: 'EUR', period: '2W' })
})

test('a conversion is answered with the record of what was asked for', () => {
  const { convert } = createRatesHandler().rates
  const from = 'USD'
  const to = 'EUR'
  const day: string = '2020-02-28'
  const given: { date?: string; reverse?: boolean } = {}
  const known: { date: string | undefined } = { date: undefined }
  expectTypeOf(
    convert({ from, to, reverse: false, date: undefined }),
  ).resolves.toEqualTypeOf<ConversionRecord>()
  expectTypeOf(convert({ from, to, date: day })).resolves.toEqualTypeOf<
    ConversionRecord & { date: string }
  >()
  expectTypeOf(convert({ from, to, reverse: true })).resolves.toEqualTypeOf<
    ConversionRecord & { reverse: true }
  >()
  expectTypeOf(convert({ from, to, date: '2020-02-28', reverse: true })).resolves.toEqualTypeOf<
    ConversionRecord & { date: string } & { reverse: true }
  >()
  expectTypeOf(convert({ from, to, ...given })).resolves.toEqualTypeOf<
    ConversionRecord & { date?: string } & { reverse?: true }
  >()
  expectTypeOf(convert({ from, to, ...known })).resolves.toEqualTypeOf<
    ConversionRecord & { date?: string }
  >()
  const question: ConversionQuestion = { from, to }
  expectTypeOf(convert(question)).resolves.toEqualTypeOf<ConversionRecord>()
})

test('a conversion into several currencies has the codes that were asked for, in capitals', () => {
  const { convert } = createRatesHandler().rates
  const from = 'USD'
  const to = ['EUR', 'xyz'] as const
  const codes: string[] = []
  const some: ('EUR' | 'GBP')[] = ['EUR']
  expectTypeOf<ConvertedAmount>().toEqualTypeOf<{ rate: number; result: number }>()
  expectTypeOf(convert({ from, to: ['EUR', 'jpy'] })).resolves.toEqualTypeOf<
    ConversionsRecord<{ EUR: ConvertedAmount; JPY: ConvertedAmount }>
  >()
  expectTypeOf(convert({ from, to })).resolves.toEqualTypeOf<
    ConversionsRecord<{ EUR: ConvertedAmount; XYZ: ConvertedAmount }>
  >()
  expectTypeOf(convert({ from, to: codes })).resolves.toEqualTypeOf<ConversionsRecord>()
  expectTypeOf(convert({ from, to: some })).resolves.toEqualTypeOf<
    ConversionsRecord<{ EUR: ConvertedAmount | undefined; GBP: ConvertedAmount | undefined }>
  >()
  expectTypeOf(convert({ from, to, date: '2020-02-28', reverse: true })).resolves.toEqualTypeOf<
    ConversionsRecord<{ EUR: ConvertedAmount; XYZ: ConvertedAmount }> & { date: string } & {
      reverse: true
    }
  >()
  const ask = (question: ConversionsQuestion) => convert(question)
  expectTypeOf(ask).returns.resolves.toEqualTypeOf<ConversionAnswer<ConversionsQuestion>>()
  expectTypeOf<ConversionAnswer<ConversionsQuestion>>().toEqualTypeOf<
    (ConversionRecord | ConversionsRecord) & { date?: string } & { reverse?: true }
  >()
})

test('a conversion that cannot be asked for does not compile', () => {
  const { convert } = createRatesHandler().rates
  // @ts-expect-error misspelt
  void convert({ from: 'USD', to: 'EUR', amout: 1 })
  // @ts-expect-error misspelt, beside several currencies
  void convert({ from: 'USD', to: ['EUR'], reversed: true })
  // @ts-expect-error a day is a text
  void convert({ from: 'USD', to: 'EUR', date: new Date() })
  // @ts-expect-error true or false
  void convert({ from: 'USD', to: 'EUR', reverse: 'true' })
  // @ts-expect-error codes are texts
  void convert({ from: 'USD', to: [978] })
})

test('a question decides which record answers it', () => {
  const { latest, history } = createRatesHandler().rates
  const pair = { from: 'USD', to: 'EUR' } as const
  expectTypeOf(history({ ...pair })).resolves.toEqualTypeOf<HistoryRecord>()
  expectTypeOf(history({ ...pair, period: '1Y' })).resolves.toEqualTypeOf<HistoryRecord>()
  expectTypeOf(history({ ...pair, interval: 'week' })).resolves.toEqualTypeOf<HistoryRecord>()
  const range = { ...pair, start: '1999-01-04' }
  expectTypeOf(history(range)).resolves.toEqualTypeOf<HistoryRangeRecord>()
  const whole = history({ ...range, end: '2026-01-30', interval: 'month' })
  expectTypeOf(whole).resolves.toEqualTypeOf<HistoryRangeRecord>()
  // @ts-expect-error either a period or days
  void history({ ...range, period: '1Y' })
  // @ts-expect-error an end has a start
  void history({ ...pair, end: '2026-01-30' })
  // @ts-expect-error there are three intervals
  void history({ ...pair, interval: 'year' })
  expectTypeOf(latest({ date: '2026-01-30' })).resolves.toEqualTypeOf<DatedLatestRecord>()
  expectTypeOf(latest({ base: 'EUR' })).resolves.toEqualTypeOf<LatestRecord>()
  expectTypeOf(latest()).resolves.toEqualTypeOf<LatestRecord>()
  // @ts-expect-error a day is a text
  void latest({ date: new Date(0) })
  expectTypeOf<HistoryRangeRecord>().not.toHaveProperty('period')
  expectTypeOf<HistoryRecord>().not.toHaveProperty('start')
  expectTypeOf<Interval>().toEqualTypeOf<'day' | 'week' | 'month'>()
})

test('the records have the fields of the specification', () => {
  expectTypeOf<LatestRecord>().toEqualTypeOf<{
    base: string
    updatedAt: number
    nextUpdateAt: number
    rates: Record<string, number>
    source: { name: string; url: string }
    disclaimer: string
  }>()
  expectTypeOf<ConversionRecord>().toEqualTypeOf<{
    from: string
    to: string
    amount: number
    rate: number
    result: number
    updatedAt: number
    source: { name: string; url: string }
  }>()
  expectTypeOf<HistoryRecord['points']>().toEqualTypeOf<{ d: string; r: number }[]>()
  expectTypeOf<HistoryRecord['period']>().toEqualTypeOf<Period>()
  expectTypeOf<Period>().toEqualTypeOf<'1W' | '1M' | '3M' | '6M' | '1Y' | '5Y'>()
})

test('the codes of errors are a closed list', () => {
  expectTypeOf<RatesError['code']>().toEqualTypeOf<RatesErrorCode>()
  // @ts-expect-error no such code
  void (new RatesError('invalid_currency', '').code === 'oops')
})

test('a cross-check makes a provider of latest rates of one, and of one of history', () => {
  expectTypeOf(crossCheck).toEqualTypeOf<
    (
      primary: LatestProvider,
      reference: HistoryProvider,
      options?: CrossCheckOptions,
    ) => LatestProvider
  >()
  expectTypeOf<CrossCheckOptions['tolerance']>().toEqualTypeOf<number | undefined>()
  const { latest, history } = fakeProviders()
  // @ts-expect-error the reference is a history provider
  crossCheck(latest, latest)
  // @ts-expect-error a share, not a text
  crossCheck(latest, history, { tolerance: '3 %' })
})

test('events are told apart by their type', () => {
  createRatesHandler({
    onEvent(event) {
      expectTypeOf(event).toEqualTypeOf<RatesEvent>()
      if (event.type === 'upstream_failed') expectTypeOf(event.reason).toEqualTypeOf<string>()
      if (event.type === 'refresh_failed') expectTypeOf(event.reason).toEqualTypeOf<string>()
      if (event.type === 'rates_deviating') {
        expectTypeOf(event.deviations).toEqualTypeOf<string[]>()
      }
      // @ts-expect-error no such event
      void (event.type === 'oops')
    },
  })
})

test('an answer is plain data', () => {
  expectTypeOf<Answer['body']>().toEqualTypeOf<Uint8Array<ArrayBuffer> | string | null>()
  expectTypeOf<Answer['headers']>().toEqualTypeOf<[name: string, value: string][]>()
})

test('the Node adapter takes any fetch-style handler, and serves HTTP/1, HTTPS and HTTP/2', () => {
  expectTypeOf(toNodeHandler).toBeCallableWith(createRatesHandler())
  expectTypeOf(toNodeHandler).toBeCallableWith((request: Request) => new Response(request.url))
  const listener = toNodeHandler(createRatesHandler())
  expectTypeOf(createServer).toBeCallableWith(listener)
  expectTypeOf(createTlsServer).toBeCallableWith(listener)
  expectTypeOf(createHttp2Server).toBeCallableWith(listener)
  // @ts-expect-error a handler answers with a response
  toNodeHandler(() => 'text')
})

test('the fetch over undici is a fetch, and takes any dispatcher of undici', () => {
  expectTypeOf(createUndiciFetch).toEqualTypeOf<
    (options?: UndiciFetchOptions) => Promise<typeof fetch>
  >()
  expectTypeOf<keyof UndiciFetchOptions>().toEqualTypeOf<
    'proxy' | 'connections' | 'timeouts' | 'dispatcher'
  >()
  expectTypeOf<{ dispatcher: MockAgent | Agent }>().toExtend<UndiciFetchOptions>()
  expectTypeOf<{ proxy: undefined; timeouts: { connect: 1_000 } }>().toExtend<UndiciFetchOptions>()
  // @ts-expect-error there is no way to be more than without a proxy
  void createUndiciFetch({ proxy: true })
})

test('the Express adapter mounts in the Express of today and in Connect', () => {
  const mounted = toExpressHandler(createRatesHandler())
  express().use(mounted)
  express().use('/fx', mounted)
  express().get('/api/v1/latest', mounted)
  expectTypeOf(mounted).parameter(2).toEqualTypeOf<() => void>()
  // @ts-expect-error only a handler with answers as data says what is not its own
  toExpressHandler((request: Request) => new Response(request.url))
})

test('every server is started and stopped alike', () => {
  expectTypeOf(serveOnBun).toEqualTypeOf(serveOnNode)
  expectTypeOf(serveOnDeno).toEqualTypeOf(serveOnNode)
  expectTypeOf(serveOnNode).toBeCallableWith(createRatesHandler(), { port: 0 })
  expectTypeOf(serveOnNode).returns.resolves.toEqualTypeOf<RunningServer>()
})

test('a Worker has the bindings that its handler is made from', () => {
  const worker = toWorker(({ region }: { region: string }) =>
    createRatesHandler({ basePath: `/${region}` }),
  )
  expectTypeOf(worker.fetch).parameters.toEqualTypeOf<
    [Request, { region: string }, WorkerContext]
  >()
  expectTypeOf(worker.scheduled).parameter(1).toEqualTypeOf<{ region: string }>()
  // @ts-expect-error a scheduled event has something to refresh
  toWorker(() => () => new Response())
})

test('currencies are rows of plain data', () => {
  expectTypeOf(currencies).toEqualTypeOf<readonly Currency[]>()
  expectTypeOf(findCurrency).returns.toEqualTypeOf<Currency | undefined>()
  expectTypeOf(withdrawnCurrencies).toEqualTypeOf<readonly WithdrawnCurrency[]>()
  expectTypeOf(findWithdrawn).returns.toEqualTypeOf<WithdrawnCurrency | undefined>()
})

test('nothing public is any', () => {
  expectTypeOf<RatesHandlerOptions>().not.toBeAny()
  expectTypeOf<RatesEvent>().not.toBeAny()
  expectTypeOf<ReturnType<CacheStore['get']>>().toBeUnknown()
})

/** What conversions may have beside what all of them have. */
interface AtDayOrInReverse {
  date?: string | undefined
  reverse?: true | undefined
}

test('the records have the schemas of the OpenAPI document', () => {
  expectTypeOf<z.output<typeof latestRecord>>().toEqualTypeOf<LatestRecord>()
  expectTypeOf<z.output<typeof datedLatestRecord>>().branded.toEqualTypeOf<DatedLatestRecord>()
  expectTypeOf<z.output<typeof conversionRecord>>().branded.toEqualTypeOf<
    ConversionRecord & AtDayOrInReverse
  >()
  expectTypeOf<z.output<typeof conversionsRecord>>().branded.toEqualTypeOf<
    ConversionsRecord & AtDayOrInReverse
  >()
  expectTypeOf<z.output<typeof historyRecord>>().toEqualTypeOf<HistoryRecord>()
  expectTypeOf<z.output<typeof historyRangeRecord>>().toEqualTypeOf<HistoryRangeRecord>()
  expectTypeOf<z.output<typeof statusRecord>>().branded.toEqualTypeOf<StatusRecord>()
  expectTypeOf<z.output<typeof currenciesRecord>>().toEqualTypeOf<CurrenciesRecord>()
})
