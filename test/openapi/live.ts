import { expect } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { CurrencyList, RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { bodiesOf, faultsOf, sharedResponses } from './document.ts'
import type { Operation, Response as Described } from './document.ts'
import { toSearch } from './requests.ts'
import type { Covered } from './requests.ts'

/** A handler or a client. */
export type Asked = (request: Request) => Promise<Response>

/** The clock of both handlers. */
export const now = (): number => Date.UTC(2026, 10, 20, 18)

/** The market of the first. */
export const { latest, history } = fakeProviders({ now })

const down = (): Promise<never> => Promise.reject(new Error('down'))

/** A handler of the synthetic market. */
export const handler: RatesHandler = createRatesHandler({ providers: { latest, history }, now })

/** A handler that has never had any data, at the instant of `clock`. */
export function coldAt(clock: () => number): RatesHandler {
  const providers = {
    latest: { ...latest, fetchLatest: down },
    history: { ...history, fetchHistory: down },
  }
  return createRatesHandler({ providers, now: clock })
}

/** The answer to a request for an operation. `search` has a question mark, or nothing. */
export async function answerTo(
  { path }: Pick<Operation, 'path'>,
  search: string,
  init: RequestInit = {},
  from: Asked = handler,
) {
  const response = await from(new Request(`http://localhost/api${path}${search}`, init))
  return { status: response.status, headers: response.headers, body: await response.text() }
}

/** The answer to an operation, which is as the document has it. */
export async function ask(
  operation: Operation,
  search: string,
  from: Asked = handler,
  init: RequestInit = {},
): Promise<Answered> {
  const answered = await answerTo(operation, search, init, from)
  expect(differences(operation, answered), search).toEqual([])
  return answered
}

/** The status, and of an error its code; of an unversioned one, the code that its text stands for. */
export function outcomeOf({ status, body }: Answered): string {
  return status === 200 ? '200' : `${status} ${codeOf(JSON.parse(body).error)}`
}

function codeOf(error: string | { code: string }): string {
  if (typeof error === 'object') return error.code
  if (error.startsWith('Missing required parameter: ')) return 'missing_parameter'
  return error.replace(/^Invalid (?:\w+ )?(currency|parameter|amount): .*$/s, 'invalid_$1')
}

/** A query with what is required, as the document shows it. */
export function exampleOf({ parameters }: Operation): string {
  const required = parameters.filter(({ required }) => required)
  return toSearch(Object.fromEntries(required.map(({ name, example = '' }) => [name, example])))
}

/** The codes that an operation covers, as the service itself tells them. */
export async function coveredCodes({ path }: Operation): Promise<Covered> {
  const response = await handler(new Request('http://localhost/api/v1/currencies'))
  const { currencies }: CurrencyList = JSON.parse(await response.text())
  const codesOf = (data: 'latest' | 'history'): string[] => {
    const codes = currencies.filter((currency) => currency[data]).map(({ code }) => code)
    expect(codes.length).toBeGreaterThan(25)
    return codes
  }
  return { now: codesOf(path === '/v1/history' ? 'history' : 'latest'), onDays: codesOf('history') }
}

/** A response that operations of one generation share. */
export function sharedResponse({ path }: Operation, name: string): Described {
  const described = sharedResponses[path.startsWith('/v1/') ? name : `Unversioned${name}`]
  if (!described) throw new Error(`the document has no response ${name}`)
  return described
}

/** A response that no operation has: that to a defect with another `code`, and `more` headers. */
export function otherResponse(
  operation: Operation,
  code: string,
  more: Described['headers'] = {},
): Described {
  const { headers, content = {} } = sharedResponse(operation, 'InternalError')
  const { schema = {} } = content['application/json'] ?? {}
  const error = { type: 'object', properties: { code: { const: code } } }
  const [record, ...others] = schema.allOf ?? []
  expect(others).toHaveLength(record ? 1 : 0)
  const narrowed = record && { allOf: [record, { type: 'object', properties: { error } }] }
  const body = { schema: narrowed ?? schema, examples: {} }
  return { headers: { ...headers, ...more }, content: { 'application/json': body } }
}

/** An answer, and all of its body. */
export type Answered = Awaited<ReturnType<typeof answerTo>>

/** Headers of the connection, of the framing, or described by the content. */
const UNDESCRIBED =
  /^(content-(type|length|encoding)|vary|date|connection|keep-alive|transfer-encoding)$/

/** The differences between an answer and the document, each as a sentence. */
export function differences({ responses }: Operation, answered: Answered): string[] {
  const described = responses[answered.status]
  return described
    ? responseDifferences(described, answered)
    : [`the status ${answered.status} is not documented`]
}

/** The same for one response of the document, whose status is for the caller to check. */
export function responseDifferences(described: Described, answered: Answered): string[] {
  const ofHeaders = headerDifferences(described, answered.headers)
  return [...ofHeaders, ...bodyDifferences(described, answered)]
}

function headerDifferences({ headers: described }: Described, headers: Headers): string[] {
  const names = Object.keys(described).map((name) => name.toLowerCase())
  const unknown = [...headers.keys()].filter((name) => {
    return !UNDESCRIBED.test(name) && !names.includes(name)
  })
  const faults = Object.entries(described).map(([name, { required, schema }]) => {
    const value = headers.get(name)
    if (value === null) return required ? 'is missing' : ''
    return faultsOf(schema, schema.type === 'integer' ? Number(value) : value)
  })
  return [
    ...unknown.map((name) => `the header ${name} is not documented`),
    ...names.map((name, index) => `the header ${name}: ${faults[index]}`),
  ].filter((sentence) => !sentence.endsWith(': '))
}

function bodyDifferences(response: Described, { headers, body }: Answered): string[] {
  if (!response.content) return body === '' ? [] : ['there is a body']
  const type = headers.get('content-type')?.split(';', 1)[0] ?? ''
  const described = bodiesOf(response)[type]
  if (!described) return [`the media type ${type} is not documented`]
  const faults = faultsOf(described.schema, type === 'application/json' ? JSON.parse(body) : body)
  return faults === '' ? [] : [`the body: ${faults}`]
}
