/**
 * A strong entity tag of `body`, the same for the same body on every runtime: two multiplicative hashes of 32 bits, which
 * bring high bits down in different ways, and the length. Computed in place, because the digests of the platforms are
 * asynchronous, and over as many units at once as fit.
 */
export function entityTag(body: Uint8Array | string): string {
  let one = 0x811c9dc5
  let two = 0x9e3779b9
  const mix = (units: number): void => {
    one = Math.imul(((one << 5) | (one >>> 27)) ^ units, 0x01000193)
    two = Math.imul(two ^ units, 0x85ebca6b) ^ (two >>> 15)
  }
  if (typeof body === 'string') eachPair(body, mix)
  else eachWord(body, mix)
  return `"${hex(one)}${hex(two)}${body.length.toString(16)}"`
}

/** Gives two characters at a time to `mix`; behind the end is a zero. */
function eachPair(text: string, mix: (units: number) => void): void {
  for (let index = 0; index < text.length; index += 2) {
    mix(text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16))
  }
}

/** Gives four bytes at a time to `mix`, and the rest one by one. */
function eachWord(bytes: Uint8Array, mix: (units: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const rest = bytes.length - (bytes.length % 4)
  for (let index = 0; index < rest; index += 4) mix(view.getInt32(index, true))
  for (let index = rest; index < bytes.length; index += 1) mix(view.getUint8(index))
}

/** Whether `ifNoneMatch` (a list of entity tags, or `*`) names `tag`, by the weak comparison of RFC 9110 §8.8.3.2. */
export function isMatch(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true
  for (const [listed] of ifNoneMatch.matchAll(/"[^"]*"/g)) {
    if (listed === tag) return true
  }
  return false
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0')
}
