import * as fc from 'fast-check'

import { operations } from '../openapi/document.ts'
import type { Operation } from '../openapi/document.ts'

/** Every endpoint of the OpenAPI document, with its parameter names and a target with status 200. */
export const ENDPOINTS = operations.map((operation) => {
  const path = `/api${operation.path}`
  const parameters = operation.parameters.map(({ name }) => name)
  return { path, parameters, target: `${path}${queryOf(operation)}` }
})

export const PATHS = ENDPOINTS.filter(({ parameters }) => parameters.length > 0).map(
  ({ path }) => path,
)

export const PARAMETERS = [...new Set(ENDPOINTS.flatMap(({ parameters }) => parameters))]

/** A text that no response contains by chance. */
export const NONCE = 'n0nce7f3a9c'

export const SEED = { seed: 20_261_120 }

/** Returns the message of an error body, in the format of `path`. */
export function errorMessage(path: string, body: string): string {
  const { error } = JSON.parse(body)
  return path.startsWith('/api/v1/') ? error.message : error
}

function queryOf({ parameters }: Operation): string {
  const required = parameters.filter((parameter) => parameter.required)
  const query = new URLSearchParams(required.map(({ name, example }) => [name, String(example)]))
  return required.length > 0 ? `?${query}` : ''
}

const VALUES = [
  'EUR usd HRK ZZZ EUR,GBP 1 1e3 -1 1M 5Y 2026-11-13 week true % %00'.split(' '),
  ['', 'E\tUR', ' EUR '],
].flat()

const value: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...VALUES),
  fc.string({ unit: 'binary', maxLength: 40 }).map(encoded),
  fc.string({ maxLength: 40 }),
)

const name = fc.oneof(
  fc.constantFrom(...PARAMETERS, 'BASE', 'base[]', '?from', '__proto__', 'constructor', 'x'),
  fc.string({ maxLength: 10 }),
)

const pairs = fc
  .array(fc.tuple(name, value), { maxLength: 6 })
  .map((list) => list.map((pair) => pair.join('=')).join('&'))

/** Arbitrary queries, most of them plausible. */
export const query: fc.Arbitrary<string> = fc.oneof(
  pairs,
  fc.string({ unit: 'binary' }),
  fc.string(),
)

function encoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : text
}
