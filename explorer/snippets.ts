import { pathOf } from './api.ts'
import type { ApiRequest } from './api.ts'

/** Format of a copied request. */
export type Form = 'curl' | 'fetch' | 'client' | 'python' | 'cli' | 'url'

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
