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
  ConversionAnswer,
  ConversionQuestion,
  ConversionRecord,
  ConversionsQuestion,
  ConversionsRecord,
  ConvertedAmount,
  CurrenciesRecord,
  DatedLatestQuestion,
  DatedLatestRecord,
  HistoryQuestion,
  HistoryRangeQuestion,
  HistoryRangeRecord,
  HistoryRecord,
  LatestQuestion,
  LatestRecord,
  RatesOperations,
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
  const pair = { from: 'USD', to: 'EUR' } as const
  expectTypeOf(client.convert(pair)).resolves.toEqualTypeOf<ConversionRecord>()
  expectTypeOf(client.history(pair)).resolves.toEqualTypeOf<HistoryRecord>()
  expectTypeOf(client.currencies).returns.resolves.toEqualTypeOf<CurrenciesRecord>()
  expectTypeOf(client.latest()).resolves.toEqualTypeOf<LatestRecord>()
})

test('the questions are those of the handler, and may be ended', () => {
  expectTypeOf<LatestQuestion>().toExtend<NonNullable<Parameters<RatesClient['latest']>[0]>>()
  expectTypeOf<HistoryQuestion>().toExtend<Parameters<RatesClient['history']>[0]>()
  const conversion: ConversionQuestion = { from: 'USD', to: 'EUR' }
  expectTypeOf(client.convert(conversion)).resolves.toEqualTypeOf<ConversionRecord>()
  const ask = (question: ConversionsQuestion) => client.convert(question)
  expectTypeOf(ask).returns.resolves.toEqualTypeOf<ConversionAnswer<ConversionsQuestion>>()
  const dated: DatedLatestQuestion = { date: '2020-02-28' }
  expectTypeOf(client.latest(dated)).resolves.toEqualTypeOf<DatedLatestRecord>()
  const range: HistoryRangeQuestion = { from: 'USD', to: 'EUR', start: '2020-02-28' }
  expectTypeOf(client.history(range)).resolves.toEqualTypeOf<HistoryRangeRecord>()
  void client.latest({ signal })
  void client.convert({ from: 'USD', to: 'EUR', amount: 100, signal })
  void client.history({ from: 'USD', to: 'EUR', period: '1W', signal })
  void client.currencies({ signal })
  void client.latest({ base: undefined, symbols: undefined, signal: undefined })
})

test('a client does for what asks for the operations of a handler', () => {
  expectTypeOf<RatesClient>().toExtend<RatesOperations>()
})

test('a question decides which record answers it', () => {
  const from = 'USD'
  const to = 'EUR'
  const date: string = '2020-02-28'
  const given: { date?: string; reverse?: boolean; signal: AbortSignal } = { signal }
  expectTypeOf(client.convert({ from, to, signal })).resolves.toEqualTypeOf<ConversionRecord>()
  expectTypeOf(client.convert({ from, to, date, reverse: true, signal })).resolves.toEqualTypeOf<
    ConversionRecord & { date: string } & { reverse: true }
  >()
  expectTypeOf(client.convert({ from, to, ...given })).resolves.toEqualTypeOf<
    ConversionRecord & { date?: string } & { reverse?: true }
  >()
  expectTypeOf(client.convert({ from, to: ['EUR', 'xyz'], signal })).resolves.toEqualTypeOf<
    ConversionsRecord<{ EUR: ConvertedAmount; XYZ: ConvertedAmount }>
  >()
  const codes: string[] = []
  expectTypeOf(client.convert({ from, to: codes, date })).resolves.toEqualTypeOf<
    ConversionsRecord & { date: string }
  >()
  const range = { from, to, start: date } as const
  expectTypeOf(client.history({ ...range, signal })).resolves.toEqualTypeOf<HistoryRangeRecord>()
  const months = client.history({ ...range, end: date, interval: 'month' })
  expectTypeOf(months).resolves.toEqualTypeOf<HistoryRangeRecord>()
  const weeks = client.history({ from, to, period: '1Y', interval: 'week' })
  expectTypeOf(weeks).resolves.toEqualTypeOf<HistoryRecord>()
  expectTypeOf(client.latest({ date, signal })).resolves.toEqualTypeOf<DatedLatestRecord>()
  expectTypeOf(client.latest({ date: undefined })).resolves.toEqualTypeOf<LatestRecord>()
})

test('the rates of a day have the symbols that were asked for, as the latest do', async () => {
  const date = '2020-02-28'
  const { rates, date: day } = await client.latest({ date, symbols: ['EUR', 'hrk'] })
  expectTypeOf(rates).toEqualTypeOf<{ EUR: number; HRK: number | undefined }>()
  expectTypeOf(day).toEqualTypeOf<string>()
  expectTypeOf(client.latest({ date, symbols: [] })).resolves.toEqualTypeOf<DatedLatestRecord>()
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
  // @ts-expect-error misspelt, beside several currencies
  void client.convert({ from: 'USD', to: ['EUR'], signal, reversed: true })
  // @ts-expect-error codes are text
  void client.convert({ from: 'USD', to: [978] })
  // @ts-expect-error a day is a text
  void client.convert({ from: 'USD', to: 'EUR', date: new Date(0) })
  // @ts-expect-error a signal is one
  void client.convert({ from: 'USD', to: 'EUR', signal: 'soon' })
  // @ts-expect-error misspelt, beside a day
  void client.latest({ date: '2020-02-28', symbol: ['EUR'] })
  // @ts-expect-error either a period or days
  void client.history({ from: 'USD', to: 'EUR', period: '1Y', start: '2020-02-28' })
  // @ts-expect-error an end has a start
  void client.history({ from: 'USD', to: 'EUR', end: '2020-02-28' })
  // @ts-expect-error there are three intervals
  void client.history({ from: 'USD', to: 'EUR', interval: 'year' })
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
  expectTypeOf(client.convert({ from: 'USD', to: ['EUR'] })).resolves.not.toBeAny()
  expectTypeOf<RatesClientOptions['fetch']>().not.toBeAny()
  expectTypeOf<CurrencyCode>().not.toBeAny()
})
