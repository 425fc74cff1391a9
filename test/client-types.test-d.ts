import { expectTypeOf } from 'expect-type'
import { Hono } from 'hono'
import { test } from 'vitest'

import { createRatesClient } from '../src/client/index.ts'
import type {
  CurrencyCode,
  KnownCurrencyCode,
  RatesClient,
  RatesClientOptions,
} from '../src/client/index.ts'
import { createRatesHandler } from '../src/index.ts'
import type {
  ConversionQuestion,
  ConversionRecord,
  CurrenciesRecord,
  HistoryQuestion,
  HistoryRecord,
  LatestQuestion,
  LatestRecord,
} from '../src/index.ts'

const client = createRatesClient({ baseUrl: 'https://app.example/api' })
const signal = AbortSignal.timeout(1_000)

test('a client is made of a URL, and may be given whatever answers requests', () => {
  expectTypeOf(createRatesClient).returns.toEqualTypeOf<RatesClient>()
  expectTypeOf(createRatesClient).parameters.toEqualTypeOf<[RatesClientOptions]>()
  expectTypeOf<keyof RatesClientOptions>().toEqualTypeOf<'baseUrl' | 'fetch' | 'retries'>()
  expectTypeOf<keyof RatesClient>().toEqualTypeOf<'latest' | 'convert' | 'history' | 'currencies'>()
  createRatesClient({ baseUrl: '', fetch })
  createRatesClient({ baseUrl: '', fetch: createRatesHandler() })
  createRatesClient({ baseUrl: '', fetch: (request) => new Hono().fetch(request) })
  createRatesClient({ baseUrl: '', fetch: undefined, retries: undefined })
  // @ts-expect-error a URL is required
  createRatesClient({})
  // @ts-expect-error a misspelt option
  createRatesClient({ baseURL: '' })
  // @ts-expect-error a misspelt option beside a good one
  createRatesClient({ baseUrl: '', retry: 1 })
  // @ts-expect-error what answers is a function
  createRatesClient({ baseUrl: '', fetch: { fetch } })
})

test('the records are those of the handler', () => {
  expectTypeOf(client.convert).returns.resolves.toEqualTypeOf<ConversionRecord>()
  expectTypeOf(client.history).returns.resolves.toEqualTypeOf<HistoryRecord>()
  expectTypeOf(client.currencies).returns.resolves.toEqualTypeOf<CurrenciesRecord>()
  expectTypeOf(client.latest()).resolves.toEqualTypeOf<LatestRecord>()
})

test('the questions are those of the handler, and may be ended', () => {
  expectTypeOf<LatestQuestion>().toExtend<NonNullable<Parameters<RatesClient['latest']>[0]>>()
  expectTypeOf<ConversionQuestion>().toExtend<Parameters<RatesClient['convert']>[0]>()
  expectTypeOf<HistoryQuestion>().toExtend<Parameters<RatesClient['history']>[0]>()
  void client.latest({ signal })
  void client.convert({ from: 'USD', to: 'EUR', amount: 100, signal })
  void client.history({ from: 'USD', to: 'EUR', period: '1W', signal })
  void client.currencies({ signal })
  void client.latest({ base: undefined, symbols: undefined, signal: undefined })
})

test('a misspelt or missing parameter does not compile', () => {
  // @ts-expect-error misspelt
  void client.latest({ bases: 'USD' })
  // @ts-expect-error misspelt, beside what makes the call generic
  void client.latest({ symbols: ['EUR'], bases: 'USD' })
  // @ts-expect-error misspelt
  void client.latest({ symbol: ['EUR'] })
  // @ts-expect-error one code is no list
  void client.latest({ symbols: 'EUR' })
  // @ts-expect-error codes are text
  void client.latest({ symbols: [978] })
  // @ts-expect-error misspelt
  void client.convert({ form: 'USD', to: 'EUR' })
  // @ts-expect-error misspelt, beside all that is required
  void client.convert({ from: 'USD', to: 'EUR', amout: 1 })
  // @ts-expect-error the amount is a number
  void client.convert({ from: 'USD', to: 'EUR', amount: '1' })
  // @ts-expect-error from and to are required
  void client.convert({ from: 'USD' })
  // @ts-expect-error there are six periods
  void client.history({ from: 'USD', to: 'EUR', period: '2W' })
  // @ts-expect-error misspelt
  void client.history({ from: 'USD', to: 'EUR', periods: '1W' })
  // @ts-expect-error nothing selects currencies
  void client.currencies({ symbols: ['EUR'] })
})

test('codes are known ones, or any text', () => {
  expectTypeOf<'EUR'>().toExtend<KnownCurrencyCode>()
  expectTypeOf<'eur' | 'HRK' | 'XYZ'>().not.toExtend<KnownCurrencyCode>()
  expectTypeOf<string>().not.toExtend<KnownCurrencyCode>()
  expectTypeOf<string>().toExtend<CurrencyCode>()
  // A union with `string` itself would be one, and no editor would know any code.
  expectTypeOf<CurrencyCode>().not.toEqualTypeOf<string>()
  expectTypeOf<Extract<CurrencyCode, 'EUR'>>().toEqualTypeOf<'EUR'>()
  expectTypeOf<ConversionQuestion['from']>().toEqualTypeOf<CurrencyCode>()
  expectTypeOf<HistoryQuestion['to']>().toEqualTypeOf<CurrencyCode>()
  expectTypeOf<LatestQuestion['base']>().toEqualTypeOf<CurrencyCode | undefined>()
})

test('rates has the symbols that were asked for, in capitals, and no others', async () => {
  const { rates, base } = await client.latest({ base: 'GBP', symbols: ['EUR', 'usd'] })
  expectTypeOf(rates).toEqualTypeOf<{ EUR: number; USD: number }>()
  expectTypeOf(base).toEqualTypeOf<string>()
  // @ts-expect-error not asked for
  void rates.GBP
  const list = ['EUR', 'USD'] as const
  expectTypeOf((await client.latest({ symbols: list })).rates).toEqualTypeOf<{
    EUR: number
    USD: number
  }>()
})

test('a rate may be missing where the code may be withdrawn, or the list shorter than its type', async () => {
  const { rates } = await client.latest({ symbols: ['EUR', 'HRK'] })
  expectTypeOf(rates).toEqualTypeOf<{ EUR: number; HRK: number | undefined }>()
  const some: ('EUR' | 'USD')[] = ['EUR']
  expectTypeOf((await client.latest({ symbols: some })).rates).toEqualTypeOf<{
    EUR: number | undefined
    USD: number | undefined
  }>()
})

test('rates has any code where the symbols are not known to the compiler', async () => {
  const codes: string[] = ['EUR']
  const known: CurrencyCode[] = ['EUR']
  for (const answer of [
    client.latest(),
    client.latest({}),
    client.latest({ base: 'EUR', signal }),
    client.latest({ symbols: [] }),
    client.latest({ symbols: codes }),
    client.latest({ symbols: known }),
    client.latest({ symbols: ['EUR', ...codes] }),
  ]) {
    expectTypeOf(answer).toEqualTypeOf<Promise<LatestRecord>>()
  }
  const question: LatestQuestion = {}
  expectTypeOf(client.latest(question)).resolves.toEqualTypeOf<LatestRecord>()
})

test('nothing that a client gives is any', () => {
  expectTypeOf(client.latest({ symbols: ['EUR'] })).resolves.not.toBeAny()
  expectTypeOf<RatesClientOptions['fetch']>().not.toBeAny()
  expectTypeOf<CurrencyCode>().not.toBeAny()
})
