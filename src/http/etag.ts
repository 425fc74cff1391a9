import { digestOf } from '../digest.ts'

/** Returns a strong entity tag for `body`; the same body has the same tag on every runtime. */
export function entityTag(body: Uint8Array | string): string {
  return `"${digestOf(body)}"`
}

/** Returns whether `list` (entity tags, or `*`) contains the strong `tag`, by a comparison of RFC 9110 §8.8.3.2. */
export function isMatch(list: string, tag: string, comparison: 'weak' | 'strong'): boolean {
  if (list.trim() === '*') return true
  for (const [, weakness, listed] of list.matchAll(/(W\/)?("[^"]*")/g)) {
    if (listed === tag && (comparison === 'weak' || weakness === undefined)) return true
  }
  return false
}
