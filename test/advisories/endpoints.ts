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
