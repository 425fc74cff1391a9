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
const CACHE_STATUS = 'rates; (fwd=miss|hit; ttl=(-[0-9]+; detail=stale|[0-9]+))'
const LINK = '<[^>]+>; rel="via"; title\\*?=.+'

/** The longest month, in seconds: a monthly limit ends with it. */
const MAX_RETRY_AFTER_SECONDS = 31 * 86_400

/** Describes all response headers, by component name. */
export interface HeaderTable {
  /** Returns the Header Objects of the document. */
  components(): Record<string, object>
  /** Describes the headers of responses with one status; `lists` has the headers of each response. */
  describe(lists: readonly Header[][]): Record<string, object>
}

/** Creates the descriptions of headers, with `hasAccess` those of a handler with keys and limits. */
export function createHeaderTable(hasAccess: boolean): HeaderTable {
  const table = { ...headersOf(hasAccess), ...(hasAccess && ACCESS_HEADERS) }
  return {
    components: () => headerComponents(table),
    describe: (lists) => describeHeaders(table, lists),
  }
}

const ACCESS_HEADERS: Record<string, NamedHeader> = {
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
  const cache = (lifetime: 'minute' | 'hour', description: string): NamedHeader =>
    header(
      'Cache-Control',
      hasAccess ? `${description} Private if the request had a key.` : description,
      cacheable(lifetime, hasAccess),
    )
  return {
    CacheOneMinute: cache('minute', 'Cacheable for 60 seconds.'),
    CacheOneHour: cache('hour', 'Cacheable for one hour.'),
    NoStore: header('Cache-Control', 'Not cacheable.', constant('no-store')),
    ETag: header('ETag', 'Changes if and only if the body changes.', matching('"[^"]+"')),
    LastModified: header('Last-Modified', 'When the provider published the rates.', matching(DATE)),
    CacheStatus: header(
      'Cache-Status',
      'Origin of the data (RFC 9211). A refresh is due in `ttl` seconds.',
      matching(CACHE_STATUS),
    ),
    Link: header('Link', 'Source of the rates, with CSV only (RFC 8288).', matching(LINK), false),
    RetryAfter: header('Retry-After', 'How long to wait before the next request, in seconds.', {
      type: 'integer',
      minimum: 1,
      maximum: hasAccess ? MAX_RETRY_AFTER_SECONDS : 300,
    }),
    NoSniff: header('X-Content-Type-Options', 'Disables media type sniffing.', constant('nosniff')),
    AllowOrigin: open('Access-Control-Allow-Origin', hasAccess),
    ExposeHeaders: open('Access-Control-Expose-Headers', hasAccess),
    ResourcePolicy: open('Cross-Origin-Resource-Policy', hasAccess),
  }
}

function header(name: string, description: string, schema: Schema, required = true): NamedHeader {
  return { name, description, required, schema }
}

function open(name: string, hasAccess: boolean): NamedHeader {
  const description =
    'Allows scripts of any origin to read the response, unless the operator configures otherwise.'
  return header(
    name,
    description,
    constant(valueOf(name.toLowerCase(), createCors('*', hasAccess).constant)),
    false,
  )
}

function cacheable(lifetime: 'minute' | 'hour', hasAccess: boolean): Schema {
  const value = valueOf('cache-control', bodyHeaders({ lifetime }))
  if (!hasAccess) return constant(value)
  return { type: 'string', enum: [value, value?.replace(/^public/, 'private')] }
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

function headerComponents(table: Record<string, NamedHeader>): Record<string, object> {
  const entries = Object.entries(table).map(([id, { description, required, schema }]) => {
    return [id, { description, required, schema }]
  })
  return Object.fromEntries(entries)
}

function describeHeaders(
  table: Record<string, NamedHeader>,
  lists: readonly Header[][],
): Record<string, object> {
  const names = new Set(lists.flat().map(([name]) => name))
  for (const name of ['content-type', 'content-length']) names.delete(name)
  const valuesOf = (name: string) => lists.map((list) => valueOf(name, list))
  return Object.fromEntries([...names].map((name) => describeHeader(table, name, valuesOf(name))))
}

/** `values` has the value in each response, or undefined for a response without the header. */
function describeHeader(
  table: Record<string, NamedHeader>,
  lowerCase: string,
  values: (string | undefined)[],
): [name: string, header: object] {
  const sent = new Set(values)
  const isMissing = sent.delete(undefined)
  const fitting = Object.entries(table).filter(([, { name, schema }]) => {
    if (name.toLowerCase() !== lowerCase) return false
    const values = valuesIn(schema)
    return values.length === 0 || values.some((value) => sent.has(value))
  })
  const [first, ...others] = fitting
  if (!first) throw new Error(`no description of the header ${lowerCase}: ${values.join()}`)
  const [id, { name, ...described }] = first
  const required = described.required && !isMissing
  if (others.length > 0) {
    const description = fitting.map(([, each]) => each.description).join(' Or: ')
    const values = fitting.flatMap(([, { schema }]) => valuesIn(schema))
    return [name, { description, required, schema: { type: 'string', enum: values } }]
  }
  const isShared = required === described.required
  return [name, isShared ? reference('headers', id) : { ...described, required }]
}

function valuesIn(schema: Schema): string[] {
  const { const: only, enum: several = [only] } = schema
  return [several].flat().filter((value) => typeof value === 'string')
}
