import Papa from 'papaparse'
import { expect } from 'vitest'

import { createRatesClient } from '../../src/client/index.ts'
import { createRates, createRatesHandler } from '../../src/index.ts'
import type { RatesHandlerOptions } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { wholeBody } from '../whole-body.ts'

export const now = (): number => Date.UTC(2026, 10, 20, 18)

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

/** Percent-encodes every name and value, so that a name stays what it is. */
export function toQuery(texts: Texts): string {
  const pairs = Object.entries(texts).map((pair) => pair.map(encodeURIComponent).join('='))
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

export function messageOf(answer: Answer): string {
  return String(Object(answer)['error']?.message ?? 'answered')
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
    const operation: (params: unknown) => unknown = Reflect.get(operations, name)
    const result = operation(params)
    const answer = isIterable(result) ? await collect(result) : await result
    // As JSON, which has no undefined and no -0.
    return JSON.parse(JSON.stringify(answer))
  } catch (thrown) {
    const { code, message } = Object(thrown)
    return { error: { code, message } }
  }
}

/** Opens a handler, functions and a client over the same rates (default: the synthetic market). */
export function openDoors(
  options: RatesHandlerOptions = { providers: fakeProviders({ now }), now },
) {
  const handler = createRatesHandler(options)
  const { providers, now: clock } = options
  const rates = createRates({ providers, now: clock })
  const client = createRatesClient({ baseUrl: 'http://localhost/api', fetch: handler, retries: 0 })

  async function send(target: string, body?: { type: string; text: string }) {
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

  async function askQuery(name: OperationName, texts: Texts): Promise<Answer> {
    const { status, text } = await send(`v1/${name}${toQuery(texts)}`)
    if (name === 'days' && status === 200) {
      const lines = text.split('\n').slice(0, -1)
      return { days: lines.map((line) => JSON.parse(line)) }
    }
    return text.startsWith('{') ? JSON.parse(text) : { csv: text }
  }

  async function askRows(rows: readonly Values[]): Promise<Answer[]> {
    const sent = { type: 'application/json', text: JSON.stringify(rows) }
    return JSON.parse((await send('v1/convert', sent)).text)
  }

  async function askRowFunctions(rows: readonly Values[]): Promise<Answer[]> {
    return JSON.parse(JSON.stringify(await Reflect.apply(rates.convertMany, undefined, [rows])))
  }

  return {
    handler,
    send,
    askQuery,
    askFunction: (name: OperationName, values: Values) => call(rates, name, values),
    askClient: (name: OperationName, values: Values) => call(client, name, values),
    askRows,
    askRowFunctions,
    /** Sends the row between two others, whose results must not change. */
    async askRow(row: Values): Promise<Answer> {
      const other = { from: 'USD', to: 'EUR' }
      const [first, answer, last] = await askRows([other, row, other])
      expect(first).toEqual(last)
      return answer ?? {}
    },
    askRowFunction: async (row: Values): Promise<Answer> => (await askRowFunctions([row]))[0] ?? {},
    /** Sends the cells as CSV. `whole` marks the error of the whole body. */
    async askCells(cells: Texts): Promise<Answer> {
      const text = Papa.unparse([Object.keys(cells), Object.values(cells)], { quotes: true })
      const sent = await send('v1/convert?format=csv', { type: 'text/csv', text })
      if (sent.status !== 200) return { ...JSON.parse(sent.text), whole: true }
      const [line] = Papa.parse<Texts>(sent.text.trim(), { header: true }).data
      const { error: code, message, ...fields } = line ?? {}
      return code ? { error: { code, message: message ?? '' } } : fields
    },
  }
}
