import { OPERATIONS } from '../../src/api/parameters.ts'
import { MAX_ROWS } from '../../src/api/convert-many.ts'
import { TimeoutError } from '../../src/async.ts'
import { createSamples, withFixedIds } from './examples.ts'
import type { SampleRequest, Samples } from './examples.ts'
import { createHeaderTable } from './headers.ts'
import type { HeaderTable } from './headers.ts'
import { operations } from './operations.ts'
import type { ExampleRequest, Operation } from './operations.ts'
import { createParameterTable, isOperationName } from './parameters.ts'
import type { OperationName } from './parameters.ts'
import {
  describeResponses,
  errorResponses,
  errorSchema,
  generationOf,
  sharedErrors,
} from './responses.ts'
import type { Example } from './responses.ts'
import { componentSchemas } from './schemas.ts'
import { reference } from './type-schemas.ts'
import { parametersOf } from '../../src/api/check.ts'

const DESCRIPTION = `Latest exchange rates, currency conversion and rate history.

Currency codes are case-insensitive in requests and upper-case in responses; a form such as \`GBp\` (two capitals and a small letter), with which market data write hundredths, is rejected. Timestamps are integers in ms since the Unix epoch. An amount as text keeps all its digits.

A repeated parameter is rejected, and so is an unknown one (\`invalid_parameter\`), with the name that was meant. Only names that begin with \`_\`, \`x_\`, \`x-\` or \`utm_\`, and those of click trackers, cache busters and API keys are ignored; the unversioned endpoints ignore all unknown names that are not like their own.

Every path also supports \`HEAD\`, like \`GET\` without the body, and \`OPTIONS\`, which returns 204. \`POST /v1/convert\` converts many amounts at once. Any other method returns 405 (\`method_not_allowed\`) with the same \`Allow\` header, and an unknown path returns 404 (\`not_found\`). Both have the format of the other errors.

With \`format=csv\`, the 200 response is \`text/csv\`; errors are always JSON. OpenAPI cannot tie a media type to a parameter, and with two media types generated clients would have to narrow the type of every response. Therefore \`content\` describes the JSON, or the lines of JSON of \`/v1/days\`, and the extension \`x-csv\` has the Media Type Object of the CSV.

Every response with rates names their source, which must be shown with the rates. Rates are mid-market reference rates, for information only; they are not an offer to exchange currency. By default, latest rates come from ExchangeRate-API's open feed, whose terms require attribution and forbid redistribution. History and the rates of a given day are reference rates of the European Central Bank, via Frankfurter.

The examples have rates of a synthetic market.`

const ACCESS_DESCRIPTION = `

Send an API key as \`Authorization: Bearer\` or as \`X-API-Key\`. Limits count requests of each key, or of each client address. A request costs 1 if its response is cached or its query is invalid, and its work otherwise: 1 for each target currency of a list and, for a range, each started five years, or of \`/v1/days\` each started year; at most 10. A 5xx costs nothing, up to ten in a minute. \`OPTIONS\`, \`/v1\` and this document cost nothing and need no key; \`/v1/usage\` costs nothing. Every operation that costs something may also return 401, 403 or 429.`

/** What operations are described with. */
interface DocumentParts {
  samples: Samples
  headers: HeaderTable
  parameters: ReturnType<typeof createParameterTable>
  hasAccess: boolean
}

/** Creates the OpenAPI document for `version` of the package, with `hasAccess` for a handler with keys and limits. */
export async function createDocument(version: string, hasAccess = false): Promise<object> {
  return withFixedIds(() => describeService(version, hasAccess))
}

async function describeService(version: string, hasAccess: boolean): Promise<object> {
  const samples = await createSamples(hasAccess)
  const headers = createHeaderTable(hasAccess)
  const parameters = createParameterTable()
  const paths: Record<string, object> = {}
  for (const name of Object.keys(operations).filter(isOperationName)) {
    if (name === 'usage' && !hasAccess) continue
    const { path } = OPERATIONS[name]
    const method = name === 'convertMany' ? 'post' : 'get'
    const described = await describeOperation(name, { samples, headers, parameters, hasAccess })
    paths[path] = { ...paths[path], [method]: described }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'ratesmith',
      version,
      summary: 'Exchange-rate API: latest rates, conversion and history.',
      description: hasAccess ? DESCRIPTION + ACCESS_DESCRIPTION : DESCRIPTION,
      contact: { name: 'ratesmith', url: 'https://www.npmjs.com/package/ratesmith' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/api', description: 'Base path of the service.' }],
    // The API needs no key and no login, unless the operator requires keys.
    security: [],
    tags: TAGS,
    paths,
    components: {
      schemas: componentSchemas(hasAccess),
      parameters: parameters.components,
      headers: headers.components,
      responses: await errorResponses(headers, samples, hasAccess),
      ...(hasAccess && { securitySchemes: SECURITY_SCHEMES }),
    },
  }
}

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
}

