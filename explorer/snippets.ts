import { pathOf } from './api.ts'
import type { ApiRequest } from './api.ts'

/** Format of a copied request to any endpoint. */
export type HttpForm = 'curl' | 'fetch' | 'python' | 'url'

/** Format of a copied request of a panel. */
export type Form = HttpForm | 'client' | 'cli'

/** Takes the place of the key in copied requests. */
const PLACEHOLDER = 'YOUR_KEY'

/** The API of a copied request. */
export interface SnippetTarget {
  baseUrl: string
  /** Whether requests need a key. */
  hasKey: boolean
}

/** A request as it is sent. */
export interface HttpRequest {
  url: string
  /** Format and text of the body; without it the request is a GET. */
  body?: { type: string; text: string } | undefined
}

/** Returns a shell command, a program or an address for a request to an API. */
export function snippetOf(form: Form, target: SnippetTarget, apiRequest: ApiRequest): string {
  const { baseUrl, hasKey } = target
  if (form === 'cli') return commandOf(apiRequest)
  if (form !== 'client') return httpSnippetOf(form, { url: pathOf(baseUrl, apiRequest) }, hasKey)
  const key = hasKey ? `, key: '${PLACEHOLDER}'` : ''
  return [
    "import { createRatesClient } from 'ratesmith/client'",
    '',
    `const rates = createRatesClient({ baseUrl: ${quotedUrl(baseUrl)}${key} })`,
    `await rates.${apiRequest.operation}({ ${argumentsOf(apiRequest)} })`,
  ].join('\n')
}

/** Returns a shell command, a program or an address for a request; with `hasKey` there is a place for an API key. */
export function httpSnippetOf(form: HttpForm, { url, body }: HttpRequest, hasKey: boolean): string {
  if (form === 'url') return url
  const headers = [
    ...(hasKey ? [['Authorization', `Bearer ${PLACEHOLDER}`]] : []),
    ...(body ? [['Content-Type', body.type]] : []),
  ]
  const fields = headers.map(([name, value]) => `'${name}': '${value}'`).join(', ')
  const quoted = quotedUrl(url)
  // Requests in CSV have responses in CSV.
  const isText = body?.type === 'text/csv' || /[?&]format=csv/.test(url)
  if (form === 'curl') {
    const words = headers.map(([name, value]) => `-H '${name}: ${value}' `).join('')
    return `curl ${words}${body ? `--data-raw ${shellWord(body.text)} ` : ''}${quoted}`
  }
  if (form === 'fetch') {
    const sent = body ? `method: 'POST', body: ${textOf(body.text)}, ` : ''
    const init = fields && `, { ${sent}headers: { ${fields} } }`
    return `await (await fetch(${quoted}${init})).${isText ? 'text' : 'json'}()`
  }
  const sent = body ? `, data=${textOf(body.text)}.encode()` : ''
  const response = `urlopen(Request(${quoted}${sent}${fields && `, headers={${fields}}`}))`
  return [
    ...(isText ? [] : ['import json']),
    'from urllib.request import Request, urlopen',
    '',
    `print(${isText ? `${response}.read().decode()` : `json.load(${response})`})`,
  ].join('\n')
}

/** A single quote would end the string in a shell, in JavaScript and in Python. */
function quotedUrl(url: string): string {
  return `'${url.replaceAll("'", '%27')}'`
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
