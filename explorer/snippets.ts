import { pathOf } from './api.ts'
import type { ApiRequest } from './api.ts'

/** Takes the place of the key in copied requests. */
const PLACEHOLDER = 'YOUR_KEY'
const KEY_FIELD = `'Authorization': 'Bearer ${PLACEHOLDER}'`

export interface SnippetTarget {
  baseUrl: string
  hasKey: boolean
}

/** Forms of a copied request: a shell command, a program, or an address. */
export const FORMS = {
  curl: ({ baseUrl, hasKey }, apiRequest) =>
    `curl ${hasKey ? `-H 'Authorization: Bearer ${PLACEHOLDER}' ` : ''}${quotedUrl(pathOf(baseUrl, apiRequest))}`,
  fetch({ baseUrl, hasKey }, apiRequest) {
    const init = hasKey ? `, { headers: { ${KEY_FIELD} } }` : ''
    return `await (await fetch(${quotedUrl(pathOf(baseUrl, apiRequest))}${init})).json()`
  },
  Python({ baseUrl, hasKey }, apiRequest) {
    const headers = hasKey ? `, headers={${KEY_FIELD}}` : ''
    const request = `Request(${quotedUrl(pathOf(baseUrl, apiRequest))}${headers})`
    return [
      'import json',
      'from urllib.request import Request, urlopen',
      '',
      `print(json.load(urlopen(${request})))`,
    ].join('\n')
  },
  client({ baseUrl, hasKey }, apiRequest) {
    const key = hasKey ? `, key: '${PLACEHOLDER}'` : ''
    return [
      "import { createRatesClient } from 'ratesmith/client'",
      '',
      `const rates = createRatesClient({ baseUrl: ${quotedUrl(baseUrl)}${key} })`,
      `await rates.${apiRequest.operation}({ ${argumentsOf(apiRequest)} })`,
    ].join('\n')
  },
  // The same data, from the providers of the command.
  CLI(_, { operation, parameters }) {
    const { amount, from, to, ...options } = parameters
    const words = [amount, from, to].filter((word) => word !== undefined)
    const flags = Object.entries(options).flatMap(([name, value]) =>
      value === 'true' ? [`--${name}`] : [`--${name}`, value],
    )
    return ['ratesmith', operation, ...[...words, ...flags].map(shellWord)].join(' ')
  },
  URL: ({ baseUrl }, apiRequest) => pathOf(baseUrl, apiRequest),
} satisfies Record<string, (target: SnippetTarget, apiRequest: ApiRequest) => string>

export type Form = keyof typeof FORMS

export function isForm(name: string): name is Form {
  return Object.hasOwn(FORMS, name)
}

export function snippetOf(form: Form, target: SnippetTarget, apiRequest: ApiRequest): string {
  return FORMS[form](target, apiRequest)
}

/** A single quote would end the string in a shell, in JavaScript and in Python. */
function quotedUrl(url: string): string {
  return `'${url.replaceAll("'", '%27')}'`
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
  const amount = Number(value)
  if (name === 'amount' && value.trim() !== '' && Number.isFinite(amount)) return String(amount)
  if (value === 'true') return value
  const texts = value.split(',').map(textOf)
  return name === 'to' && texts.length > 1 ? `[${texts.join(', ')}]` : textOf(value)
}

function textOf(value: string): string {
  return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
