import { createSamples } from './examples.ts'
import type { Samples } from './examples.ts'
import { createHeaderTable } from './headers.ts'
import type { HeaderTable } from './headers.ts'
import { describeManyConversions } from './many-conversions.ts'
import { operations, tags } from './operations.ts'
import type { Operation } from './operations.ts'
import { parameterComponents } from './parameters.ts'
import { describeResponses, errorResponses, errorSchemas, generationOf } from './responses.ts'
import type { Example, Generation, Schemas } from './responses.ts'
import { componentSchemas } from './schemas.ts'
import { reference } from './type-schemas.ts'

const DESCRIPTION = `Latest exchange rates, currency conversion and rate history.

Currency codes are case-insensitive in requests and upper-case in responses. Timestamps are integers in ms since the Unix epoch. A known parameter that is repeated or misspelled is rejected, and so is the name that another operation or a similar service uses for it; other unknown parameters are ignored.

Every path also supports \`HEAD\`, like \`GET\` without the body, and \`OPTIONS\`, which returns 204. \`POST /v1/convert\` converts many amounts at once. Any other method returns 405 (\`method_not_allowed\`) with the same \`Allow\` header, and an unknown path returns 404 (\`not_found\`). Both have the format of the other errors.

With \`format=csv\`, the 200 response is \`text/csv\`. OpenAPI cannot tie a media type to a parameter, and with two media types generated clients would have to narrow the type of every response. Therefore \`content\` describes the JSON, and the extension \`x-csv\` has the Media Type Object of the CSV.

Every response with rates names their source, which must be shown with the rates. Rates are mid-market reference rates, for information only; they are not an offer to exchange currency. By default, latest rates come from ExchangeRate-API's open feed, whose terms require attribution and forbid redistribution. History and the rates of a given day are reference rates of the European Central Bank, via Frankfurter.

The examples have rates of a synthetic market.`

const ACCESS_DESCRIPTION = `

Send an API key as \`Authorization: Bearer\` or as \`X-API-Key\`. Limits count requests of each key, or of each client address. A request costs 1; lists cost 1 for each target currency, at most 10; errors and 304 cost 1; a 5xx costs nothing. \`OPTIONS\` and this document cost nothing and need no key. Every operation that costs something may also return 401, 403 or 429.`

/** Creates the OpenAPI document for `version` of the package, with `hasAccess` for a handler with keys and limits. */
export async function createDocument(version: string, hasAccess = false): Promise<object> {
  const samples = await createSamples(hasAccess)
  const headers = createHeaderTable(hasAccess)
  const parts = { samples, headers, hasAccess }
  const paths = operations.map(async (operation) => [
    operation.path,
    await describePath(operation, parts),
  ])
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
    tags,
    paths: Object.fromEntries(await Promise.all(paths)),
    components: {
      schemas: componentSchemas(hasAccess),
      parameters: parameterComponents(),
      headers: headers.components(),
      responses: await errorResponses(headers, samples, hasAccess),
      ...(hasAccess && { securitySchemes: SECURITY_SCHEMES }),
    },
  }
}

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer' },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
}

/** Costs nothing and needs no key. */
const FREE_PATH = '/v1/openapi.json'

/** What operations are described with. */
interface DocumentParts {
  samples: Samples
  headers: HeaderTable
  hasAccess: boolean
}

async function describePath(
  operation: Operation,
  { samples, headers, hasAccess }: DocumentParts,
): Promise<object> {
  const { path, operationId, tag, summary, description, parameters = [] } = operation
  const { errorExamples = {} } = operation
  const generation = generationOf(path)
  const errors = await fetchAll(path, errorExamples, samples)
  const schemasOf = (status: number): Schemas => {
    if (status < 400) return bodySchemas(operation)
    const ofStatus = errors.filter(({ response }) => response.status === status)
    const codes = ofStatus.map(({ name }) => name)
    return errorSchemas(generation, codes)
  }
  const examples = [...(await fetchExamples(operation, samples)), ...errors]
  const { status } = await samples.requestWithoutData(targetsOf(operation)[0] ?? path)
  const unavailable = { 502: reference('responses', `${generation}ProviderUnavailable`) }
  const isFree = path === FREE_PATH
  const refusals = hasAccess && !isFree ? refusalsOf(generation) : {}
  const responses = {
    ...describeResponses(headers, examples, schemasOf),
    ...refusals,
    412: reference('responses', `${generation}PreconditionFailed`),
    500: reference('responses', `${generation}InternalError`),
    ...(status === 502 ? unavailable : {}),
    503: reference('responses', `${generation}Overloaded`),
  }
  const described = { operationId, summary, description, tags: [tag] }
  const references = parameters.map((name) => reference('parameters', name))
  const security = hasAccess && isFree ? { security: [] } : {}
  const get = { ...described, parameters: references, responses, ...security }
  if (path !== '/v1/convert') return { get }
  return { get, post: await describeManyConversions(headers, samples, refusals) }
}

function refusalsOf(generation: Generation): Record<number, object> {
  return {
    401: reference('responses', `${generation}Unauthorized`),
    403: reference('responses', `${generation}Forbidden`),
    429: reference('responses', `${generation}RateLimited`),
  }
}

function bodySchemas({ bodies, csv }: Operation): Schemas {
  const json = oneOf(bodies.map((name) => reference('schemas', name)))
  return csv ? { json, csv: oneOf(csv) } : { json }
}

function oneOf(schemas: readonly object[]): object {
  const [only, ...others] = schemas
  return only && others.length === 0 ? only : { oneOf: schemas }
}

function targetsOf({ path, examples }: Operation): string[] {
  return Object.values(examples).map((query) => path + query)
}

/** Fetches the examples of 200, including that of a service without data, and of 304. */
async function fetchExamples(operation: Operation, samples: Samples): Promise<Example[]> {
  const { path, examples, shorten } = operation
  const successes = await fetchAll(path, examples, samples)
  const [target = path] = targetsOf(operation)
  const unchanged = await samples.request(target, {
    header: (name) => (name === 'if-none-match' ? '*' : null),
  })
  const cold = await samples.requestWithoutData(target)
  return [
    ...successes.map((example) => ({ ...example, shorten })),
    ...(cold.status === 200 ? [{ name: 'withoutData', response: cold, shorten }] : []),
    ...(unchanged.status === 304 ? [{ name: 'unchanged', response: unchanged }] : []),
  ]
}

async function fetchAll(path: string, queries: object, samples: Samples): Promise<Example[]> {
  return Promise.all(
    Object.entries(queries).map(async ([name, query]) => {
      return { name, response: await samples.request(`${path}${query}`) }
    }),
  )
}
