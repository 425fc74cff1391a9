import type { Header } from '../http/raw.ts'
import { CORS_HEADERS } from '../http/cors.ts'
import { bodyHeaders } from '../http/representation.ts'

/** A header of answers. */
export interface HeaderForm {
  name: string
  description: string
  schema: { type: 'string' | 'integer'; [keyword: string]: unknown }
  /** Whether no answer of which it is told lacks it (default true). */
  required?: boolean
}

const DATE = '[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT'
const CACHE_STATUS = 'rates; (fwd=miss|hit; ttl=(-[0-9]+; detail=stale|[0-9]+))'

/** What answers may have beside their body, by the names of the components. */
export const headerForms: Record<string, HeaderForm> = {
  CacheForAMinute: kept('May be kept for 60 seconds.', 'minute'),
  CacheForAnHour: kept('May be kept for an hour.', 'hour'),
  NoStore: { name: 'Cache-Control', description: 'Not to be kept.', schema: constant('no-store') },
  ETag: textHeader('ETag', 'Changes when the body changes, and only then.', '"[^"]+"'),
  LastModified: textHeader('Last-Modified', 'When the provider published.', DATE),
  CacheStatus: textHeader(
    'Cache-Status',
    'Where the data came from (RFC 9211); they are due to be refreshed in `ttl` seconds.',
    CACHE_STATUS,
  ),
  Link: {
    ...textHeader(
      'Link',
      'With CSV, where it comes from (RFC 8288).',
      '<[^>]+>; rel="via"; title\\*?=.+',
    ),
    required: false,
  },
  RetryAfter: {
    name: 'Retry-After',
    description: 'How long to wait before asking again, in seconds.',
    schema: { type: 'integer', minimum: 1, maximum: 300 },
  },
  NoSniff: {
    name: 'X-Content-Type-Options',
    description: 'The body is what it is said to be.',
    schema: constant('nosniff'),
  },
  AllowOrigin: open('Access-Control-Allow-Origin'),
  ExposeHeaders: open('Access-Control-Expose-Headers'),
  ResourcePolicy: open('Cross-Origin-Resource-Policy'),
}

/** The value of a header by its lower-case name. */
export function valueOf(name: string, headers: readonly Header[]): string | undefined {
  return headers.find(([each]) => each === name)?.[1]
}

function textHeader(name: string, description: string, pattern: string): HeaderForm {
  return { name, description, schema: { type: 'string', pattern: `^${pattern}$` } }
}

function kept(description: string, lifetime: 'minute' | 'hour'): HeaderForm {
  const value = valueOf('cache-control', bodyHeaders({ lifetime }))
  return { name: 'Cache-Control', description, schema: constant(value) }
}

function open(name: string): HeaderForm {
  const description = 'Lets scripts of any origin read, unless the operator says otherwise.'
  const schema = constant(valueOf(name.toLowerCase(), CORS_HEADERS))
  return { name, description, schema, required: false }
}

function constant(value: string | undefined): HeaderForm['schema'] {
  return { type: 'string', const: value }
}
