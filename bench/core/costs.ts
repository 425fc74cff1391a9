import { createRatesHandler } from 'ratesmith'
import type { RatesHandler, RawResponse, StreamedBody } from 'ratesmith'
import { fixer } from 'ratesmith/compat/fixer'
import { frankfurter } from 'ratesmith/compat/frankfurter'
import { createQuotes } from 'ratesmith/quotes'
import { fakeProviders } from 'ratesmith/testing'

import { median } from '../figures.ts'
import { cpuTimeOf, longestBlockOf } from './comparison.ts'
import { NOW, request } from './responses.ts'

/** The most CPU time of a request, in ms, for each unit that it takes from the limits of its client. */
export const MAX_MS_PER_UNIT = 20

/** The most CPU time of one turn of the event loop while a request runs, in ms. */
export const MAX_MS_PER_TURN = 10

/** Requests whose longest turns are measured; their median counts, because some have a garbage collection. */
const TURNS = 9

/** CPU time and cost of the worst requests of a kind. */
export interface RequestCost {
  name: string
  milliseconds: number
  cost: number
  /** CPU time of the longest turn of the event loop, in ms. */
  turn: number
}

const CODES =
  'AUD,BRL,CAD,CHF,CNY,CZK,DKK,GBP,HKD,HUF,IDR,ILS,INR,JPY,KRW,MXN,MYR,NOK,NZD,PHP'.split(',')

const SINCE_1999 = 'start=1999-01-04'

const TABLE = `from=EUR&to=${CODES.join()}&${SINCE_1999}`

type Sent = Parameters<RatesHandler['answer']>[0]

/** The most expensive legal requests that are known. */
const REQUESTS: Readonly<Record<string, (quote: string) => Sent>> = {
  'history of 20 codes, JSON': () => request(`/api/v1/history?${TABLE}`),
  'history of 20 codes, `If-None-Match: *`': () => ({
    ...request(`/api/v1/history?${TABLE}`),
    header: (name) => (name === 'if-none-match' ? '*' : undefined),
  }),
  'history of 20 codes, long CSV, filled': () =>
    request(`/api/v1/history?${TABLE}&format=csv&fill=previous`),
  'history of 20 codes, wide CSV, filled': () =>
    request(`/api/v1/history?${TABLE}&format=csv&layout=wide&fill=previous`),
  'history of one code, filled': () =>
    request(`/api/v1/history?from=USD&to=JPY&${SINCE_1999}&fill=previous`),
  'history of five years': () => request('/api/v1/history?from=USD&to=JPY&period=5Y&fill=previous'),
  'every day since 1999': () => request(`/api/v1/days?${SINCE_1999}`),
  'every day since 1999, CSV': () => request(`/api/v1/days?${SINCE_1999}&format=csv`),
  'latest rates of a day': () => request('/api/v1/latest?date=2015-06-15'),
  'latest rates with change': () => request('/api/v1/latest?change=1Y'),
  'a conversion to 20 codes': () => request(`/api/v1/convert?from=USD&to=${CODES.join()}`),
  'a conversion with all sources': () => request('/api/v1/convert?from=USD&to=EUR&expand=sources'),
  'a query of 15 kB': () => request(`/api/v1/latest?${'&'.repeat(15_000)}`),
  '10,000 rows': () => post({ from: 'USD', to: 'EUR' }, 10_000),
  '10,000 rows with an unknown name': () => post({ from: 'USD', to: 'EUR', amout: 1 }, 10_000),
  '10,000 rows with dates': () => post({ from: 'USD', to: 'EUR', date: '2015-06-15' }, 10_000),
  '900 rows to 100 codes': () => post({ from: 'USD', to: codes(100) }, 900),
  'a quote with an invalid signature': (quote) =>
    request(`/api/v1/convert?quote=${quote.padStart(1_024, 'A')}`),
  '500 rows with quotes': (quote) => post({ quote }, 500),
  '500 rows with invalid signatures': () => post({ quote: `a.b.${'A'.repeat(43)}` }, 500),
  'a body of commas': () => send('text/csv', ','.repeat(1_048_000)),
  'a body of brackets': () => send('application/json', '['.repeat(1_048_000)),
  'a body of short strings': () => send('application/json', `[${'"a",'.repeat(262_000)}1]`),
  'a range of Frankfurter with an amount': () =>
    request('/v1/1999-01-04..?base=USD&amount=1234.56'),
  'a range of fixer': () => request('/fluctuation?start_date=1999-01-04&end_date=2026-11-20'),
}

function isInParts(body: RawResponse['body']): body is StreamedBody {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

function codes(count: number): string[] {
  return Array.from({ length: count }, (_, index) => CODES[index % CODES.length] ?? '')
}

export function post(row: object, count: number): Sent {
  return send('application/json', JSON.stringify(Array.from({ length: count }, () => row)))
}

function send(type: string, text: string): Sent {
  const bytes = new TextEncoder().encode(text)
  return {
    method: 'POST',
    target: '/api/v1/convert',
    header: (name) => (name === 'content-type' ? type : undefined),
    readBody: async (onChunk) => onChunk(bytes),
  }
}

/** Measures each request on a handler without a response cache, and what it takes from the limits of its client. */
export async function requestCosts(time: number): Promise<RequestCost[]> {
  let cost = 0
  const admission = {
    refusal: undefined,
    finish(response: Awaited<ReturnType<RatesHandler['answer']>>, taken: number) {
      cost = taken
      return response
    },
  }
  const now = (): number => NOW
  const secrets = [new Uint8Array(32)]
  const handler = createRatesHandler({
    providers: fakeProviders(),
    now,
    responseCacheBytes: 0,
    routes: [frankfurter(), fixer()],
    quotes: { secrets },
    access: { createGuard: () => ({ admit: () => admission, close() {} }) },
  })
  const costs: RequestCost[] = []
  const { create } = createQuotes({ rates: handler.rates, secrets, now })
  const { quote } = await create({ from: 'USD', to: CODES.slice(0, 10) })
  for (const [name, toSent] of Object.entries(REQUESTS)) {
    const sent = toSent(quote)
    const respond = async (): Promise<void> => {
      const { body } = await handler.answer(sent)
      if (isInParts(body)) for await (const part of body) if (part.length === 0) break
    }
    await respond()
    const microseconds = await cpuTimeOf(respond, time)
    const turns: number[] = []
    while (turns.length < TURNS) turns.push(await longestBlockOf(respond))
    costs.push({ name, milliseconds: microseconds / 1_000, cost, turn: median(turns) / 1_000 })
  }
  return costs
}
