import type { RatesErrorCode } from '../../src/errors.ts'
import type { RawResponse } from '../../src/http/messages.ts'
import type { Samples } from './examples.ts'
import type { HeaderTable } from './headers.ts'
import { reference } from './type-schemas.ts'

/** A response shown in the document. */
export interface Example {
  name: string
  response: RawResponse
  /** Shortens its body (default: the whole body is shown). */
  shorten?: ((body: object) => object | undefined) | undefined
}

/** Schemas of response bodies. */
export interface Schemas {
  json: object
  /** For operations with `format=csv`. */
  csv?: object
}

const JSON_TYPE = 'application/json'
const CSV_TYPE = 'text/csv'

const DESCRIPTIONS: Record<number, string> = {
  200: 'Success.',
  304: 'Not modified: `If-None-Match` matches the current `ETag`.',
  400: 'Invalid request.',
  401: 'No API key, or one that is malformed, unknown or expired.',
  403: 'The API key is not permitted on this website, or has no current plan.',
  404: 'No data.',
  408: 'The body did not arrive in time.',
  412: '`If-Match` does not match the current `ETag`.',
  413: 'The body is too long.',
  415: 'The body has another type or encoding.',
  429: 'A limit of the client is reached.',
  500: 'Unexpected error.',
  502: 'The provider failed, and no usable data is cached.',
  503: 'Too many expensive requests at once.',
}

/** Returns the Response Objects of `examples` by status; `schemasOf` returns the schemas of a status. */
export function describeResponses(
  table: HeaderTable,
  examples: Example[],
  schemasOf: (status: number) => Schemas,
): Record<string, object> {
  const byStatus = Object.groupBy(examples, ({ response }) => response.status)
  const entries = Object.entries(byStatus).map(([status, examples = []]) => [
    status,
    describeResponse(table, examples, schemasOf(Number(status))),
  ])
  return Object.fromEntries(entries)
}

function describeResponse(table: HeaderTable, examples: Example[], schemas: Schemas): object {
  const status = examples[0]?.response.status ?? 0
  const headers = table.describe(examples.map(({ response }) => response.headers))
  const description = DESCRIPTIONS[status]
  if (status === 304) return { description, headers }
  const content = { [JSON_TYPE]: mediaTypeObject(JSON_TYPE, examples, schemas.json) }
  if (!schemas.csv) return { description, headers, content }
  return {
    description: `${description} With \`format=csv\`, \`${CSV_TYPE}\` as in \`x-csv\`.`,
    headers,
    content,
    'x-csv': mediaTypeObject(CSV_TYPE, examples, schemas.csv),
  }
}

function mediaTypeObject(type: string, examples: Example[], schema: object): object {
  const ofType = examples.filter(({ response }) => mediaTypeOf(response) === type)
  return { schema, examples: Object.fromEntries(ofType.flatMap(toExample)) }
}

function toExample(example: Example): [name: string, example: object][] {
  const { name, response, shorten = (whole) => whole } = example
  // Long texts are bytes.
  const body =
    response.body instanceof Uint8Array
      ? new TextDecoder().decode(response.body)
      : String(response.body)
  const isJson = mediaTypeOf(response) === JSON_TYPE
  const value: unknown = isJson ? shorten(JSON.parse(body)) : body
  return value === undefined ? [] : [[name, { value }]]
}

function mediaTypeOf({ headers }: RawResponse): string | undefined {
  return headers.find(([name]) => name === 'content-type')?.[1].split(';', 1)[0]
}

/** The two error formats, as prefixes of component names. */
export type Generation = '' | 'Unversioned'

/** Returns the error format of the endpoint at `path`, which is relative to the base path. */
export function generationOf(path: string): Generation {
  return path.startsWith('/v1/') ? '' : 'Unversioned'
}

/** Returns the schemas of errors with one of `codes`; unversioned errors have no code. */
export function errorSchemas(generation: Generation, codes: string[]): Schemas {
  if (generation === 'Unversioned') return { json: reference('schemas', 'UnversionedError') }
  const code = { type: 'string', enum: codes }
  // Lists every property, for validators that reject properties missing from a part of `allOf`.
  const error = {
    type: 'object',
    required: ['code', 'message'],
    properties: { code, message: true },
  }
  const narrowed = { type: 'object', required: ['error'], properties: { error } }
  return { json: { allOf: [reference('schemas', 'Error'), narrowed] } }
}

/** Returns the Response Objects that operations share, by name. */
export async function errorResponses(
  table: HeaderTable,
  samples: Samples,
  hasAccess: boolean,
): Promise<Record<string, object>> {
  const generations: [Generation, path: string][] = [
    ['', '/v1/latest'],
    ['Unversioned', '/rates'],
  ]
  const described: Record<string, object> = {}
  for (const [generation, path] of generations) {
    const describe = (code: RatesErrorCode, response: RawResponse): object =>
      describeResponse(table, [{ name: code, response }], errorSchemas(generation, [code]))
    const shared = await responsesOf(generation, path, samples, describe)
    const refused = hasAccess ? await refusalsOf(generation, path, samples, describe) : {}
    Object.assign(described, shared, refused)
  }
  return described
}

type Describe = (code: RatesErrorCode, response: RawResponse) => object

async function responsesOf(
  generation: Generation,
  path: string,
  samples: Samples,
  describe: Describe,
): Promise<Record<string, object>> {
  const fail = (name: string): null => {
    if (name === 'if-match') throw new Error('header lookup failed')
    return null
  }
  // The handler refuses expensive requests of a disconnected client as overloaded.
  const expensive = `${path}?${'-'.repeat(1_000)}`
  const [unmatched, broken, cold, refused] = await Promise.all([
    samples.request(path, { header: (name) => (name === 'if-match' ? '"another"' : null) }),
    samples.request(path, { header: fail }),
    samples.requestWithoutData(path),
    samples.request(expensive, { signal: AbortSignal.abort() }),
  ])
  return {
    [`${generation}PreconditionFailed`]: describe('precondition_failed', unmatched),
    [`${generation}InternalError`]: describe('internal_error', broken),
    [`${generation}ProviderUnavailable`]: describe('provider_unavailable', cold),
    [`${generation}Overloaded`]: describe('overloaded', refused),
  }
}

async function refusalsOf(
  generation: Generation,
  path: string,
  samples: Samples,
  describe: Describe,
): Promise<Record<string, object>> {
  const [anonymous, forbidden, exhausted] = [
    await samples.requestRefused(path),
    await samples.requestRefused(path, 'forbidden'),
    await samples.requestRefused(path, 'exhausted'),
  ]
  return {
    [`${generation}Unauthorized`]: describe('unauthorized', anonymous),
    [`${generation}Forbidden`]: describe('forbidden', forbidden),
    [`${generation}RateLimited`]: describe('rate_limited', exhausted),
  }
}
