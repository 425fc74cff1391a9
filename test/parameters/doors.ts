// One question through every way to ask it.
import Papa from 'papaparse'
import { expect } from 'vitest'

import { createRatesClient } from '../../src/client/index.ts'
import { fixer } from '../../src/compat/fixer.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'
import { createRates, createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { wholeBody } from '../whole-body.ts'

/** A Friday evening in Frankfurt. */
export const now = (): number => Date.UTC(2026, 10, 20, 18)

const options = { providers: fakeProviders({ now }), now }

export const handler = createRatesHandler(options)
const rates = createRates(options)
const client = createRatesClient({ baseUrl: 'http://localhost/api', fetch: handler, retries: 0 })

const compat = {
  'exchangerate.host': createRatesHandler({ ...options, routes: fixer() }),
  'Open Exchange Rates': createRatesHandler({ ...options, routes: openExchangeRates() }),
  Frankfurter: createRatesHandler({ ...options, routes: frankfurter() }),
}

export type OperationName =
  | 'latest'
  | 'convert'
  | 'history'
  | 'days'
  | 'currencies'
  | 'sources'
  | 'status'
export type Texts = Readonly<Record<string, string>>
export type Values = Readonly<Record<string, unknown>>

/** The error of a door, or its record. */
export type Answer = { error: { code: string; message: string } } | Values

/** Sends a target below `/api/`, and returns the status and the body. */
export async function send(target: string, body?: { type: string; text: string }) {
  const raw = await handler.answer({
    method: body ? 'POST' : 'GET',
    target: `/api/${target}`,
    header: (name) => (name === 'content-type' ? (body?.type ?? null) : null),
    ...(body && {
      readBody: async (onChunk: (chunk: Uint8Array) => void) =>
        onChunk(new TextEncoder().encode(body.text)),
    }),
  })
  return { status: raw.status, text: await wholeBody(raw.body) }
}

/** Percent-encodes every name and value, so that a name stays what it is. */
export function toQuery(texts: Texts): string {
  const pairs = Object.entries(texts).map((pair) => pair.map(encodeURIComponent).join('='))
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

export async function askQuery(name: OperationName, texts: Texts): Promise<Answer> {
  const { status, text } = await send(`v1/${name}${toQuery(texts)}`)
  if (name === 'days' && status === 200)
    return {
      days: text
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line)),
    }
  return text.startsWith('{') ? JSON.parse(text) : { csv: text }
}

function isIterable(result: unknown): result is AsyncIterable<unknown> {
  return Symbol.asyncIterator in Object(result)
}

async function collect(result: AsyncIterable<unknown>): Promise<{ days: unknown[] }> {
  const days: unknown[] = []
  for await (const day of result) days.push(day)
  return { days }
}

async function call(operations: object, name: OperationName, params: unknown): Promise<Answer> {
  try {
    // As JSON, which has no undefined and no -0.
    const operation: (params: unknown) => unknown = Reflect.get(operations, name)
    const result = operation(params)
    const answer = isIterable(result) ? await collect(result) : await result
    return JSON.parse(JSON.stringify(answer))
  } catch (thrown) {
    const { code, message } = Object(thrown)
    return { error: { code, message } }
  }
}

export const askFunction = (name: OperationName, values: Values): Promise<Answer> =>
  call(rates, name, values)

export const askClient = (name: OperationName, values: Values): Promise<Answer> =>
  call(client, name, values)

/** Sends rows as JSON in one body. */
export async function askRows(rows: readonly Values[]): Promise<Answer[]> {
  const { text } = await send('v1/convert', {
    type: 'application/json',
    text: JSON.stringify(rows),
  })
  return JSON.parse(text)
}

/** Sends the row between two others, whose results must not change. */
export async function askRow(row: Values): Promise<Answer> {
  const other = { from: 'USD', to: 'EUR' }
  const [first, answer, last] = await askRows([other, row, other])
  expect(first).toEqual(last)
  expect(first).toHaveProperty('rate')
  return answer ?? {}
}

export async function askRowFunctions(rows: readonly Values[]): Promise<Answer[]> {
  return JSON.parse(JSON.stringify(await Reflect.apply(rates.convertMany, undefined, [rows])))
}

export async function askRowFunction(row: Values): Promise<Answer> {
  const [answer] = await askRowFunctions([row])
  return answer ?? {}
}

/** Sends the cells as CSV. `whole` marks the error of the whole body. */
export async function askCells(cells: Texts, header = Object.keys(cells)): Promise<Answer> {
  const text = Papa.unparse([header, Object.values(cells)], { quotes: true })
  const sent = await send('v1/convert?format=csv', { type: 'text/csv', text })
  if (sent.status !== 200) return { ...JSON.parse(sent.text), whole: true }
  const [line] = Papa.parse<Texts>(sent.text.trim(), { header: true }).data
  const { error: code, message, ...fields } = line ?? {}
  return code ? { error: { code, message: message ?? '' } } : fields
}

/** Returns the number of each service that can be asked for this conversion; undefined for an error. */
export async function askCompat({ from, to, amount = '1', date, ...others }: Texts) {
  if (Object.keys(others).length > 0 || !from || !to || to.includes(',')) return {}
  const ask = async (service: keyof typeof compat, target: string) => {
    const response = await compat[service](new Request(`http://localhost${target}`))
    return response.json()
  }
  const query = toQuery({ from, to, amount, ...(date !== undefined && { date }) })
  const { result } = await ask('exchangerate.host', `/convert${query}`)
  const found: Record<string, unknown> = { 'exchangerate.host': result }
  if (date === undefined) {
    const { response } = await ask('Open Exchange Rates', `/api/convert/${amount}/${from}/${to}`)
    found['Open Exchange Rates'] = response
  } else if (from.toUpperCase() !== to.toUpperCase() && Number(amount) !== 0) {
    const table = await ask('Frankfurter', `/v1/${date}${toQuery({ from, to, amount })}`)
    found['Frankfurter'] = table.rates?.[to.toUpperCase()]
  }
  return found
}
