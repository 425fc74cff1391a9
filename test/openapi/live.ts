import { expect } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { CurrenciesRecord, RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { sharedResponses } from './document.ts'
import type { Operation, Response as Described } from './document.ts'
import { differences, read } from './exchange.ts'
import type { Answered } from './exchange.ts'
import { toSearch } from './questions.ts'
import type { Covered } from './questions.ts'

/** Whatever answers requests. */
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
  return createRatesHandler({
    providers: {
      latest: { ...latest, fetchLatest: down },
      history: { ...history, fetchHistory: down },
    },
    now: clock,
  })
}

/** A request for an operation. `search` has a question mark, or nothing. */
export function requestFor({ path }: Operation, search: string, init: RequestInit = {}): Request {
  return new Request(`http://localhost/api${path}${search}`, init)
}

/** The answer to an operation, which is as the document has it. */
export async function ask(
  operation: Operation,
  search: string,
  from: Asked = handler,
  init: RequestInit = {},
): Promise<Answered> {
  const answered = await read(await from(requestFor(operation, search, init)))
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
  return toSearch(Object.fromEntries(required.map(({ name, example }) => [name, String(example)])))
}

/** The codes that an operation covers, as the service itself tells them. */
export async function coveredCodes({ path }: Operation): Promise<Covered> {
  const response = await handler(new Request('http://localhost/api/v1/currencies'))
  const { currencies }: CurrenciesRecord = JSON.parse(await response.text())
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
