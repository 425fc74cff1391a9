import type { Header } from '../../src/http/messages.ts'
import { CORS_HEADERS, bodyHeaders } from '../../src/http/response.ts'
import { reference } from './type-schemas.ts'

/** A response header. */
interface HeaderForm {
  name: string
  description: string
  schema: { type: 'string' | 'integer'; [keyword: string]: unknown }
  /** Whether every described response has the header (default true). */
  required?: boolean
}

const DATE = '[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9:]{8} GMT'
const CACHE_STATUS = 'rates; (fwd=miss|hit; ttl=(-[0-9]+; detail=stale|[0-9]+))'

/** All response headers, by component name. */
const headerForms: Record<string, HeaderForm> = {
  CacheOneMinute: cacheable('Cacheable for 60 seconds.', 'minute'),
  CacheOneHour: cacheable('Cacheable for one hour.', 'hour'),
  NoStore: { name: 'Cache-Control', description: 'Not cacheable.', schema: constant('no-store') },
  ETag: textHeader('ETag', 'Changes if and only if the body changes.', '"[^"]+"'),
  LastModified: textHeader('Last-Modified', 'When the provider published the rates.', DATE),
  CacheStatus: textHeader(
    'Cache-Status',
    'Origin of the data (RFC 9211). A refresh is due in `ttl` seconds.',
    CACHE_STATUS,
  ),
  Link: {
    ...textHeader(
      'Link',
      'Source of the rates, with CSV only (RFC 8288).',
      '<[^>]+>; rel="via"; title\\*?=.+',
    ),
    required: false,
  },
  RetryAfter: {
    name: 'Retry-After',
    description: 'How long to wait before the next request, in seconds.',
    schema: { type: 'integer', minimum: 1, maximum: 300 },
  },
  NoSniff: {
    name: 'X-Content-Type-Options',
    description: 'Disables media type sniffing.',
    schema: constant('nosniff'),
  },
  AllowOrigin: open('Access-Control-Allow-Origin'),
  ExposeHeaders: open('Access-Control-Expose-Headers'),
  ResourcePolicy: open('Cross-Origin-Resource-Policy'),
}

const CONTENT_HEADERS = ['content-type', 'content-length']

/** Returns the Header Objects of the document, by name. */
export function headerComponents(): Record<string, object> {
  const entries = Object.entries(headerForms).map(([id, form]) => [id, headerObject(form)])
  return Object.fromEntries(entries)
}

/** Describes the headers of responses with one status; `lists` has the headers of each response. */
export function describeHeaders(lists: readonly Header[][]): Record<string, object> {
  const names = new Set(lists.flat().map(([name]) => name))
  const entries = [...names]
    .filter((name) => !CONTENT_HEADERS.includes(name))
    .map((name) => {
      return describeHeader(
        name,
        lists.map((list) => valueOf(name, list)),
      )
    })
  return Object.fromEntries(entries)
}

/** `values` has the value in each response, or undefined for a response without the header. */
function describeHeader(
  name: string,
  values: (string | undefined)[],
): [name: string, header: object] {
  const sent = [...new Set(values)].filter((value) => value !== undefined)
  const [[id, form], ...others] = findForms(name, sent)
  const required = (form.required ?? true) && !values.includes(undefined)
  if (others.length > 0) {
    const description = [form, ...others.map(([, other]) => other)].map((each) => each.description)
    const schema: HeaderForm['schema'] = { type: 'string', enum: sent }
    return [form.name, { description: description.join(' Or: '), required, schema }]
  }
  const isShared = required === (form.required ?? true)
  return [form.name, isShared ? reference('headers', id) : headerObject({ ...form, required })]
}

type Found = [id: string, form: HeaderForm]

function findForms(name: string, values: string[]): [Found, ...Found[]] {
  const [first, ...others] = Object.entries(headerForms).filter(([, form]) => {
    const value = form.schema['const']
    const fits = value === undefined || values.some((sent) => sent === value)
    return form.name.toLowerCase() === name && fits
  })
  if (!first) throw new Error(`no description of the header ${name}: ${values.join()}`)
  return [first, ...others]
}

function headerObject({ description, schema, required = true }: HeaderForm): object {
  return { description, required, schema }
}

/** Returns the value of the header `name`, which is in lower case. */
export function valueOf(name: string, headers: readonly Header[]): string | undefined {
  return headers.find(([each]) => each === name)?.[1]
}

function textHeader(name: string, description: string, pattern: string): HeaderForm {
  return { name, description, schema: { type: 'string', pattern: `^${pattern}$` } }
}

function cacheable(description: string, lifetime: 'minute' | 'hour'): HeaderForm {
  const value = valueOf('cache-control', bodyHeaders({ lifetime }))
  return { name: 'Cache-Control', description, schema: constant(value) }
}

function open(name: string): HeaderForm {
  const description =
    'Allows scripts of any origin to read the response, unless the operator configures otherwise.'
  const schema = constant(valueOf(name.toLowerCase(), CORS_HEADERS))
  return { name, description, schema, required: false }
}

function constant(value: string | undefined): HeaderForm['schema'] {
  return { type: 'string', const: value }
}
