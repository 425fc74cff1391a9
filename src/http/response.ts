import { digestOf } from '../digest.ts'
import type { RatesError } from '../errors.ts'
import { FetchRawRequest } from './messages.ts'
import type { EndpointResponse, Header, RawRequest, RawResponse, StreamedBody } from './messages.ts'

const encoder = new TextEncoder()

/** Keeps a byte order mark. All bodies with headers that repeat are text. */
const exactText = new TextDecoder('utf-8', { ignoreBOM: true })

type WholeBody = Exclude<RawResponse['body'], StreamedBody>

/** `Uint8Array<ArrayBuffer>`, in a notation that TypeScript before 5.7 also accepts. */
type Bytes = ReturnType<typeof Uint8Array.of>

/** Values of `Cache-Control`. Never `s-maxage`: it forbids shared caches to serve stale responses (RFC 9111 §5.2.2.10). */
const LIFETIMES = {
  minute: 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400',
  hour: 'public, max-age=3600, stale-while-revalidate=3600, stale-if-error=604800',
  day: 'public, max-age=86400, stale-while-revalidate=86400, stale-if-error=604800',
  // Caches revalidate before every use.
  checked: 'no-cache',
}

const FORMS = {
  json: 'application/json; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  // RFC 4180 §3
  csv: 'text/csv; charset=utf-8; header=present',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}

/** Measured on Node; other runtimes send text as fast as bytes. */
const MAX_TEXT_BYTES = 16_000

const JSON_HEADERS: readonly Header[] = /* @__PURE__ */ formHeaders('json')

export interface BodyOptions {
  form?: keyof typeof FORMS
  lifetime: keyof typeof LIFETIMES
  /** Publication time, ms since the Unix epoch; must not be later than the clock (RFC 9110 §8.8.2.1). */
  lastModified?: number
}

interface Freshness {
  hit: boolean
  /** Whole seconds until the next refresh; negative if it is overdue. */
  ttl: number
}

export interface Representation {
  readonly body: Bytes | string
  /** Content type, caching and `Last-Modified`. */
  readonly bodyHeaders: readonly Header[]
  readonly etag: Header
  readonly length: Header
  /** All headers of the last response, reused while the freshness is the same. */
  sent?: Freshness & { headers: Header[] }
}

export function bodyHeaders({ form = 'json', lifetime, lastModified }: BodyOptions): Header[] {
  const headers: Header[] = [...formHeaders(form), ['cache-control', LIFETIMES[lifetime]]]
  if (lastModified !== undefined) {
    headers.push(['last-modified', new Date(lastModified).toUTCString()])
  }
  return headers
}

function formHeaders(form: keyof typeof FORMS): Header[] {
  return [
    ['content-type', FORMS[form]],
    ['x-content-type-options', 'nosniff'],
  ]
}

export function represent(
  body: Representation['body'],
  headers: readonly Header[],
): Representation {
  // A server would copy a long text for each response.
  const shared = typeof body === 'string' && body.length > MAX_TEXT_BYTES ? toBytes(body) : body
  return {
    body: shared,
    bodyHeaders: headers,
    etag: ['etag', entityTag(body)],
    length: lengthHeader(byteLength(shared)),
  }
}

export function lengthHeader(bytes: number): Header {
  return ['content-length', String(bytes)]
}

export function byteLength(body: Uint8Array | string): number {
  // Encoding takes several times longer.
  return typeof body === 'string' && !IS_ASCII.test(body) ? toBytes(body).length : body.length
}

const IS_ASCII = /^[\x20-\x7e\r\n]*$/

/** Returns `bytes` in the form that is fastest to send: Node sends short text in one piece with the headers. */
export function toSendable(bytes: Bytes): Representation['body'] {
  return bytes.length <= MAX_TEXT_BYTES ? new TextDecoder().decode(bytes) : bytes
}

export function toBytes(text: string): Bytes {
  return encoder.encode(text)
}

