import { callSafely, systemRuntime } from '../async.ts'
import { shortened } from '../events.ts'
import { createClientAddress } from '../http/client-address.ts'
import type { AddressOptions } from '../http/client-address.ts'
import type { RawRequest, RawResponse } from '../http/messages.ts'
import { byteLength } from '../http/response.ts'
import { splitTarget } from '../http/router.ts'
import { assertKnownOptions } from '../known-options.ts'
import { escapeInvisible } from '../log.ts'
import { createRedaction } from './redact.ts'
import type { Redaction } from './redact.ts'
import { assertAnswers, wrap } from './wrap.ts'
import type { AnsweringHandler, WrappedHandler } from './wrap.ts'

/** Options of `withAccessLog`. */
export interface AccessLogOptions {
  /** Receives each line, without a line break; exceptions are ignored. */
  write: (line: string) => void
  /**
   * `'json'` for one JSON object per line, `'combined'` for the combined format of Apache and nginx (default `'json'`).
   */
  format?: 'json' | 'combined' | undefined
  /** The share of responses to log, above 0 and at most 1: 0.1 logs every tenth one (default 1). */
  sample?: number | undefined
  /** Whether lines contain the address of the client (default false: it is personal data). */
  addresses?: boolean | undefined
  /** The proxies whose forwarding headers are read for the address, as in `createAccess` (default none). */
  trustedProxies?: AddressOptions['trustedProxies']
  /** The header to which these proxies add the address, as in `createAccess` (default: either one, if present). */
  forwardedHeader?: AddressOptions['forwardedHeader']
  /**
   * Query parameters whose values are redacted, in addition to `access_key`, `access_token`, `api_key`, `apikey`, `app_id`,
   * `key` and `token` (default none). API keys of ratesmith are redacted everywhere.
   */
  queryParameters?: readonly string[] | undefined
  /** The clock, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

const FORMATS = { json: toJson, combined: toCombined }

/**
 * Returns `handler` with one log line per response to a path of the API. Wrap compression with it, not the reverse, to log
 * the status and the bytes that are sent.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { withAccessLog, withRequestIds } from 'ratesmith/monitoring'
 *
 * const logged = withAccessLog(createRatesHandler(), { write: (line) => console.log(line) })
 * const handler = withRequestIds(logged)
 * ```
 */
export function withAccessLog<Handler extends AnsweringHandler>(
  handler: Handler,
  options: AccessLogOptions,
): Handler & WrappedHandler {
  const { write, format, sample, now, ...about } = resolve(options)
  assertAnswers(handler)
  const { monotonic } = systemRuntime(now)
  const toLine = FORMATS[format]
  const isSampled = createSampling(sample)
  const describe = createDescription(about)
  return wrap(handler, async (request) => {
    const startedAt = monotonic()
    const response = await handler.answer(request)
    if (response.matched && isSampled()) {
      const times = { time: now(), duration: monotonic() - startedAt }
      callSafely(() => write(toLine({ ...times, ...describe(request, response) })))
    }
    return response
  })
}

function resolve(options: AccessLogOptions) {
  const given: Partial<AccessLogOptions> = options ?? {}
  const { write, format = 'json', sample = 1, addresses = false } = given
  const { trustedProxies, forwardedHeader, queryParameters = [], now = Date.now } = given
  const proxies = { trustedProxies, forwardedHeader }
  const known = { format, sample, addresses, ...proxies, queryParameters, now }
  assertKnownOptions(options, { write, ...known })
  if (typeof write !== 'function') throw new TypeError('write must be a function')
  if (typeof now !== 'function') throw new TypeError('now must be a function')
  if (!Object.hasOwn(FORMATS, format)) {
    throw new TypeError(`format must be 'json' or 'combined', got ${String(format)}`)
  }
  if (typeof sample !== 'number' || !(sample > 0 && sample <= 1)) {
    throw new TypeError(`sample must be above 0 and at most 1, got ${String(sample)}`)
  }
  if (typeof addresses !== 'boolean') throw new TypeError('addresses must be true or false')
  if (!isListOfNames(queryParameters)) {
    throw new TypeError('queryParameters must be an array of strings')
  }
  return { write, ...known }
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}

/** Returns a function that returns true for this `share` of its calls, evenly spread, beginning with the first. */
function createSampling(share: number): () => boolean {
  let sum = 1 - share
  return () => {
    sum += share
    // Sums of fractions are not exact.
    if (sum < 1 - Number.EPSILON) return false
    sum -= 1
    return true
  }
}

interface Entry {
  /** When the response was ready, in ms since the Unix epoch. */
  time: number
  /** In ms. */
  duration: number
  id: string | undefined
  method: string
  path: string
  /** Without the question mark. */
  query: string
  status: number
  bytes: number
  referrer: string | undefined
  agent: string | undefined
  address: string | undefined
}

/** Longer paths and queries are cut. */
const MAX_TARGET_LENGTH = 2_048

/** IPv6 addresses are logged whole, as IPv4 addresses are. */
const ALL_BITS = 128

/** The address of a client that has none. */
const UNKNOWN = 'unknown'

/** Longer headers are cut. */
const MAX_HEADER_LENGTH = 256

interface DescriptionOptions extends AddressOptions {
  addresses: boolean
  queryParameters: readonly string[]
}

function createDescription({ addresses, queryParameters, ...proxies }: DescriptionOptions) {
  const redaction = createRedaction(queryParameters)
  const findAddress = createClientAddress({ ...proxies, ipv6Prefix: ALL_BITS })
  const addressOf = (request: RawRequest): string | undefined => {
    const address = addresses ? findAddress(request) : UNKNOWN
    return address === UNKNOWN ? undefined : address
  }

  return (request: RawRequest, response: RawResponse): Omit<Entry, 'time' | 'duration'> => {
    const { path, query } = splitTarget(request.target)
    return {
      id: request.requestId,
      method: shortened(request.method, MAX_HEADER_LENGTH),
      path: shortened(redaction.path(path), MAX_TARGET_LENGTH),
      query: shortened(redaction.query(query), MAX_TARGET_LENGTH),
      status: response.status,
      bytes: sentBytes(response),
      referrer: headerOf(request, 'referer', redaction),
      agent: headerOf(request, 'user-agent', redaction),
      address: addressOf(request),
    }
  }
}

function headerOf(request: RawRequest, name: string, redaction: Redaction): string | undefined {
  const value = request.header(name)
  return value ? shortened(redaction.text(value), MAX_HEADER_LENGTH) : undefined
}

/** Returns the size of the body, without encoding text again. */
function sentBytes({ headers, body }: RawResponse): number {
  if (body === null) return 0
  if (typeof body !== 'string') return body.length
  const [, length] = headers.find(([name]) => name === 'content-length') ?? []
  return length === undefined ? byteLength(body) : Number(length)
}

const MICROSECONDS_PER_MS = 1_000

function toJson({ time, duration, ...entry }: Entry): string {
  const line = {
    time: new Date(time).toISOString(),
    ...entry,
    query: entry.query || undefined,
    duration: Math.round(duration * MICROSECONDS_PER_MS) / MICROSECONDS_PER_MS,
  }
  return escapeInvisible(JSON.stringify(line))
}

/** Returns a line in the combined format. A handler does not receive the version of HTTP. */
function toCombined(entry: Entry): string {
  const { time, method, path, query, status, bytes, referrer, agent, address } = entry
  const target = escapeQuoted(query ? `${path}?${query}` : path).replaceAll(' ', '%20')
  const client = escapeQuoted(address ?? '-').replaceAll(' ', '')
  const start = `${client} - - [${toLogTime(time)}] "${escapeQuoted(method)} ${target} HTTP/1.1"`
  const headers = [referrer, agent].map((value) => `"${escapeQuoted(value ?? '-')}"`)
  return [start, status, bytes || '-', ...headers].join(' ')
}

/** Escapes quotes, backslashes, and all characters that are not printable ASCII, as nginx does. */
function escapeQuoted(text: string): string {
  return text.replace(/["\\]|[^\x20-\x7e]/gu, (character) =>
    Array.from(new TextEncoder().encode(character), toHex).join(''),
  )
}

function toHex(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0').toUpperCase()}`
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Returns a time as `20/Nov/2026:18:00:00 +0000`. */
function toLogTime(time: number): string {
  const [year = '', month = '', day = ''] = new Date(time).toISOString().split(/[-T]/)
  const clock = new Date(time).toISOString().slice(11, 19)
  return `${day}/${MONTHS[Number(month) - 1]}/${year}:${clock} +0000`
}
