import { promisify } from 'node:util'

import {
  LARGE_BODY_BYTES,
  createBoundedMap,
  createRepeatFilter,
  isStreamed,
  toFetchStyle,
  withProperties,
  withVary,
} from '../core.ts'
import type { Header, RatesHandler, RawRequest, RawResponse, StreamedBody } from '../index.ts'

/** In order of preference for equal weights. */
const CODINGS = ['br', 'gzip'] as const

type Coding = (typeof CODINGS)[number]

type Body = Exclude<NonNullable<RawResponse['body']>, StreamedBody>

type Encoded = Uint8Array<ArrayBuffer>

interface Sent {
  coding: Coding
  body: Encoded | StreamedBody
  /** Undefined for a body in parts. */
  bytes?: number
}

export type Codecs = Readonly<Record<Coding, (body: Body) => Promise<Encoded>>>

/** Smaller bodies are sent as they are: the gain is too small. */
const MIN_BODY_BYTES = 1_024

/** Plain bytes whose encoded forms are cached; these take about a quarter in addition. */
const CACHE_BYTES = 32 * 1_048_576

/** Large bodies are encoded one at a time; while more than these wait, further ones are sent as they are. */
const MAX_WAITING_BYTES = 16 * 1_048_576

/**
 * Returns `handler` with bodies over 1 KiB in brotli or gzip for clients that accept them. A large body is encoded in gzip, the
 * fastest, until it is requested again, and so is a body without an entity tag. The entity tag of an encoded body is the weak
 * form of the plain one's. Where a codec fails or too many large bodies wait for one, the plain body is sent.
 */
export function withCompression(handler: Pick<RatesHandler, 'answer'>, codecs: Codecs = CODECS) {
  const encode = createEncoder(codecs)
  const isRepeated = createRepeatFilter()

  async function encoded(
    { headers, body }: RawResponse,
    accepted: string,
  ): Promise<Sent | undefined> {
    if (headers.some(([name]) => name === 'content-encoding')) return undefined
    const codings = preferredCodings(accepted)
    if (isStreamed(body)) {
      return codings.includes('gzip') ? { coding: 'gzip', body: gzipped(body) } : undefined
    }
    if (body === null || body.length <= MIN_BODY_BYTES) return undefined
    const tag = headers.find(([name]) => name === 'etag')?.[1]
    const isOften = tag !== undefined && (body.length <= LARGE_BODY_BYTES || isRepeated(tag))
    const coding = isOften ? codings[0] : codings.find((each) => each === 'gzip')
    const bytes = coding && (await encode(coding, body, tag))
    return bytes && { coding, body: bytes, bytes: bytes.length }
  }

  async function answer(request: RawRequest): Promise<RawResponse> {
    const { method } = request
    const plain = await handler.answer(
      withProperties(request, {
        // Only the body shows the length of its encoded form.
        method: method === 'HEAD' ? 'GET' : method,
        header(name) {
          const value = request.header(name)
          return name === 'if-match' ? value?.replaceAll('W/"', '"') : value
        },
      }),
    )
    const { status } = plain
    const headers =
      status === 200 || status === 304 ? withVary(plain.headers, 'Accept-Encoding') : plain.headers
    const sent =
      status === 200 ? await encoded(plain, request.header('accept-encoding') ?? '') : undefined
    return {
      ...plain,
      headers: sent ? headersOf(headers, sent) : headers,
      body: method === 'HEAD' ? null : (sent?.body ?? plain.body),
    }
  }

  return Object.assign(toFetchStyle(answer), { answer })
}

/** Returns a function that encodes each body once, also for concurrent requests; undefined means to send the plain one. */
function createEncoder(codecs: Codecs) {
  const cached = createBoundedMap<string, { plain: Body; bytes: Promise<Encoded | undefined> }>(
    CACHE_BYTES,
  )
  let last: Promise<unknown> = Promise.resolve()
  let waitingBytes = 0

  async function start(coding: Coding, body: Body): Promise<Encoded> {
    if (body.length <= LARGE_BODY_BYTES) return codecs[coding](body)
    waitingBytes += body.length
    const bytes = last.then(() => codecs[coding](body))
    last = bytes.catch(() => undefined).finally(() => (waitingBytes -= body.length))
    return bytes
  }

  return async (coding: Coding, body: Body, tag: string | undefined) => {
    const key = `${coding} ${tag}`
    const found = cached.get(key)
    // Of the handler of a config file, another resource may have the same tag.
    if (found && isSame(found.plain, body)) return found.bytes
    if (body.length > LARGE_BODY_BYTES && waitingBytes > MAX_WAITING_BYTES) return undefined
    const bytes = start(coding, body).catch(() => {
      cached.delete(key)
      return undefined
    })
    if (tag !== undefined) cached.set(key, { plain: body, bytes }, body.length)
    return bytes
  }
}

function isSame(one: Body, other: Body): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other
  return one === other || Buffer.compare(one, other) === 0
}

function headersOf(headers: readonly Header[], { coding, bytes }: Sent): Header[] {
  const others = headers
    .filter(([name]) => name !== 'content-length')
    .map(([name, value]): Header => [name, name === 'etag' ? value.replace(/^"/, 'W/"') : value])
  const length: Header[] = bytes === undefined ? [] : [['content-length', String(bytes)]]
  return [...others, ...length, ['content-encoding', coding]]
}

/** One coding and its weight; malformed entries are ignored. No two parts match the same character, so matching takes linear time. */
const ENTRY =
  /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/i

/** Returns the codings that a client does not like less than the plain body, the best first (RFC 9110 §12.5.3). */
function preferredCodings(acceptEncoding: string): readonly Coding[] {
  const weights = new Map<string, number>()
  for (const entry of acceptEncoding.split(',')) {
    const [, coding, weight = '1'] = ENTRY.exec(entry) ?? []
    if (coding !== undefined) weights.set(coding.toLowerCase(), Number(weight))
  }
  const ofOthers = weights.get('*') ?? 0
  const weightOf = (coding: string): number => weights.get(coding) ?? ofOthers
  const least = weightOf('identity')
  return CODINGS.filter((coding) => weightOf(coding) > 0 && weightOf(coding) >= least).toSorted(
    (one, other) => weightOf(other) - weightOf(one),
  )
}

/** They load zlib on first use. */
const CODECS: Codecs = {
  br: async (body) => {
    const { brotliCompress, constants } = await import('node:zlib')
    const params = { [constants.BROTLI_PARAM_QUALITY]: 5 }
    return trimmed(await promisify(brotliCompress)(body, { params }))
  },
  gzip: async (body) => {
    const { gzip } = await import('node:zlib')
    // Level 1 takes a third of the time; the body is a few percent larger.
    const level = body.length > LARGE_BODY_BYTES ? 1 : 6
    return trimmed(await promisify(gzip)(body, { level }))
  },
}

async function* gzipped(body: StreamedBody): StreamedBody {
  const { constants, createGzip } = await import('node:zlib')
  const { Readable, pipeline } = await import('node:stream')
  // A client gets each part at once.
  const gzip = createGzip({ level: 1, flush: constants.Z_SYNC_FLUSH })
  pipeline(Readable.from(body), gzip, () => undefined)
  for await (const part of gzip) yield trimmed(part)
}

function trimmed(bytes: Uint8Array): Encoded {
  // zlib returns a view of a larger buffer, which would stay in memory.
  return new Uint8Array(bytes)
}
