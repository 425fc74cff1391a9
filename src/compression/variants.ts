import { createBoundedMap } from '../http/bounded-map.ts'
import { LARGE_BODY_BYTES } from '../http/limiter.ts'
import type { AcceptedEncodings, Encoding } from './accept-encoding.ts'

export { LARGE_BODY_BYTES }

/** Limits large bodies that are encoded at the same time, except those computed for a request. */
const MAX_LARGE_AT_ONCE = 2

type Body = Uint8Array<ArrayBuffer> | string

type Codec = (body: Body) => Promise<Uint8Array<ArrayBuffer>>

/** The codec of each coding; may reject. */
export type Codecs = Readonly<Record<Encoding, Codec>>

interface Encoded {
  encoding: Encoding
  bytes: Awaited<ReturnType<Codec>>
}

/** Undefined means: send the plain body. */
type EncodedOrPlain = Promise<Encoded | undefined> | undefined

/** Encodes bodies. */
export interface Variants {
  /** Encodes an expensive body for the request that it was computed for. */
  encodeOnce(body: Body, accepted: AcceptedEncodings): EncodedOrPlain
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
