import { entityTag } from './etag.ts'
import type { Header } from './raw.ts'

const encoder = new TextEncoder()

/** Values of `Cache-Control`. Never `s-maxage`: it forbids shared caches to serve stale responses (RFC 9111 §5.2.2.10). */
const LIFETIMES = {
  minute: 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400',
  hour: 'public, max-age=3600, stale-while-revalidate=3600, stale-if-error=604800',
  // Caches revalidate before every use.
  checked: 'no-cache',
}

const FORMS = {
  json: 'application/json; charset=utf-8',
  // RFC 4180 §3
  csv: 'text/csv; charset=utf-8; header=present',
  html: 'text/html; charset=utf-8',
}

/** Measured on Node; other runtimes send text as fast as bytes. */
const MAX_TEXT_BYTES = 16_000

/** Headers of every JSON body. */
export const JSON_HEADERS: readonly Header[] = formHeaders('json')

/** Properties of a body that determine its headers. */
export interface BodyOptions {
  /** Format of the body (default `json`). */
  form?: keyof typeof FORMS
  /** How long other caches may keep the body. */
  lifetime: keyof typeof LIFETIMES
  /** Publication time, ms since the Unix epoch; must not be later than the clock (RFC 9110 §8.8.2.1). */
  lastModified?: number
}

/** The cache state of data. */
export interface Freshness {
  /** Whether the data was cached. */
  hit: boolean
  /** Whole seconds until the next refresh; negative if it is overdue. */
  ttl: number
}

/** A body with the headers that depend only on it. */
export interface Representation {
  readonly body: Uint8Array<ArrayBuffer> | string
  /** Content type, caching and `Last-Modified`. */
  readonly bodyHeaders: readonly Header[]
  readonly etag: Header
  readonly length: Header
  /** All headers of the last response, reused while the freshness is the same. */
  sent?: Freshness & { headers: Header[] }
}

/** Returns the headers for bodies with these options. */
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

/** Creates a representation of `body`, with an entity tag; `bytes` is its length in bytes. */
export function represent(
  body: Representation['body'],
  headers: readonly Header[],
  bytes: number = byteLength(body),
): Representation {
  return {
    body,
    bodyHeaders: headers,
    etag: ['etag', entityTag(body)],
    length: lengthHeader(bytes),
  }
}

/** Returns the `Content-Length` header. */
export function lengthHeader(bytes: number): Header {
  return ['content-length', String(bytes)]
}

/** Returns the length of `body` in bytes; text counts as UTF-8. */
export function byteLength(body: Uint8Array | string): number {
  return typeof body === 'string' ? toBytes(body).length : body.length
}

/** Returns `bytes` in the form that is fastest to send: Node sends short text in one piece with the headers. */
export function toSendable(bytes: Uint8Array<ArrayBuffer>): Representation['body'] {
  return bytes.length <= MAX_TEXT_BYTES ? new TextDecoder().decode(bytes) : bytes
}

/** Encodes `text` as UTF-8. */
export function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}
