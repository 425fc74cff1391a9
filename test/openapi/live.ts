import { expect } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { CurrencyList, RatesHandler, RatesHandlerOptions } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { QUOTES, bodiesOf, faultsOf, sharedResponses } from './document.ts'
import type { Operation, Response as Described } from './document.ts'
import { RANGES, toSearch } from './requests.ts'
import type { Covered } from './requests.ts'

type Handler = (request: Request) => Promise<Response>

export const now = (): number => Date.UTC(2026, 10, 20, 18)

export const { latest, history } = fakeProviders({ now })

const down = (): Promise<never> => Promise.reject(new Error('down'))

export const handler: RatesHandler = createRatesHandler({
  providers: { latest, history },
  now,
  quotes: QUOTES,
})

export function coldOptions(clock: () => number = now): RatesHandlerOptions {
  const dead = {
    latest: { ...latest, fetchLatest: down },
    history: { ...history, fetchHistory: down },
  }
  return { providers: dead, now: clock, quotes: QUOTES }
}

/** Sends a request. `search` begins with a question mark, or is empty. */
export async function send(
  { path }: Pick<Operation, 'path'>,
  search: string,
  init: RequestInit = {},
  from: Handler = handler,
) {
  const response = await from(new Request(`http://localhost/api${path}${search}`, init))
  return { status: response.status, headers: response.headers, body: await response.text() }
}

/** Sends a request, and expects a response that matches the document. */
export async function request(
  operation: Operation,
  search: string,
  from: Handler = handler,
  init: RequestInit = {},
): Promise<ReceivedResponse> {
  const received = await send(operation, search, init, from)
  expect(differences(operation, received), search).toEqual([])
  return received
}

/** Returns the status, followed by the code of an error; the code of an unversioned error follows from its text. */
export function outcomeOf({ status, body }: Pick<ReceivedResponse, 'status' | 'body'>): string {
  return status === 200 ? '200' : `${status} ${codeOf(JSON.parse(body).error)}`
}

function codeOf(error: string | { code: string }): string {
  if (typeof error === 'object') return error.code
  if (error.startsWith('Missing required parameter: ')) return 'missing_parameter'
  if (error.startsWith('The exchange-rate provider is unavailable')) return 'provider_unavailable'
  return error.replace(/^Invalid (?:\w+ )?(currency|parameter|amount): .*$/s, 'invalid_$1')
}

export function exampleOf({ parameters }: Operation): string {
  const required = parameters.filter(({ required }) => required)
  return toSearch(Object.fromEntries(required.map(({ name, example = '' }) => [name, example])))
}

/** Returns the codes that an operation covers, according to `/v1/currencies`. */
export async function coveredCodes({ path }: Operation): Promise<Covered> {
  const response = await handler(new Request('http://localhost/api/v1/currencies'))
  const { currencies }: CurrencyList = JSON.parse(await response.text())
  const codesOf = (data: 'latest' | 'history'): string[] => {
    const codes = currencies.filter((currency) => currency[data]).map(({ code }) => code)
    expect(codes.length).toBeGreaterThan(25)
    return codes
  }
  return { now: codesOf(RANGES.has(path) ? 'history' : 'latest'), onDays: codesOf('history') }
}

export function sharedResponse({ path }: Operation, name: string): Described {
  const described = sharedResponses[path.startsWith('/v1') ? name : `Unversioned${name}`]
  if (!described) throw new Error(`the document has no response ${name}`)
  return described
}

/** Returns a response that no operation lists: that of an internal error with another `code`, and `more` headers. */
export function otherResponse(operation: Operation, code: string, more: Described['headers'] = {}) {
  const { headers, content = {} } = sharedResponse(operation, 'InternalError')
  const { schema = {} } = content['application/json'] ?? {}
  const error = { type: 'object', properties: { code: { const: code } } }
  const [record, ...others] = schema.allOf ?? []
  expect(others).toHaveLength(record ? 1 : 0)
  const narrowed = record && { allOf: [record, { type: 'object', properties: { error } }] }
  const body = { schema: narrowed ?? schema, examples: {} }
  return { headers: { ...headers, ...more }, content: { 'application/json': body } }
}

export type ReceivedResponse = Awaited<ReturnType<typeof send>>

/** Headers of the connection, of the framing, or described by `content`. */
const UNDESCRIBED =
  /^(content-(type|length|encoding)|vary|date|connection|keep-alive|transfer-encoding)$/

/** Returns the differences between a response and the document, one sentence each; `validate` is of that document. */
export function differences(
  { responses }: Operation,
  received: ReceivedResponse,
  validate = faultsOf,
): string[] {
  const described = responses[received.status]
  if (!described) return [`the status ${received.status} is not documented`]
  return responseDifferences(described, received, validate)
}

/** Returns the differences to one response of the document, without a check of the status. */
export function responseDifferences(
  described: Described,
  received: ReceivedResponse,
  validate = faultsOf,
): string[] {
  const ofHeaders = headerDifferences(described, received.headers, validate)
  return [...ofHeaders, ...bodyDifferences(described, received, validate)]
}

function headerDifferences(
  { headers: described }: Described,
  headers: Headers,
  validate: typeof faultsOf,
): string[] {
  const names = Object.keys(described).map((name) => name.toLowerCase())
  const others = [...headers.keys()].filter((name) => !names.includes(name))
  const unknown = others.filter((name) => !UNDESCRIBED.test(name))
  const faults = Object.entries(described).map(([name, { required, schema }]) => {
    const value = headers.get(name)
    if (value === null) return required ? 'is missing' : ''
    return validate(schema, schema.type === 'integer' ? Number(value) : value)
  })
  return [
    ...unknown.map((name) => `the header ${name} is not documented`),
    ...names.map((name, index) => `the header ${name}: ${faults[index]}`),
  ].filter((sentence) => !sentence.endsWith(': '))
}

function bodyDifferences(
  response: Described,
  { headers, body }: ReceivedResponse,
  validate: typeof faultsOf,
): string[] {
  if (!response.content) return body === '' ? [] : ['there is a body']
  const type = headers.get('content-type')?.split(';', 1)[0] ?? ''
  const described = bodiesOf(response)[type]
  if (!described) return [`the media type ${type} is not documented`]
  const faults = validate(described.schema, type === 'application/json' ? JSON.parse(body) : body)
  return faults === '' ? [] : [`the body: ${faults}`]
}
