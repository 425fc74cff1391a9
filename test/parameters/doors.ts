// One question through every way to ask it.
import Papa from 'papaparse'

import { ROW } from '../../src/api/parameters.ts'
import { createRatesClient } from '../../src/client/index.ts'
import { exchangerateHost } from '../../src/compat/exchangerate-host.ts'
import { frankfurter } from '../../src/compat/frankfurter.ts'
import { openExchangeRates } from '../../src/compat/open-exchange-rates.ts'
import { createRates, createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'

/** A Friday evening in Frankfurt. */
export const now = (): number => Date.UTC(2026, 10, 20, 18)

const options = { providers: fakeProviders({ now }), now }

export const handler = createRatesHandler(options)
const rates = createRates(options)
const client = createRatesClient({ baseUrl: 'http://localhost/api', fetch: handler, retries: 0 })

const compat = {
  'exchangerate.host': exchangerateHost(handler, { now }),
  'Open Exchange Rates': openExchangeRates(handler, { now }),
  Frankfurter: frankfurter(handler, { now }),
}

export type OperationName = 'latest' | 'convert' | 'history' | 'currencies' | 'sources' | 'status'
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
  return { status: raw.status, text: await new Response(raw.body).text() }
}

/** Percent-encodes every name and value, so that a name stays what it is. */
export function toQuery(texts: Texts): string {
  const pairs = Object.entries(texts).map((pair) => pair.map(encodeURIComponent).join('='))
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

export async function askQuery(name: OperationName, texts: Texts): Promise<Answer> {
  const { text } = await send(`v1/${name}${toQuery(texts)}`)
  return text.startsWith('{') ? JSON.parse(text) : { csv: text }
}

async function call(operations: object, name: OperationName, params: unknown): Promise<Answer> {
  try {
    // As JSON, which has no undefined and no -0.
    return JSON.parse(JSON.stringify(await Reflect.get(operations, name)(params)))
  } catch (thrown) {
    const { code, message } = Object(thrown)
    return { error: { code, message } }
  }
}

export const askFunction = (name: OperationName, values: Values): Promise<Answer> =>
  call(rates, name, values)

export const askClient = (name: OperationName, values: Values): Promise<Answer> =>
  call(client, name, values)

/** Sends the row as JSON between two others, whose results must not change. */
export async function askRow(row: Values): Promise<Answer> {
  const other = { from: 'USD', to: 'EUR' }
  const text = JSON.stringify([other, row, other])
  const sent = await send('v1/convert', { type: 'application/json', text })
  const [first, answer, last] = JSON.parse(sent.text)
  if (first.rate === undefined || first.rate !== last.rate) throw new Error('other rows changed')
  return answer
}

export async function askRowFunction(row: Values): Promise<Answer> {
  const [answer] = await rates.convertMany([Object(row)])
  return JSON.parse(JSON.stringify(answer))
}

/** Sends the cells as CSV. The numbers of the record are read; `whole` is the error of the whole body. */
export async function askCells(cells: Texts, header = Object.keys(cells)): Promise<Answer> {
  const text = Papa.unparse([header, Object.values(cells)], { quotes: true })
  const sent = await send('v1/convert?format=csv', { type: 'text/csv', text })
  if (sent.status !== 200) return { ...JSON.parse(sent.text), whole: true }
  const [line] = Papa.parse<Texts>(sent.text.trim(), { header: true }).data
  const { error: code, message, ...fields } = line ?? {}
  return code ? { error: { code, message: message ?? '' } } : fields
}

/** The services that can be asked for this conversion, with the number of each, or undefined for an error. */
export async function askCompat({ from, to, amount, date, ...others }: Values) {
  const [text, pair] = [String(amount ?? 1), { from: String(from), to: String(to) }]
  if (Object.keys(others).length > 0 || Array.isArray(to)) return {}
  const ask = async (service: keyof typeof compat, target: string) => {
    const response = await compat[service](new Request(`http://localhost${target}`))
    return response.json()
  }
  const asked = { ...pair, amount: text, ...(date !== undefined && { date: String(date) }) }
  const host = await ask('exchangerate.host', `/convert${toQuery(asked)}`)
  const found: Record<string, unknown> = { 'exchangerate.host': host.result }
  if (date === undefined) {
    const path = [text, pair.from, pair.to].join('/')
    found['Open Exchange Rates'] = (
      await ask('Open Exchange Rates', `/api/convert/${path}`)
    ).response
  } else if (pair.from.toUpperCase() !== pair.to.toUpperCase() && Number(text) !== 0) {
    const query = toQuery({ base: pair.from, symbols: pair.to, amount: text })
    found['Frankfurter'] = Object.values(
      (await ask('Frankfurter', `/v1/${date}${query}`)).rates ?? {},
    )[0]
  }
  return found
}

/** Returns whether cells can have all parameters of a row, which has one target. */
export function fitsCells(row: Values): boolean {
  return !Array.isArray(row['to']) && Object.keys(row).every((name) => name in ROW.parameters)
}
