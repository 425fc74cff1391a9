import type { Encoding } from './accept-encoding.ts'

/** Encodes a text as UTF-8 in a content coding; may reject. */
export type Codec = (text: string) => Promise<Uint8Array<ArrayBuffer>>

/** A codec for every coding that may be chosen. */
export type Codecs = Readonly<Record<Encoding, Codec>>

/** An encoded text, under way or ready. */
interface Variant {
  encoded: Promise<Uint8Array<ArrayBuffer>>
  /** What keeping it takes, in bytes. */
  size: number
}

/**
 * A function that encodes each text once, also for many who ask at once. What it made is kept until it takes more than
 * `capacity` bytes, the texts included; then what was not asked for the longest goes. A failure is not kept.
 */
export function createVariants(
  codecs: Codecs,
  capacity: number,
): (encoding: Encoding, text: string) => Promise<Uint8Array<ArrayBuffer>> {
  // By the text itself: two texts of one entity tag, which a client could look for, must not be taken for each other.
  const held = new Map<string, Variant>()
  let heldBytes = 0

  function drop(key: string, { size }: Variant): void {
    held.delete(key)
    heldBytes -= size
  }

  function grow(variant: Variant, bytes: number): void {
    variant.size += bytes
    heldBytes += bytes
    for (const [key, oldest] of held) {
      if (heldBytes <= capacity) return
      drop(key, oldest)
    }
  }

  function make(key: string, encoding: Encoding, text: string): Variant {
    const variant: Variant = { encoded: Promise.resolve(text).then(codecs[encoding]), size: 0 }
    held.set(key, variant)
    grow(variant, key.length)
    variant.encoded.then(
      ({ byteLength }) => held.get(key) === variant && grow(variant, byteLength),
      () => held.get(key) === variant && drop(key, variant),
    )
    return variant
  }

  return (encoding, text) => {
    const key = `${encoding} ${text}`
    const known = held.get(key)
    if (!known) return make(key, encoding, text).encoded
    held.delete(key)
    held.set(key, known)
    return known.encoded
  }
}
