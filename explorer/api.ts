import type {
  Conversion,
  CurrencyCoverage,
  HistoryList,
  HistoryRange,
  HistoryRangeList,
  LatestRates,
  RateHistory,
  RatesClient,
} from 'ratesmith/client'

import type { Exchange } from './exchange.ts'

/** Responses to the operations of the panels. */
export interface Responses {
  latest: LatestRates
  convert: Conversion
  history: History | HistoryList | HistoryRangeList
}

/** The history of a pair. */
export type History = RateHistory | HistoryRange

/** Returns the histories in a response, in the order of the request. */
export function historiesOf(response: Responses['history']): History[] {
  return 'series' in response ? Object.values<History>(response.series) : [response]
}

/** The API of the page. */
export interface Api {
  /** Base path. */
  base: string
  /** Returns the client with the current key; it calls `observe` with every response. */
  client(observe?: (exchange: Exchange) => void): RatesClient
  /** Returns the header with the current key, or none. */
  keyHeader(): Record<string, string>
  /** Returns whether requests are sent with a key. */
  hasKey(): boolean
  /** Called when a request is refused, by a missing or wrong key or by a limit. */
  refused(): void
}

/** A request to the API. */
export interface ApiRequest<Operation extends keyof Responses = keyof Responses> {
  operation: Operation
  /** Query parameters; an amount is as typed. */
  parameters: Record<string, string>
}

/** Format of a copied request. */
export type Form = 'curl' | 'fetch' | 'client' | 'python' | 'cli' | 'url'

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
  const { to } = parameters
  const isList = operation === 'history' && to?.includes(',')
  return call({ ...parameters, ...(isList && { to: to?.split(',') }), signal })
}

/** Returns the path and query of a request to the API at `base`, a base path or URL. */
export function pathOf(base: string, { operation, parameters }: ApiRequest): string {
  const query = new URLSearchParams(parameters).toString()
  return `${base}/v1/${operation}?${query.replaceAll('%2C', ',')}`
}

/** Takes the place of the key in copied requests. */
const PLACEHOLDER = 'YOUR_KEY'

/** The API of a copied request. */
export interface SnippetTarget {
  baseUrl: string
  /** Whether requests need a key. */
  hasKey: boolean
}

/** Returns a shell command, a program or an address for a request to an API. */
export function snippetOf(form: Form, target: SnippetTarget, apiRequest: ApiRequest): string {
  const { baseUrl, hasKey } = target
  if (form === 'cli') return commandOf(apiRequest)
  if (form === 'url') return pathOf(baseUrl, apiRequest)
  // A single quote would end the string in a shell and in JavaScript.
  const [quoted = '', quotedBase = ''] = [pathOf(baseUrl, apiRequest), baseUrl].map(
    (url) => `'${url.replaceAll("'", '%27')}'`,
  )
  if (form === 'curl') {
    return `curl ${hasKey ? `-H 'Authorization: Bearer ${PLACEHOLDER}' ` : ''}${quoted}`
  }
  if (form === 'fetch') {
    const init = hasKey ? `, { headers: { Authorization: 'Bearer ${PLACEHOLDER}' } }` : ''
    return `await (await fetch(${quoted}${init})).json()`
  }
  if (form === 'python') return pythonOf(quoted, hasKey)
  const key = hasKey ? `, key: '${PLACEHOLDER}'` : ''
  return [
    "import { createRatesClient } from 'ratesmith/client'",
    '',
    `const rates = createRatesClient({ baseUrl: ${quotedBase}${key} })`,
    `await rates.${apiRequest.operation}({ ${argumentsOf(apiRequest)} })`,
  ].join('\n')
}

function pythonOf(quoted: string, hasKey: boolean): string {
  const headers = hasKey ? `, headers={'Authorization': 'Bearer ${PLACEHOLDER}'}` : ''
  return [
    'import json',
    'from urllib.request import Request, urlopen',
    '',
    `print(json.load(urlopen(Request(${quoted}${headers}))))`,
  ].join('\n')
}

/** Returns the command line that prints the same data, from its own providers. */
function commandOf({ operation, parameters }: ApiRequest): string {
  const { amount, from, to, ...options } = parameters
  const words = [amount, from, to].filter((word) => word !== undefined)
  const flags = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  return ['ratesmith', operation, ...[...words, ...flags].map(shellWord)].join(' ')
}

function shellWord(word: string): string {
  return /^[\w.:,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

function argumentsOf({ parameters }: ApiRequest): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${name}: ${argumentOf(name, value)}`)
    .join(', ')
}

function argumentOf(name: string, value: string): string {
  if (name === 'amount') return amountOf(value)
  const texts = value.split(',').map(textOf)
  return name === 'to' && texts.length > 1 ? `[${texts.join(', ')}]` : textOf(value)
}

function amountOf(typed: string): string {
  const amount = Number(typed)
  return typed.trim() !== '' && Number.isFinite(amount) ? String(amount) : textOf(typed)
}

function textOf(value: string): string {
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}

/** Which pairs have a history. */
export interface HistoryCoverage {
  /** Whether this is known of all currencies. */
  isComplete: boolean
  /** Returns why a pair has no history, as a sentence; undefined if it has one, or while that is unknown. */
  whyNone(from: string, to: string): string | undefined
}

/** Without currencies, every pair may have a history. */
export const UNKNOWN_COVERAGE: HistoryCoverage = { isComplete: false, whyNone: () => undefined }

/** Returns which pairs have a history: those of two covered currencies, which have a source in common if sources are listed. */
export function historyCoverageOf(currencies: readonly CurrencyCoverage[]): HistoryCoverage {
  const isComplete = currencies.every(({ history }) => history !== null)
  const isEmpty = currencies.every(({ history }) => history === false)
  const byCode = new Map(currencies.map((currency) => [currency.code, currency]))
  const sources = currentSources(currencies)
  return {
    isComplete,
    whyNone(from, to) {
      if (isEmpty) return 'This service has no history'
      const pair = [...new Set([from, to])]
      const missing = pair.filter((code) => byCode.get(code)?.history === false)
      const unknown = isComplete ? pair.filter((code) => !byCode.has(code)) : []
      const without = [...missing, ...unknown]
      if (without.length > 0) return `No daily history for ${without.join(' and ')}`
      const [first, second] = [sources.get(from), sources.get(to)]
      if (!isComplete || !first || !second) return undefined
      const isShared = first.some((source) => second.includes(source))
      return isShared ? undefined : `No source has a daily history for both ${from} and ${to}`
    },
  }
}

/** A currency without rates for longer, before the newest of a source, has left it. */
const MAX_PAUSE_MS = 31 * 86_400_000

/** Returns the sources that have each currency now, where sources are listed. */
function currentSources(currencies: readonly CurrencyCoverage[]): Map<string, string[]> {
  const newest = new Map<string, string>()
  const listed = currencies.flatMap(({ code, histories }) =>
    histories ? [{ code, histories }] : [],
  )
  for (const { source, to } of listed.flatMap(({ histories }) => histories)) {
    const known = newest.get(source.url + source.name) ?? ''
    newest.set(source.url + source.name, to !== null && to > known ? to : known)
  }
  return new Map(
    listed.map(({ code, histories }) => [
      code,
      histories.flatMap(({ source: { url, name }, to }) => {
        const age = Date.parse(newest.get(url + name) ?? '') - Date.parse(to ?? '')
        return age > MAX_PAUSE_MS ? [] : [url + name]
      }),
    ]),
  )
}