/** Groups of operations. */
const TAGS: readonly { name: string; description: string }[] = [
  { name: 'Rates', description: 'Rates, conversions and supported currencies.' },
  { name: 'Service', description: 'State and description of the service.' },
  {
    name: 'Unversioned endpoints',
    description: 'Endpoints from before `/v1`: errors and sources are plain strings.',
  },
]

function tagOf(name: OperationName): string | undefined {
  const isOfService = ['status', 'usage', 'index', 'openapi'].includes(name)
  return TAGS[generationOf(OPERATIONS[name].path) ? 2 : Number(isOfService)]?.name
}

/** Operations that cost nothing and need no key. */
const FREE: readonly OperationName[] = ['index', 'openapi']

async function describeOperation(
  name: OperationName,
  { samples, headers, parameters, hasAccess }: DocumentParts,
): Promise<object> {
  const { bodies, examples, errorExamples, isLong, ...described } = operations[name]
  const { path } = OPERATIONS[name]
  const isPost = name === 'convertMany'
  const generation = generationOf(path)
  const isFree = hasAccess && FREE.includes(name)
  const [only, ...others] = bodies.map((each) => reference('schemas', each))
  const body = only && others.length === 0 ? only : { oneOf: [only, ...others] }
  const schemaOf = (status: number, codes: string[]): object => {
    if (status >= 400) return errorSchema(generation, codes)
    return isPost ? { type: 'array', items: body } : body
  }
  const fetched = [
    ...(await fetchAll(path, examples, samples)),
    ...(isPost ? [] : await fetchStates(path, Object.values(examples), samples)),
    ...(await fetchAll(path, errorExamples, samples)),
    ...(name === 'quote' ? [await fetchWithoutQuotes(path, samples)] : []),
    ...(isPost ? [] : await fetchAll(path, errorExamples, samples, true)),
  ]
  const isAvailable = fetched.every(({ response }) => response.status !== 502)
  const shared = sharedErrors(hasAccess && !isFree)
    .filter(([status]) => status !== 502 || !isAvailable)
    .map(([status, id]) => [status, reference('responses', `${generation}${id}`)])
  const hasCsv = Object.hasOwn(parametersOf(OPERATIONS[name]), 'format')
  return {
    ...described,
    tags: [tagOf(name)],
    parameters: parameters.describe(name),
    ...(isPost && { requestBody: describeBody(examples) }),
    responses: {
      ...describeResponses(headers, fetched, { schemaOf, isLong, hasCsv }),
      ...Object.fromEntries(shared),
    },
    ...(isFree && { security: [] }),
  }
}

function describeBody(examples: Operation['examples']): object {
  const content = Object.entries(examples).map(([name, request]) => {
    const { type = '', text = '' } = Object(request)
    const isJson = type === 'application/json'
    const schema = isJson
      ? { type: 'array', maxItems: MAX_ROWS, items: reference('schemas', 'ConversionRow') }
      : { type: 'string' }
    return [type, { schema, examples: { [name]: { value: isJson ? JSON.parse(text) : text } } }]
  })
  return { required: true, content: Object.fromEntries(content) }
}

async function fetchAll(
  path: string,
  requests: Readonly<Record<string, ExampleRequest | readonly ExampleRequest[]>>,
  samples: Samples,
  isCold = false,
): Promise<Example[]> {
  const each = Object.entries(requests).flatMap(([name, list]) =>
    [list].flat().map(async (request) => {
      const sent = typeof request === 'string' ? { query: request } : toPost(request)
      return { name, response: await samples(path, { ...sent, isCold }) }
    }),
  )
  return Promise.all(each)
}

async function fetchWithoutQuotes(path: string, samples: Samples): Promise<Example> {
  return { name: 'not_found', response: await samples(path, { hasQuotes: false }) }
}

function toPost({ type, text }: Exclude<ExampleRequest, string>): SampleRequest {
  return {
    method: 'POST',
    header: (name) => (name === 'content-type' ? type : null),
    async readBody(onChunk) {
      if (text === undefined) throw new TimeoutError('too slow')
      onChunk(new TextEncoder().encode(text))
    },
  }
}

/** Fetches the responses to a client that has the current ones, and the first of a service without data. */
async function fetchStates(
  path: string,
  requests: readonly ExampleRequest[],
  samples: Samples,
): Promise<Example[]> {
  const queries = requests.filter((each) => typeof each === 'string')
  const header = (name: string): string | null => (name === 'if-none-match' ? '*' : null)
  const responses = await Promise.all(queries.map((query) => samples(path, { query, header })))
  const [query = ''] = queries
  return [
    { name: 'withoutData', response: await samples(path, { query, isCold: true }) },
    ...responses
      .filter(({ status }) => status === 304)
      .map((response) => ({ name: 'unchanged', response })),
  ]
}