export const ALLOW = 'GET, HEAD, OPTIONS'

const NO_STORE: Header = ['cache-control', 'no-store']

const UNCACHED_HEADERS: readonly Header[] = [...JSON_HEADERS, NO_STORE]

/** The result of a successful endpoint; `freshness` is absent for constant content. */
export interface DataResult {
  representation: Representation
  freshness?: Freshness
  /** What the response really took from the limits of a client, if that is less than expected. */
  cost?: number | undefined
}

const CONSTANT: Freshness = { hit: true, ttl: Infinity }

/** What an adapter makes of a list of headers that is sent repeatedly; made once. */
interface HeaderForms {
  /** Alternating names and values, for Node. */
  flat?: string[]
  headers?: Headers
  record?: Record<string, string>
  /** A response with `body`, to be cloned. */
  response?: Response
  body?: WholeBody
  /** The headers of private responses. */
  private?: Header[]
}

// By list, so that a list with other headers never has these forms. To add a new list takes longer than to make a form of it.
const forms = new WeakMap<readonly Header[], HeaderForms>()

export function flatHeaders(headers: readonly Header[]): string[] {
  const known = forms.get(headers)
  if (known?.flat) return known.flat
  // oxlint-disable-next-line unicorn/no-new-array -- a list that grows takes longer
  const flat = new Array<string>(2 * headers.length)
  let length = 0
  for (const header of headers) {
    flat[length++] = header[0]
    flat[length++] = header[1]
  }
  if (known) known.flat = flat
  return flat
}

/** Returns what `make` returns for a list of headers: its private form, always by the same function. */
export function privateHeaders(
  headers: Header[],
  make: (headers: readonly Header[]) => Header[],
): Header[] {
  const known = forms.get(headers)
  return known ? (known.private ??= make(headers)) : make(headers)
}

/** Creates a 200 response; `more` headers must be the same on every call for one representation. */
export function success(
  { representation, freshness = CONSTANT }: DataResult,
  more: readonly Header[],
): EndpointResponse {
  const { body, bodyHeaders, etag, length, sent } = representation
  const { hit, ttl } = freshness
  if (sent?.hit === hit && sent.ttl === ttl) {
    if (!forms.has(sent.headers)) forms.set(sent.headers, {})
    return { status: 200, headers: sent.headers, body }
  }
  const cache: Header[] = freshness === CONSTANT ? [] : [['cache-status', cacheStatus(freshness)]]
  const headers = [...bodyHeaders, etag, length, ...cache, ...more]
  representation.sent = { hit, ttl, headers }
  return { status: 200, headers, body }
}

export function uncached(record: object, caching: Header = NO_STORE): EndpointResponse {
  return uncachedText(JSON.stringify(record), 'json', caching)
}

export function uncachedText(
  body: Representation['body'],
  form: keyof typeof FORMS = 'json',
  caching: Header = NO_STORE,
): EndpointResponse {
  const headers: Header[] = [...formHeaders(form), caching, lengthHeader(byteLength(body))]
  return { status: 200, headers, body }
}

/** Returns whether `response` meets `ifMatch` (entity tags, or `*`; RFC 9110 §13.1.1); true without a list. */
export function meetsIfMatch(
  { headers }: EndpointResponse,
  ifMatch: string | null | undefined,
): boolean {
  return !ifMatch || isMatch(ifMatch, tagOf(headers), 'strong')
}

export function revalidated<Kind extends EndpointResponse>(
  response: Kind,
  ifNoneMatch: string | null | undefined,
): Kind {
  if (!ifNoneMatch) return response
  const tag = tagOf(response.headers)
  if (!tag || !isMatch(ifNoneMatch, tag, 'weak')) return response
  // `Content-Length` would describe a body that is not sent (RFC 9110 §15.4.5).
  const headers = response.headers.filter(([name]) => name !== 'content-length')
  return { ...response, status: 304, headers, body: null }
}

