import type { RawResponse } from '../../src/http/messages.ts'
import type { SampleRequest, SampleResponse, Samples } from './examples.ts'
import type { HeaderTable } from './headers.ts'
import { reference } from './type-schemas.ts'

/** A response shown in the document. */
export interface Example {
  name: string
  response: SampleResponse
}

/** What describes the bodies of responses. */
export interface Bodies {
  /** Returns the JSON Schema of the bodies with a status; `codes` are the names of their examples. */
  schemaOf(status: number, codes: string[]): object
  /** Whether there is CSV, too. */
  hasCsv?: boolean
  /** Whether successful ones are too long to be examples. */
  isLong?: boolean | undefined
}

const JSON_TYPE = 'application/json'
const CSV_TYPE = 'text/csv'
const LINES_TYPE = 'application/x-ndjson'

/** By status, or by the name of an example that means something else. */
const DESCRIPTIONS: Record<number | string, string> = {
  200: 'Success.',
  304: 'Not modified: `If-None-Match` matches the current `ETag`.',
  400: 'Invalid request.',
  401: 'No API key, or one that is malformed, unknown or expired.',
  403: 'The API key is not permitted on this website, or has no current plan.',
  404: 'No data.',
  not_found: 'The service has no quotes.',
  408: 'The body did not arrive in time.',
  410: 'The quote has expired.',
  412: '`If-Match` does not match the current `ETag`.',
  413: 'The body is too long.',
  415: 'The body has another type or encoding.',
  429: 'A limit of the client is reached.',
  500: 'Unexpected error.',
  502: 'The provider failed, and no usable data is cached.',
  503: 'Too many expensive requests at once.',
}

/** Returns the Response Objects of `examples` by status. */
export function describeResponses(
  table: HeaderTable,
  examples: Example[],
  bodies: Bodies,
): Record<string, object> {
  const byStatus = Object.groupBy(examples, ({ response }) => response.status)
  return Object.fromEntries(
    Object.entries(byStatus).map(([status, each = []]) => [
      status,
      describeResponse(table, each, bodies),
    ]),
  )
}

function describeResponse(
  table: HeaderTable,
  examples: Example[],
  { schemaOf, hasCsv, isLong }: Bodies,
): object {
  const [first] = examples
  const status = first?.response.status ?? 0
  const headers = table.describe(examples.map(({ response }) => response.headers))
  const description = DESCRIPTIONS[first?.name ?? ''] ?? DESCRIPTIONS[status]
  if (status === 304) return { description, headers }
  const schema = schemaOf(status, [...new Set(examples.map(({ name }) => name))])
  const shown = isLong && status === 200 ? [] : examples
  const isLines = first !== undefined && mediaTypeOf(first.response) === LINES_TYPE
  const content = isLines
    ? { [LINES_TYPE]: { schema: linesOf(schema), examples: examplesOf(LINES_TYPE, shown) } }
    : { [JSON_TYPE]: { schema, examples: examplesOf(JSON_TYPE, shown) } }
  if (!hasCsv || status !== 200) return { description, headers, content }
  return {
    description: `${description} With \`format=csv\`, \`${CSV_TYPE}\` as in \`x-csv\`.`,
    headers,
    content,
    'x-csv': { schema: { type: 'string' }, examples: examplesOf(CSV_TYPE, examples) },
  }
}

/** Returns the schema of a text, each line of which is JSON that matches `items`. */
function linesOf(items: object): object {
  return {
    type: 'string',
    contentMediaType: LINES_TYPE,
    contentSchema: { type: 'array', items },
  }
}

function examplesOf(type: string, examples: Example[]): object {
  const ofType = examples.filter(({ response }) => mediaTypeOf(response) === type)
  return Object.fromEntries(
    ofType.map(({ name, response: { body } }) => {
      // Long texts are bytes.
      const text = body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body)
      return [name, { value: type === JSON_TYPE ? JSON.parse(text) : text }]
    }),
  )
}

function mediaTypeOf({ headers }: RawResponse): string | undefined {
  return headers.find(([name]) => name === 'content-type')?.[1].split(';', 1)[0]
}

/** Returns the error format of the endpoint at `path`, as a prefix of component names. */
export function generationOf(path: string): '' | 'Unversioned' {
  return path.startsWith('/v1') ? '' : 'Unversioned'
}

/** Returns the schema of errors with one of `codes`; unversioned errors have no code. */
export function errorSchema(generation: string, codes: string[]): object {
  if (generation === 'Unversioned') return reference('schemas', 'UnversionedError')
  const code = { type: 'string', enum: codes }
  // Lists every property, for validators that reject properties missing from a part of `allOf`.
  const error = {
    type: 'object',
    required: ['code', 'message'],
    properties: { code, message: true },
  }
  const narrowed = { type: 'object', required: ['error'], properties: { error } }
  return { allOf: [reference('schemas', 'Error'), narrowed] }
}

const unmatched: SampleRequest = { header: (name) => (name === 'if-match' ? '"another"' : null) }

const unreadable: SampleRequest = {
  header(name) {
    if (name === 'if-match') throw new Error('header lookup failed')
    return null
  },
}

// The handler refuses expensive requests of a disconnected client as overloaded.
const gone: SampleRequest = { signal: AbortSignal.abort(), query: `?${'-'.repeat(1_000)}` }

/** Errors that operations share: the status, the code as a component name, and a request that gets it. */
const SHARED: readonly (readonly [status: number, id: string, request: SampleRequest])[] = [
  [401, 'Unauthorized', { key: 'none' }],
  [403, 'Forbidden', { key: 'forbidden' }],
  [429, 'RateLimited', { key: 'exhausted' }],
  [412, 'PreconditionFailed', unmatched],
  [500, 'InternalError', unreadable],
  [502, 'ProviderUnavailable', { isCold: true }],
  [503, 'Overloaded', gone],
]

/** Returns the errors that operations share, with or without those of keys and limits. */
export function sharedErrors(hasAccess: boolean): typeof SHARED {
  return SHARED.filter(([, , { key }]) => hasAccess || key === undefined)
}

/** Returns the Response Objects that operations share, by name. */
export async function errorResponses(
  table: HeaderTable,
  samples: Samples,
  hasAccess: boolean,
): Promise<Record<string, object>> {
  const described: Record<string, object> = {}
  for (const path of ['/v1/latest', '/rates']) {
    const generation = generationOf(path)
    for (const [, id, request] of sharedErrors(hasAccess)) {
      const name = id.replaceAll(/(?<=.)(?=[A-Z])/g, '_').toLowerCase()
      const examples = [{ name, response: await samples(path, request) }]
      const schemaOf = (): object => errorSchema(generation, [name])
      described[`${generation}${id}`] = describeResponse(table, examples, { schemaOf })
    }
  }
  return described
}
