import { createBoundedMap } from '../http/bounded-map.ts'
import type { Encoding } from './accept-encoding.ts'

/** What is encoded: bytes, or a text as UTF-8. */
export type Body = Uint8Array<ArrayBuffer> | string

/** Encodes a body in a content coding; may reject. */
export type Codec = (body: Body) => Promise<Uint8Array<ArrayBuffer>>

/** A codec for every coding that may be chosen. */
export type Codecs = Readonly<Record<Encoding, Codec>>

/**
 * A function that encodes each body once, also for many who ask at once. A text is the same as any other of its characters,
 * bytes are only the same as themselves. What it made is kept as long as the bodies that it was made from take no more than
 * `capacity` bytes together, for each coding. A failure is not kept.
 */
export function createVariants(
  codecs: Codecs,
  capacity: number,
): (encoding: Encoding, body: Body) => ReturnType<Codec> {
  const made = {
    br: createBoundedMap<Body, ReturnType<Codec>>(capacity),
    gzip: createBoundedMap<Body, ReturnType<Codec>>(capacity),
  }
  return (encoding, body) => {
    const known = made[encoding].get(body)
    if (known) return known
    const encoded = Promise.resolve(body).then(codecs[encoding])
    made[encoding].set(body, encoded, body.length)
    encoded.catch(() => made[encoding].delete(body))
    return encoded
  }
}