/** Returns `headers` with `names` in its only `Vary`: some hosts send the last of several headers with one name. */
export function withVary(headers: readonly Header[], names: string): Header[] {
  const index = headers.findIndex(([name]) => name === 'vary')
  const before = headers[index]?.[1]
  const vary: Header = ['vary', before === undefined ? names : `${before}, ${names}`]
  return index < 0 ? [...headers, vary] : headers.with(index, vary)
}

function tagOf(headers: readonly Header[]): string {
  return headers.find(([name]) => name === 'etag')?.[1] ?? ''
}

export function options(allow: string): EndpointResponse {
  const headers: Header[] = [
    ['allow', allow],
    ['x-content-type-options', 'nosniff'],
  ]
  return { status: 204, headers, body: null }
}

export function failure(
  error: RatesError,
  record: object,
  allow: string = ALLOW,
): EndpointResponse {
  const body = JSON.stringify(record)
  const headers: Header[] = [...UNCACHED_HEADERS, lengthHeader(byteLength(body))]
  if (error.code === 'method_not_allowed') headers.push(['allow', allow])
  // RFC 6750 §3
  if (error.code === 'unauthorized') headers.push(['www-authenticate', 'Bearer'])
  if (error.retryAfter !== undefined) headers.push(['retry-after', String(error.retryAfter)])
  return { status: error.status, headers, body }
}

// RFC 9211
function cacheStatus({ hit, ttl }: Freshness): string {
  if (!hit) return 'rates; fwd=miss'
  return ttl < 0 ? `rates; hit; ttl=${ttl}; detail=stale` : `rates; hit; ttl=${ttl}`
}

/** RFC 8288; `via`: https://www.rfc-editor.org/rfc/rfc4287#section-4.2.7.2 */
export function viaLink({ name, url }: { name: string; url: string }): Header[] {
  return [['link', `<${new URL(url).href}>; rel="via"; ${titleOf(name)}`]]
}

// RFC 8187 encodes titles that are not printable ASCII.
function titleOf(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return `title="${name.replace(/["\\]/g, '\\$&')}"`
  const whole = name.replace(/\p{Cs}/gu, '\ufffd')
  return `title*=UTF-8''${encodeURIComponent(whole).replace(/['()*]/g, toPercent)}`
}

