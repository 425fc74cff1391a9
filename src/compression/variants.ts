import { createBoundedMap } from '../http/bounded-map.ts'
import { LARGE_BODY_BYTES } from '../http/limiter.ts'
import type { AcceptedEncodings, Encoding } from './accept-encoding.ts'

export { LARGE_BODY_BYTES }

/** How many large bodies are encoded at the same time, beside those that have just been made. */
const MAX_LARGE_AT_ONCE = 2

/** What is encoded: bytes, or a text as UTF-8. */
type Body = Uint8Array<ArrayBuffer> | string

/** Encodes a body in a content coding; may reject. */
type Codec = (body: Body) => Promise<Uint8Array<ArrayBuffer>>

/** A codec for every coding that may be chosen. */
export type Codecs = Readonly<Record<Encoding, Codec>>

/** A body in a coding. */
interface Encoded {
  encoding: Encoding
  bytes: Awaited<ReturnType<Codec>>
}

/** A body in a coding, or undefined where the plain body is to be sent. */
type EncodedOrPlain = Promise<Encoded | undefined> | undefined

/** Encodes bodies. */
export interface Variants {
  /** Encodes an expensive body for the request that it was made for. */
  encodeOnce(body: Body, accepted: AcceptedEncodings): EncodedOrPlain
  /**
   * Encodes any other body in the best coding. While other large bodies are encoded, a large one is sent as it was encoded
   * before, or plain.
   */
  encode(body: Body, accepted: AcceptedEncodings): EncodedOrPlain
}

/**
 * Creates variants that encode each body once, also for many requests at once. A text is the same as any other of its
 * characters, bytes are only the same as themselves. Encoded bodies are kept as long as the bodies that they were made from
 * take no more than `capacity` bytes together, for each coding. A failure is not kept.
 */
export function createVariants(codecs: Codecs, capacity: number): Variants {
  const made = {
    br: createBoundedMap<Body, EncodedOrPlain>(capacity),
    gzip: createBoundedMap<Body, EncodedOrPlain>(capacity),
  }
  let largeUnderWay = 0

  async function encode(encoding: Encoding, body: Body): Promise<Encoded | undefined> {
    try {
      return { encoding, bytes: await codecs[encoding](body) }
    } catch {
      made[encoding].delete(body)
      return undefined
    }
  }

  function encodeAndKeep(encoding: Encoding, body: Body): EncodedOrPlain {
    // Later, so that a codec that throws at once deletes what is there already.
    const encoded = Promise.resolve().then(() => encode(encoding, body))
    made[encoding].set(body, encoded, body.length)
    return encoded
  }

  function encodeLarge(encoding: Encoding, body: Body): EncodedOrPlain {
    largeUnderWay += 1
    return encodeAndKeep(encoding, body)?.finally(() => (largeUnderWay -= 1))
  }

  return {
    encodeOnce: (body, { fast }) => fast && (made[fast].get(body) ?? encodeAndKeep(fast, body)),
    encode(body, { best, fast }) {
      const known = best && made[best].get(body)
      if (!best || known) return known
      if (body.length <= LARGE_BODY_BYTES) return encodeAndKeep(best, body)
      if (largeUnderWay < MAX_LARGE_AT_ONCE) return encodeLarge(best, body)
      return fast && made[fast].get(body)
    },
  }
}
