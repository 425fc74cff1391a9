import { digestOf } from '../digest.ts'

/** Returns a strong entity tag of `body`, the same for the same body on every runtime. */
export function entityTag(body: Uint8Array | string): string {
  return `"${digestOf(body)}"`
}

/** Whether `ifNoneMatch` (a list of entity tags, or `*`) names `tag`, by the weak comparison of RFC 9110 §8.8.3.2. */
export function isMatch(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true
  for (const [listed] of ifNoneMatch.matchAll(/"[^"]*"/g)) {
    if (listed === tag) return true
  }
  return false
}
