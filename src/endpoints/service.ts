import { OPERATIONS } from '../api/parameters.ts'
import type { Operation } from '../api/parameters.ts'
import { serviceStatus } from '../api/status.ts'
import { loadOnce } from '../async.ts'
import type { Gate } from '../http/guard.ts'
import { createQueryParser } from '../http/query.ts'
import { bodyHeaders, represent, uncached, uncachedText } from '../http/response.ts'
import type { DataResult, Endpoint, Representation } from '../http/response.ts'
import { toDay } from '../rates/dates.ts'
import type { EndpointContext, Format } from './context.ts'

/** Returns `endpoint` with a check that the query has no unknown parameters. */
function withoutParameters(
  { keyNames }: EndpointContext,
  operation: Operation,
  endpoint: Endpoint,
): Endpoint {
  const parse = createQueryParser(operation, keyNames)
  return (query, request) => {
    parse(query)
    return endpoint(query, request)
  }
}

const DOCUMENTATION = 'https://www.npmjs.com/package/ratesmith'

/** Response of `/v1`. */
interface ServiceIndex {
  /** The path of every endpoint, by its name. */
  endpoints: Record<string, string>
  /** URL of the documentation. */
  documentation: string
}

export function index(
  context: EndpointContext,
  basePath: string,
  gate: Gate | undefined,
): Endpoint {
  const names = [
    'latest',
    'convert',
    'history',
    'currencies',
    'sources',
    'status',
    ...(gate?.hasUsage ? (['usage'] as const) : []),
    'openapi',
  ] as const
  const endpoints = Object.fromEntries(
    names.map((name) => [name, `${basePath}${OPERATIONS[name].path}`]),
  )
  const body: ServiceIndex = { endpoints, documentation: DOCUMENTATION }
  const headers = bodyHeaders({ lifetime: 'hour' })
  headers.push(['link', `<${endpoints['openapi']}>; rel="service-desc"`])
  const representation = represent(JSON.stringify(body), headers)
  return withoutParameters(context, OPERATIONS.index, constant(representation))
}

/** Creates `GET /api/v1/status`: 200 in every state. Starts due refreshes in the background, so that it warms up a cold handler. */
export function status(context: EndpointContext): Endpoint {
  const { sources, now } = context
  const endpoint: Endpoint = () => uncached(serviceStatus(sources, now()))
  return withoutParameters(context, OPERATIONS.status, endpoint)
}

/** Creates `GET /api/v1/usage`: what is left for the key of the request. */
export function usage(context: EndpointContext, gate: Gate): Endpoint {
  const endpoint: Endpoint = async (query, request) =>
    uncached(await gate.usage({ request, query }), ['cache-control', 'private, no-store'])
  return withoutParameters(context, OPERATIONS.usage, endpoint)
}

interface CurrenciesQuery {
  symbols?: readonly string[] | undefined
  format?: Format
}

export function currencies({ sources, now, keyNames }: EndpointContext): Endpoint {
  const parse = createQueryParser<CurrenciesQuery>(OPERATIONS.currencies, keyNames)
  const load = loadOnce(async () => import('../api/currencies.ts'))
  let last: { data: readonly unknown[]; made: Record<string, Representation> } = {
    data: [],
    made: {},
  }

  return async (query, request) => {
    const { params, key } = parse(query)
    const { format: form = 'json', symbols } = params
    const { currenciesCsv, loadCurrencyData, toCurrencyList } = await load()
    const both = await loadCurrencyData(sources, request)
    const write = (): string => {
      const list = toCurrencyList(both, toDay(now()), symbols)
      return form === 'csv' ? currenciesCsv(list) : JSON.stringify(list)
    }
    const results = [both.latest, both.history].filter((result) => result !== null)
    const known = results.filter((result) => result !== undefined)
    // Unknown coverage may be known at the next request.
    if (known.length < results.length) return uncachedText(write(), form)
    const freshness = {
      hit: known.every(({ hit }) => hit),
      ttl: Math.min(...known.map(({ ttl }) => ttl)),
    }
    const data = [both.latest?.value, both.history?.value]
    // The covered codes change with the data, and hardly ever with the day; those of a fallback table expire separately.
    const isCached = !both.latest?.value.fallback && !both.publications && !symbols
    if (data.some((value, position) => value !== last.data[position])) last = { data, made: {} }
    const made = isCached ? last.made : {}
    const headers = bodyHeaders({ form, lifetime: 'minute' })
    const representation = (made[key] ??= represent(write(), headers))
    return { representation, freshness }
  }
}

export function referenceSources(context: EndpointContext): Endpoint {
  const { sources, now } = context
  const endpoint = lazyEndpoint(async () => {
    const { sourceList } = await import('../api/sources.ts')
    return async () => uncached(await sourceList(sources, now))
  })
  return withoutParameters(context, OPERATIONS.sources, endpoint)
}

export function openapi(
  context: EndpointContext,
  basePath: string,
  gate: Gate | undefined,
): Endpoint {
  const endpoint = lazyEndpoint(async () => {
    const { default: document } = await import('../generated/openapi.json', {
      with: { type: 'json' },
    })
    const described = gate
      ? (await import('./openapi-access.ts')).withAccess(document, gate.keyRules)
      : document
    const body = JSON.stringify({ ...described, servers: [{ url: basePath || '/' }] })
    return constant(represent(body, bodyHeaders({ lifetime: 'hour' })))
  })
  return withoutParameters(context, OPERATIONS.openapi, endpoint)
}

export function explorerPage(basePath: string): Endpoint {
  return lazyEndpoint(async () => {
    const { contentSecurityPolicy, html } = await import('../generated/explorer-page.ts')
    const headers = bodyHeaders({ form: 'html', lifetime: 'checked' })
    headers.push(
      ['content-security-policy', contentSecurityPolicy],
      ['referrer-policy', 'no-referrer'],
    )
    const root = basePath.replaceAll('&', '&amp;')
    return constant(represent(html.replaceAll('{base}', root), headers))
  })
}

export function explorerScript(): Endpoint {
  return lazyEndpoint(async () => {
    const { script } = await import('../generated/explorer-api.ts')
    return constant(represent(script, bodyHeaders({ form: 'js', lifetime: 'checked' })))
  })
}

function constant(representation: Representation): () => DataResult {
  return () => ({ representation })
}

/** Creates an endpoint whose code `load` imports on the first request; retries a failed import on the next request. */
export function lazyEndpoint(load: () => Promise<Endpoint>): Endpoint {
  const loaded = loadOnce(load)
  return async (query, request) => (await loaded())(query, request)
}
