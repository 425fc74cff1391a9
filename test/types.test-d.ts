import { expectTypeOf } from 'expect-type'
import { test } from 'vitest'

import { toNodeHandler } from '../adapters/node.ts'
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
  ConversionRecord,
  HistoryProvider,
  HistoryRecord,
  LatestProvider,
  LatestRecord,
  LatestTable,
  Period,
  RatesErrorCode,
  RatesEvent,
  RatesHandler,
  RatesHandlerOptions,
  RatesOperations,
} from '../src/index.ts'
import { currencies, findCurrency, findWithdrawn, withdrawnCurrencies } from '../src/currencies.ts'
import type { Currency, WithdrawnCurrency } from '../src/currencies.ts'
import { fakeProviders } from '../src/testing/index.ts'

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

test('the operations resolve to the records of the versioned endpoints', () => {
  const { latest, convert, history } = createRatesHandler().rates
  expectTypeOf(latest).returns.resolves.toEqualTypeOf<LatestRecord>()
  expectTypeOf(convert).returns.resolves.toEqualTypeOf<ConversionRecord>()
  expectTypeOf(history).returns.resolves.toEqualTypeOf<HistoryRecord>()
  expectTypeOf(latest).toBeCallableWith()
  expectTypeOf(latest).toBeCallableWith({ base: 'EUR', symbols: ['USD'] })
  expectTypeOf(convert).toBeCallableWith({ from: 'USD', to: 'EUR' })
  // @ts-expect-error the amount is a number
  void convert({ from: 'USD', to: 'EUR', amount: '1' })
  // @ts-expect-error from and to are required
  void convert({ from: 'USD' })
  // @ts-expect-error there are six periods
  void history({ from: 'USD', to: 'EUR', period: '2W' })
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

test('events are told apart by their type', () => {
  createRatesHandler({
    onEvent(event) {
      expectTypeOf(event).toEqualTypeOf<RatesEvent>()
      if (event.type === 'upstream_failed') expectTypeOf(event.reason).toEqualTypeOf<string>()
      // @ts-expect-error no such event
      void (event.type === 'oops')
    },
  })
})

test('an answer is plain data', () => {
  expectTypeOf<Answer['body']>().toEqualTypeOf<Uint8Array<ArrayBuffer> | string | null>()
  expectTypeOf<Answer['headers']>().toEqualTypeOf<[name: string, value: string][]>()
})

test('the Node adapter takes any fetch-style handler', () => {
  expectTypeOf(toNodeHandler).toBeCallableWith(createRatesHandler())
  expectTypeOf(toNodeHandler).toBeCallableWith(
    async (request: Request) => new Response(request.url),
  )
  // @ts-expect-error a handler answers with a promise
  toNodeHandler(() => new Response())
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
