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

/** All response headers, by component name. */
const HEADERS: Record<string, NamedHeader> = {
  CacheOneMinute: header('Cache-Control', 'Cacheable for 60 seconds.', cacheable('minute')),
  CacheOneHour: header('Cache-Control', 'Cacheable for one hour.', cacheable('hour')),
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
    maximum: 300,
  }),
  NoSniff: header('X-Content-Type-Options', 'Disables media type sniffing.', constant('nosniff')),
  AllowOrigin: open('Access-Control-Allow-Origin'),
  ExposeHeaders: open('Access-Control-Expose-Headers'),
  ResourcePolicy: open('Cross-Origin-Resource-Policy'),
}

function header(name: string, description: string, schema: Schema, required = true): NamedHeader {
  return { name, description, required, schema }
}

function open(name: string): NamedHeader {
  const description =
    'Allows scripts of any origin to read the response, unless the operator configures otherwise.'
  return header(
    name,
    description,
    constant(valueOf(name.toLowerCase(), createCors('*').constant)),
    false,
  )
}

function cacheable(lifetime: 'minute' | 'hour'): Schema {
  return constant(valueOf('cache-control', bodyHeaders({ lifetime })))
}

function constant(value: string | undefined): Schema {
  return { type: 'string', const: value }
}

function matching(pattern: string): Schema {
  return { type: 'string', pattern: `^${pattern}$` }
}

/** Returns the value of the header `name`, which is in lower case. */
function valueOf(name: string, headers: readonly Header[]): string | undefined {
  return headers.find(([each]) => each === name)?.[1]
}

/** Returns the Header Objects of the document, by name. */
export function headerComponents(): Record<string, object> {
  const entries = Object.entries(HEADERS).map(([id, { description, required, schema }]) => {
    return [id, { description, required, schema }]
  })
  return Object.fromEntries(entries)
}

/** Describes the headers of responses with one status; `lists` has the headers of each response. */
export function describeHeaders(lists: readonly Header[][]): Record<string, object> {
  const names = new Set(lists.flat().map(([name]) => name))
  for (const name of ['content-type', 'content-length']) names.delete(name)
  const valuesOf = (name: string) => lists.map((list) => valueOf(name, list))
  return Object.fromEntries([...names].map((name) => describeHeader(name, valuesOf(name))))
}

/** `values` has the value in each response, or undefined for a response without the header. */
function describeHeader(
  lowerCase: string,
  values: (string | undefined)[],
): [name: string, header: object] {
  const sent = new Set(values)
  const isMissing = sent.delete(undefined)
  const fitting = Object.entries(HEADERS).filter(([, { name, schema }]) => {
    if (name.toLowerCase() !== lowerCase) return false
    return !('const' in schema) || [...sent].some((value) => value === schema['const'])
  })
  const [first, ...others] = fitting
  if (!first) throw new Error(`no description of the header ${lowerCase}: ${values.join()}`)
  const [id, { name, ...described }] = first
  const required = described.required && !isMissing
  if (others.length > 0) {
    const description = fitting.map(([, each]) => each.description).join(' Or: ')
    return [name, { description, required, schema: { type: 'string', enum: [...sent] } }]
  }
  const isShared = required === described.required
  return [name, isShared ? reference('headers', id) : { ...described, required }]
}
