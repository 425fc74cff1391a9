import type { Header } from '../../src/http/messages.ts'
import { createCors } from '../../src/http/cors.ts'
import { bodyHeaders } from '../../src/http/response.ts'
import { reference } from './type-schemas.ts'
import type { Schema } from './type-schemas.ts'

/** A Header Object and the name of the header. */
interface NamedHeader {
  name: string
  description: string
  /** Whether every described response has the header. */
  required: boolean
  schema: Schema
}

const DATE = '[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT'
const LINK = '<[^>]+>; rel="via"; title\\*?=.+'
const DOCUMENT_LINK = '<[^>]+>; rel="service-desc"'
const CACHE_STATUS = 'rates; (fwd=miss|hit; ttl=(-[0-9]+; detail=stale|[0-9]+))'

/** The longest month, in seconds: a monthly limit ends with it. */
const MAX_RETRY_AFTER_SECONDS = 31 * 86_400

export type HeaderTable = ReturnType<typeof createHeaderTable>

/** Creates the Header Objects of responses; with `hasAccess` those of a handler with keys and limits. */
export function createHeaderTable(hasAccess: boolean) {
  const table = { ...headersOf(hasAccess), ...(hasAccess && ACCESS_HEADERS) }
  const components: Record<string, object> = {}
  return {
    /** Those that responses share, by component name. */
    components,
    /** Describes the headers of responses with one status; `lists` has the headers of each response. */
    describe(lists: readonly Header[][]): Record<string, object> {
      const names = new Set(lists.flat().map(([name]) => name))
      for (const name of ['content-type', 'content-length']) names.delete(name)
      const described = [...names].map((lowerCase) => {
        const { id, name, ...header } = describeHeader(table, lowerCase, lists)
        if (id === undefined) return [name, header]
        components[id] = header
        return [name, reference('headers', id)]
      })
      return Object.fromEntries(described)
    },
  }
}

const ACCESS_HEADERS: Record<string, NamedHeader> = {
  PrivateNoStore: header(
    'Cache-Control',
    'Not cacheable: about one key.',
    constant('private, no-store'),
  ),
  WWWAuthenticate: header('WWW-Authenticate', 'How to send a key (RFC 6750).', {
    type: 'string',
    pattern: '^Bearer',
  }),
  RateLimitPolicy: header(
    'RateLimit-Policy',
    'The limits of the client: quota `q` per window of `w` seconds; a limit without `w` is per calendar month, in UTC. Never on a response that shared caches may store.',
    matching(listOf('q=[0-9]+(;w=[0-9]+)?')),
    false,
  ),
  RateLimit: header(
    'RateLimit',
    'What is left of each limit: `r` requests. After `t` seconds the whole quota is available again, or after a 429 the refused request.',
    matching(listOf('r=[0-9]+(;t=[0-9]+)?')),
    false,
  ),
  Vary: header(
    'Vary',
    'Request headers that the response depends on.',
    { type: 'string', pattern: 'Authorization, X-API-Key' },
    false,
  ),
}

/** Returns the pattern of a list of named items with parameters (RFC 9651). */
function listOf(parameters: string): string {
  const item = `"[a-z]+";${parameters}`
  return `${item}(, ${item})*`
}

function headersOf(hasAccess: boolean): Record<string, NamedHeader> {
  const cors = createCors('*', hasAccess).constant
  const allowed =
    'Allows scripts of any origin to read the response, unless the operator configures otherwise.'
  const open = (name: string): NamedHeader =>
    header(name, allowed, constant(valueOf(name.toLowerCase(), cors)), false)
  const cache = (lifetime: 'minute' | 'hour' | 'day', description: string): NamedHeader => {
    const value = valueOf('cache-control', bodyHeaders({ lifetime })) ?? ''
    if (!hasAccess) return header('Cache-Control', description, constant(value))
    const either = { type: 'string', enum: [value, value.replace(/^public/, 'private')] }
    return header('Cache-Control', `${description} Private if the request had a key.`, either)
  }
  return {
    CacheOneMinute: cache('minute', 'Cacheable for 60 seconds.'),
    CacheOneHour: cache('hour', 'Cacheable for one hour.'),
    CacheOneDay: cache('day', 'Cacheable for one day.'),
    NoStore: header('Cache-Control', 'Not cacheable.', constant('no-store')),
    ETag: header('ETag', 'Changes if and only if the body changes.', matching('"[^"]+"')),
    WeakETag: header('ETag', 'Changes with the newest month.', matching('W/"[^"]+"')),
    LastModified: header('Last-Modified', 'When the provider published the rates.', matching(DATE)),
    CacheStatus: header(
      'Cache-Status',
      'Origin of the data (RFC 9211). A refresh is due in `ttl` seconds.',
      matching(CACHE_STATUS),
    ),
    Link: header(
      'Link',
      'Source of the rates, with CSV and lines (RFC 8288).',
      matching(LINK),
      false,
    ),
    DocumentLink: header('Link', 'The OpenAPI document (RFC 8631).', matching(DOCUMENT_LINK)),
    RetryAfter: header('Retry-After', 'How long to wait before the next request, in seconds.', {
      type: 'integer',
      minimum: 1,
      maximum: hasAccess ? MAX_RETRY_AFTER_SECONDS : 300,
    }),
    NoSniff: header('X-Content-Type-Options', 'Disables media type sniffing.', constant('nosniff')),
    AllowOrigin: open('Access-Control-Allow-Origin'),
    ExposeHeaders: open('Access-Control-Expose-Headers'),
    ResourcePolicy: open('Cross-Origin-Resource-Policy'),
  }
}

function header(name: string, description: string, schema: Schema, required = true): NamedHeader {
  return { name, description, required, schema }
}

function constant(value: string | undefined): Schema {
  return { type: 'string', const: value }
}

function matching(pattern: string): Schema {
  return { type: 'string', pattern: `^${pattern}$` }
}

function valueOf(name: string, headers: readonly Header[]): string | undefined {
  return headers.find(([each]) => each === name)?.[1]
}

function describeHeader(
  table: Record<string, NamedHeader>,
  lowerCase: string,
  lists: readonly Header[][],
): NamedHeader & { id?: string } {
  const values = lists.map((list) => valueOf(lowerCase, list))
  const isMissing = values.includes(undefined)
  const fitting = Object.entries(table).filter(
    ([, { name, schema }]) =>
      name.toLowerCase() === lowerCase &&
      values.some((value) => value !== undefined && allows(schema, value)),
  )
  const [first, ...others] = fitting
  if (!first) throw new Error(`no description of the header ${lowerCase}: ${values.join()}`)
  const [id, header] = first
  // Only lines and CSV have the source in a link.
  const required = (header.required || lowerCase === 'link') && !isMissing
  if (others.length > 0) {
    const description = fitting.map(([, each]) => each.description).join(' Or: ')
    const known = fitting.flatMap(([, { schema }]) => valuesIn(schema))
    return { ...header, description, required, schema: { type: 'string', enum: known } }
  }
  return { ...header, required, ...(required === header.required && { id }) }
}

function allows(schema: Schema, value: string): boolean {
  const known = valuesIn(schema)
  if (known.length > 0) return known.includes(value)
  const { pattern } = schema
  return typeof pattern !== 'string' || new RegExp(pattern).test(value)
}

function valuesIn({ const: only, enum: several = [only] }: Schema): string[] {
  return [several].flat().filter((value) => typeof value === 'string')
}
