/**
 * A strong entity tag of `body`, the same for the same text on every runtime: two multiplicative hashes of 32 bits
 * (FNV-1a and one that also mixes its high bits down) and the length. Computed in place, because the digests of the
 * platforms are asynchronous.
 */
export function entityTag(body: string): string {
  let one = 0x811c9dc5
  let two = 0x9e3779b9
  for (let index = 0; index < body.length; index += 1) {
    const unit = body.charCodeAt(index)
    one = Math.imul(one ^ unit, 0x01000193)
    two = Math.imul(two ^ unit, 0x85ebca6b) ^ (two >>> 15)
  }
  return `"${hex(one)}${hex(two)}${body.length.toString(16)}"`
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
