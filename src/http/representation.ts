import type { Header } from './raw.ts'
import { entityTag } from './etag.ts'

const encoder = new TextEncoder()

/** Values of `Cache-Control`. Never `s-maxage`: it forbids a shared cache to answer stale (RFC 9111 §5.2.2.10). */
const LIFETIMES = {
  minute: 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400',
  hour: 'public, max-age=3600, stale-while-revalidate=3600, stale-if-error=604800',
  /** Kept, but asked for whenever it is wanted. */
  checked: 'no-cache',
}

/** Values of `Content-Type`. */
const FORMS = {
  json: 'application/json; charset=utf-8',
  // RFC 4180 §3
  csv: 'text/csv; charset=utf-8; header=present',
  html: 'text/html; charset=utf-8',
}

/** Measured on Node, in bytes. The other runtimes send text as fast as bytes. */
const MAX_TEXT_BYTES = 16_000

/** What every body of JSON is sent with. */
export const JSON_HEADERS: readonly Header[] = formHeaders('json')

/** What is to be known of a body beside itself. */
export interface BodyOptions {
  /** What it is written in (default JSON). */
  form?: keyof typeof FORMS
  /** How long others may cache it. */
  lifetime: keyof typeof LIFETIMES
  /** When the data were published, in ms since the Unix epoch; never ahead of the clock (RFC 9110 §8.8.2.1). */
  lastModified?: number
}

/** Where data came from. */
export interface Freshness {
  /** Whether they were there already. */
  hit: boolean
  /** Whole seconds until they are due to be refreshed; negative when that is overdue. */
  ttl: number
}

/** A body, and the headers that hold as long as it does. */
export interface Representation {
  readonly body: Uint8Array<ArrayBuffer> | string
  /** Those of its delivery. */
  readonly bodyHeaders: readonly Header[]
  readonly etag: Header
  readonly length: Header
  /** All headers that it was last sent with, and when they would be the same again. */
  sent?: Freshness & { headers: Header[] }
}

/** The headers of all that is delivered so. */
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

/** `body`, which has so many `bytes`, with the headers of its delivery and an entity tag. */
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

/** The header that tells how many bytes a body has. */
export function lengthHeader(bytes: number): Header {
  return ['content-length', String(bytes)]
}

/** How many bytes `body` has; a text, in UTF-8. */
export function byteLength(body: Uint8Array | string): number {
  return typeof body === 'string' ? toBytes(body).length : body.length
}

/** `bytes` as what is sent fastest: a text goes in one piece with the headers, up to some kB that are copied for that. */
export function toSendable(bytes: Uint8Array<ArrayBuffer>): Representation['body'] {
  return bytes.length <= MAX_TEXT_BYTES ? new TextDecoder().decode(bytes) : bytes
}

/** `text` in UTF-8. */
export function toBytes(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text)
}
