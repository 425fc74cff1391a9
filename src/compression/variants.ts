import type { Encoding } from './accept-encoding.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** Encodes a body in a content coding; may reject. */
export type Codec = (body: Bytes) => Promise<Bytes>

/** A codec for every coding that may be chosen. */
export type Codecs = Readonly<Record<Encoding, Codec>>

/**
 * A function that encodes each body once, also for many who ask at once. What it made lives as long as the body: that of a
 * remembered answer is remembered with it. A failure is not kept.
 */
export function createVariants(
  codecs: Codecs,
): (encoding: Encoding, body: Bytes) => Promise<Bytes> {
  const made: Record<Encoding, WeakMap<Bytes, Promise<Bytes>>> = {
    br: new WeakMap(),
    gzip: new WeakMap(),
  }
  return (encoding, body) => {
    const known = made[encoding].get(body)
    if (known) return known
    const encoded = Promise.resolve(body).then(codecs[encoding])
    made[encoding].set(body, encoded)
    encoded.catch(() => made[encoding].delete(body))
    return encoded
  }
}
