const SEED_ONE = 0x811c9dc5
const SEED_TWO = 0x9e3779b9

/**
 * Returns a digest of `body` in letters and digits, the same on every runtime: two multiplicative hashes of 32 bits, which
 * mix high bits down in different ways, and the length. A single flipped bit always changes it. Not computed by the platform,
 * whose digests are asynchronous; reads 32 bits at a time.
 */
export function digestOf(body: Uint8Array | string): string {
  return typeof body === 'string' ? digestOfText(body) : digestOfBytes(body)
}

function digestOfText(text: string): string {
  const pairs = text.length - (text.length % 2)
  let one = SEED_ONE
  let two = SEED_TWO
  for (let index = 0; index < pairs; index += 2) {
    const units = text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16)
    one = mixOne(one, units)
    two = mixTwo(two, units)
  }
  const last = pairs < text.length ? text.charCodeAt(pairs) : 0
  return toDigest(mixOne(one, last), mixTwo(two, last), text.length)
}

function digestOfBytes(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const words = bytes.length - (bytes.length % 4)
  let one = SEED_ONE
  let two = SEED_TWO
  for (let index = 0; index < words; index += 4) {
    const units = view.getInt32(index, true)
    one = mixOne(one, units)
    two = mixTwo(two, units)
  }
  for (let index = words; index < bytes.length; index += 1) {
    one = mixOne(one, bytes[index] ?? 0)
    two = mixTwo(two, bytes[index] ?? 0)
  }
  return toDigest(one, two, bytes.length)
}

function toDigest(one: number, two: number, length: number): string {
  return `${letters(one)}${letters(two)}${length}`
}

function mixOne(hash: number, units: number): number {
  return Math.imul(((hash << 5) | (hash >>> 27)) ^ units, 0x01000193)
}

function mixTwo(hash: number, units: number): number {
  return Math.imul(hash ^ units, 0x85ebca6b) ^ (hash >>> 15)
}

// A letter from `a` to `p` for every four bits: several times faster than toString(16).
function letters(word: number): string {
  return String.fromCharCode(
    0x61 + (word >>> 28),
    0x61 + ((word >>> 24) & 15),
    0x61 + ((word >>> 20) & 15),
    0x61 + ((word >>> 16) & 15),
    0x61 + ((word >>> 12) & 15),
    0x61 + ((word >>> 8) & 15),
    0x61 + ((word >>> 4) & 15),
    0x61 + (word & 15),
  )
}