function toPercent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`
}

/** Returns a strong entity tag for `body`; the same body has the same tag on every runtime. */
export function entityTag(body: Uint8Array | string): string {
  return `"${digestOf(body)}"`
}

/** Returns whether `list` (entity tags, or `*`) contains `tag`, by a comparison of RFC 9110 §8.8.3.2. */
function isMatch(list: string, tag: string, comparison: 'weak' | 'strong'): boolean {
  if (list.trim() === '*') return true
  const plain = comparison === 'weak' ? tag.replace(/^W\//, '') : tag
  for (const [, weakness, listed] of list.matchAll(/(W\/)?("[^"]*")/g)) {
    if (listed === plain && (comparison === 'weak' || weakness === undefined)) return true
  }
  return false
}

/** Deno sends longer bodies as streams: only then does its server report when the client has received the body. */
const LARGE_BODY_BYTES = 65_536

type ResponseClass = new (
  body: WholeBody | ReadableStream<Bytes>,
  init: { status: number; headers: Record<string, string> },
) => Response

/**
 * Creates a function that turns a raw response into a `Response`. Node's own copies every body slowly, except a stream of one
 * chunk; on other runtimes a stream is the slowest form, and on Deno the clone of a text the fastest.
 */
function createResponseFactory(): (response: RawResponse) => Response {
  // The user agent is reliable: runtimes that imitate Node identify themselves in it.
  const userAgent = globalThis.navigator?.userAgent ?? ''
  const isNode = userAgent.startsWith('Node.js/')
  const isDeno = userAgent.startsWith('Deno/')
  const streamsFrom = isNode ? 0 : isDeno ? LARGE_BODY_BYTES : Infinity

  return ({ status, headers, body: given }) => {
    const body = isStreamed(given) ? toReadable(given) : given
    const known = forms.get(headers)
    const Light = isNode ? lighterResponse() : undefined
    if (Light) {
      const headerRecord = known ? (known.record ??= toRecord(headers)) : toRecord(headers)
      return new Light(body, { status, headers: headerRecord })
    }
    // The platform takes a `Headers` object faster than a list.
    const all = known ? (known.headers ??= new Headers(headers)) : headers
    const init = { status, headers: all }
    if (body instanceof ReadableStream) return new Response(body, init)
    if (body !== null && body.length > streamsFrom) return new Response(toStream(body), init)
    if (!known || !isDeno) return new Response(body, init)
    if (!known.response || known.body !== body) {
      // As text: clones of bytes share them, and a reader that changes or transfers them would change later responses.
      known.response = new Response(
        body instanceof Uint8Array ? exactText.decode(body) : body,
        init,
      )
      known.body = body
    }
    return known.response.clone()
  }
}

/** Returns the global `Response` if a server has replaced it by a lighter class, which inherits from the platform's. */
function lighterResponse(): ResponseClass | undefined {
  const { Response: Global } = globalThis
  return Object.getPrototypeOf(Global) === Function.prototype ? undefined : Global
}

/** The form in which lighter classes take headers fastest. */
function toRecord(headers: readonly Header[]): Record<string, string> {
  const record: Record<string, string> = {}
  for (const [name, value] of headers) {
    const before = record[name]
    record[name] = before === undefined ? value : `${before}, ${value}`
  }
  return record
}

/** Returns a fetch-style handler. Hosts pass a second argument, of which only the client's address is read. */
export function toFetchStyle(
  answer: (request: RawRequest) => RawResponse | Promise<RawResponse>,
): (request: Request) => Promise<Response> {
  const respond = toResponder(answer)
  return async (request, ...[info]: unknown[]) => respond(request, info)
}

/** Does the same for hosts that take responses without a promise: it returns one only where it has to wait. */
export function toResponder(
  answer: (request: RawRequest) => RawResponse | Promise<RawResponse>,
  unsentBytes?: RawRequest['unsentBytes'],
): (request: Request, info: unknown) => Response | Promise<Response> {
  const render = createResponseFactory()
  return (request, info) => {
    const response = answer(new FetchRawRequest(request, info, unsentBytes))
    return response instanceof Promise ? response.then(render) : render(response)
  }
}

/** Returns whether a body comes in parts. */
export function isStreamed(body: EndpointResponse['body']): body is StreamedBody {
  return typeof body === 'object' && body !== null && !(body instanceof Uint8Array)
}

/** Reads a part when one is requested. */
function toReadable(body: StreamedBody): ReadableStream<Bytes> {
  const parts = body[Symbol.asyncIterator]()
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const { done, value } = await parts.next()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await parts.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

function toStream(body: Bytes | string): ReadableStream<Bytes> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(typeof body === 'string' ? toBytes(body) : body)
      controller.close()
    },
  })
}

export type EndpointResult = DataResult | (EndpointResponse & Pick<DataResult, 'cost'>)

export type RequestContext = Pick<RawRequest, 'signal' | 'unsentBytes'>

/** `query` is raw, without `?`; `request.signal` ends the wait for data. Returns a promise only if it has to wait. */
export type Endpoint = (
  query: string,
  request: RawRequest,
) => EndpointResult | Promise<EndpointResult>

export type PostEndpoint = (query: string, request: RawRequest) => Promise<EndpointResult>

export interface EndpointGroup {
  endpoints: Readonly<Record<string, Endpoint>>
  /** The endpoints that also take a `POST`, by the same paths (default none). */
  posts?: Readonly<Record<string, PostEndpoint>>
  /** What requests take from the limits of a client, by the same paths: 0 for endpoints without a guard (default 1). */
  costs?: Readonly<Record<string, (query: string, method: string) => number>>
  errorBody(error: RatesError): object
}
