import type { Conversion, LatestRates, RateHistory, RatesClient } from 'ratesmith/client'

/** Responses to the operations of the panels. */
export interface Responses {
  latest: LatestRates
  convert: Conversion
  history: RateHistory
}

/** The API of the page. */
export interface Api {
  /** Base path. */
  base: string
  client: RatesClient
}

/** A request to the API. */
export interface ApiRequest<Operation extends keyof Responses = keyof Responses> {
  operation: Operation
  /** Query parameters; an amount is as typed. */
  parameters: Record<string, string>
}

/** Format of a copied request. */
export type Form = 'curl' | 'fetch' | 'client'

/**
 * Sends a request with `client`, a `RatesClient` without its types: the API reports invalid parameters.
 *
 * @throws {RatesError} if the request fails
 * @throws {DOMException} `AbortError` if `signal` aborts
 */
export async function send<Operation extends keyof Responses>(
  client: object,
  { operation, parameters }: ApiRequest<Operation>,
  signal: AbortSignal,
): Promise<Responses[Operation]> {
  const call: (params: object) => Promise<Responses[Operation]> = Reflect.get(client, operation)
  return call({ ...parameters, signal })
}

/** Returns the path and query of a request to the API at `base`, a base path or URL. */
export function pathOf(base: string, { operation, parameters }: ApiRequest): string {
  return `${base}/v1/${operation}?${new URLSearchParams(parameters).toString()}`
}

/** Returns a shell command or a program that sends a request to the API at `baseUrl`. */
export function snippetOf(form: Form, baseUrl: string, apiRequest: ApiRequest): string {
  // A single quote would end the string in a shell and in JavaScript.
  const [quoted = '', quotedBase = ''] = [pathOf(baseUrl, apiRequest), baseUrl].map(
    (url) => `'${url.replaceAll("'", '%27')}'`,
  )
  if (form === 'curl') return `curl ${quoted}`
  if (form === 'fetch') return `await (await fetch(${quoted})).json()`
  return [
    "import { createRatesClient } from 'ratesmith/client'",
    '',
    `const rates = createRatesClient({ baseUrl: ${quotedBase} })`,
    `await rates.${apiRequest.operation}({ ${argumentsOf(apiRequest)} })`,
  ].join('\n')
}

function argumentsOf({ parameters }: ApiRequest): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}: ${name === 'amount' ? amountOf(value) : textOf(value)}`)
    .join(', ')
}

function amountOf(typed: string): string {
  const amount = Number(typed)
  return typed.trim() !== '' && Number.isFinite(amount) ? String(amount) : textOf(typed)
}

function textOf(value: string): string {
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
