import { LARGE_BODY_BYTES } from '../http/limiter.ts'
import { createBoundedMap } from '../http/response-cache.ts'

/** The supported codings, in order of preference for equal weights. */
const ENCODINGS = ['br', 'gzip'] as const

export type Encoding = (typeof ENCODINGS)[number]

/** One coding and its weight; malformed entries are ignored. No two parts match the same character, so matching takes linear time. */
const ENTRY =
  /^[ \t]*([\w!#$%&'*+.^`|~-]+)[ \t]*(?:;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[ \t]*)?$/i

/** Size of the cache of parsed headers; clients send few different ones. */
const MAX_CACHED_CHARACTERS = 4_096

/** The codings chosen for a client; undefined for the plain body. */
export interface AcceptedEncodings {
  /** For a body that is sent often. */
  best: Encoding | undefined
  /** For a body that is sent once: never brotli, the slowest. */
  fast: Exclude<Encoding, 'br'> | undefined
}

const PLAIN: AcceptedEncodings = { best: undefined, fast: undefined }

export function createEncodingChoice(): (
  acceptEncoding: string | null | undefined,
) => AcceptedEncodings {
  const known = createBoundedMap<string, AcceptedEncodings>(MAX_CACHED_CHARACTERS)
  return (acceptEncoding) => {
    if (!acceptEncoding) return PLAIN
    const cached = known.get(acceptEncoding)
    if (cached) return cached
    const accepted = {
      best: chooseEncoding(acceptEncoding, ENCODINGS),
      fast: chooseEncoding(acceptEncoding, ['gzip']),
    }
    known.set(acceptEncoding, accepted, acceptEncoding.length)
    return accepted
  }
}

/** By RFC 9110 §12.5.3; undefined for the plain body, also if the client refuses everything else. */
function chooseEncoding<Known extends Encoding>(
  acceptEncoding: string,
  encodings: readonly Known[],
): Known | undefined {
  const weights = readWeights(acceptEncoding)
  const ofOthers = weights.get('*') ?? 0
  // The plain body is always acceptable, but preferred only with an explicit weight.
  let heaviest = weights.get('identity') ?? ofOthers
  let chosen: Known | undefined
  for (const encoding of encodings) {
    const weight = weights.get(encoding) ?? ofOthers
    if (weight > heaviest || (!chosen && weight > 0 && weight === heaviest)) {
      heaviest = weight
      chosen = encoding
    }
  }
  return chosen
}

function readWeights(acceptEncoding: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const entry of acceptEncoding.split(',')) {
    const [, coding, weight = '1'] = ENTRY.exec(entry) ?? []
    if (coding !== undefined) weights.set(coding.toLowerCase(), Number(weight))
  }
  return weights
}

export { LARGE_BODY_BYTES }

/** Limits large bodies that are encoded at the same time, except those computed for a request. */
const MAX_LARGE_AT_ONCE = 2

type Body = Uint8Array<ArrayBuffer> | string

type Codec = (body: Body) => Promise<Uint8Array<ArrayBuffer>>

export type Codecs = Readonly<Record<Encoding, Codec>>

interface Encoded {
  encoding: Encoding
  bytes: Awaited<ReturnType<Codec>>
}

/** Undefined means: send the plain body. */
type EncodedOrPlain = Promise<Encoded | undefined> | undefined

export interface Variants {
  /** Encodes an expensive body for the request that it was computed for. */
  encodeOnce(body: Body, accepted: AcceptedEncodings): EncodedOrPlain
  /** Encodes a body that is sent once, such as that of a `POST`. */
  encodeUncached(body: Body, accepted: AcceptedEncodings): EncodedOrPlain
  /**
   * Encodes any other body in the best coding. While two large bodies are being encoded, returns the earlier fast encoding of
   * a large body, or undefined.
   */
  encode(body: Body, accepted: AcceptedEncodings): EncodedOrPlain
}

/**
 * Creates variants that encode each body once, also for concurrent requests. Texts are compared by value, bytes by identity.
 * Caches, for each coding, the encoded forms of at most `capacity` bytes of plain bodies. Failures are not cached.
 */
export function createVariants(codecs: Codecs, capacity: number): Variants {
  const cache = {
    br: createBoundedMap<Body, EncodedOrPlain>(capacity),
    gzip: createBoundedMap<Body, EncodedOrPlain>(capacity),
  }
  let largeUnderWay = 0

  async function encode(encoding: Encoding, body: Body): Promise<Encoded | undefined> {
    try {
      return { encoding, bytes: await codecs[encoding](body) }
    } catch {
      cache[encoding].delete(body)
      return undefined
    }
  }

  function encodeAndCache(encoding: Encoding, body: Body): EncodedOrPlain {
    // Starts after `set`, so that a codec that throws synchronously deletes this entry.
    const encoded = Promise.resolve().then(() => encode(encoding, body))
    cache[encoding].set(body, encoded, body.length)
    return encoded
  }

  function encodeLarge(encoding: Encoding, body: Body): EncodedOrPlain {
    largeUnderWay += 1
    return encodeAndCache(encoding, body)?.finally(() => (largeUnderWay -= 1))
  }

  return {
    encodeUncached: (body, { fast }) => fast && encode(fast, body),
    encodeOnce: (body, { fast }) => fast && (cache[fast].get(body) ?? encodeAndCache(fast, body)),
    encode(body, { best, fast }) {
      const cached = best && cache[best].get(body)
      if (!best || cached) return cached
      if (body.length <= LARGE_BODY_BYTES) return encodeAndCache(best, body)
      if (largeUnderWay < MAX_LARGE_AT_ONCE) return encodeLarge(best, body)
      return fast && cache[fast].get(body)
    },
  }
}
