import * as fc from 'fast-check'

import { operations } from '../openapi/document.ts'
import type { Operation } from '../openapi/document.ts'

/** Every endpoint that the OpenAPI document has, with the names of its parameters and a target that it answers with 200. */
export const ENDPOINTS = operations.map((operation) => {
  const path = `/api${operation.path}`
  const parameters = operation.parameters.map(({ name }) => name)
  return { path, parameters, target: `${path}${queryOf(operation)}` }
})

/** The paths of those that have parameters. */
export const PATHS = ENDPOINTS.filter(({ parameters }) => parameters.length > 0).map(
  ({ path }) => path,
)

/** The names of all parameters. */
export const PARAMETERS = [...new Set(ENDPOINTS.flatMap(({ parameters }) => parameters))]

/** A text that is nowhere by chance. */
export const NONCE = 'n0nce7f3a9c'

/** For properties that are to be the same in every run. */
export const SEED = { seed: 20_261_120 }

/** The body of an error, by the path that was asked. */
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

/** Anything that a parameter may be given, good or bad. */
export const value: fc.Arbitrary<string> = fc.oneof(
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

/** Any text where a query is expected, most of them like one. */
export const query: fc.Arbitrary<string> = fc.oneof(
  pairs,
  fc.string({ unit: 'binary' }),
  fc.string(),
)

/** Percent-encoded, but for a half of a surrogate pair, which stays. */
function encoded(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : text
}
