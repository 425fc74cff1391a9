import type { Conversion, CurrencyList, LatestRates, RateHistory } from 'ratesmith/client'

/** An API operation that the page uses. */
export type Operation = 'latest' | 'convert' | 'history'

/** A request to the API. */
export interface ApiRequest {
  operation: Operation
  /** Query parameters; an amount is as typed. */
  parameters: Record<string, string>
}

/** Format of a copied request. */
export type Form = 'curl' | 'fetch' | 'client'

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

/** Responses of the API, by operation. */
export interface Responses {
  latest: LatestRates
  convert: Conversion
  history: RateHistory
  currencies: CurrencyList
}

/**
 * Fetches `path` of the API.
 *
 * @throws {Failure} if the request fails
 * @throws {DOMException} `AbortError` if `signal` aborts
 */
export async function request<K extends keyof Responses>(
  path: string,
  signal: AbortSignal | null = null,
): Promise<Responses[K]> {
  const failed =
    (message: string) =>
    (cause: unknown): never => {
      throw signal?.aborted ? cause : new Failure(message)
    }
  const response = await fetch(path, { signal }).catch(failed('The server cannot be reached'))
  if (!response.ok) throw await failureOf(response)
  return response.json().catch(failed('The response is truncated or not from the API'))
}

/** Optional details of a failure. */
export interface FailureDetails {
  /** Error code of the API; absent for other failures. */
  code?: string
  /** Value of `Retry-After`, in seconds. */
  retryAfter?: number
  /** Whether the same request will always fail (default false). */
  isFinal?: boolean
}

/** A failed request, with a message for the user. */
export class Failure extends Error {
  readonly code: string | undefined
  readonly retryAfter: number | undefined
  readonly isFinal: boolean

  constructor(message: string, { code, retryAfter, isFinal = false }: FailureDetails = {}) {
    super(message)
    this.code = code
    this.retryAfter = retryAfter
    this.isFinal = isFinal
  }
}

/** Reads the failure from an error response: the error of the API, or the status of any other response. */
async function failureOf(response: Response): Promise<Failure> {
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  const waiting = retryAfter > 0 ? { retryAfter } : {}
  // A proxy in front of the API may return an error page.
  const { error } = Object(await response.json().catch(() => undefined))
  const { code, message } = Object(error)
  return typeof code === 'string' && typeof message === 'string'
    ? new Failure(message, { code, isFinal: response.status < 500, ...waiting })
    : new Failure(`The server returned an unknown error with status ${response.status}`, waiting)
}
