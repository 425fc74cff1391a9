/** Returns whether at most `max` insertions, deletions, replacements or swaps of neighbours turn `from` into `to`. */
function isWithin(from: string, to: string, max: number): boolean {
  let same = 0
  while (same < from.length && from[same] === to[same]) same += 1
  const [left, right] = [from.slice(same), to.slice(same)]
  if (left === right) return true
  if (max === 0) return false
  const isSwapped = left[0] === right[1] && left[1] === right[0]
  return (
    isWithin(left.slice(1), right, max - 1) ||
    isWithin(left, right.slice(1), max - 1) ||
    isWithin(left.slice(1), right.slice(1), max - 1) ||
    (isSwapped && isWithin(left.slice(2), right.slice(2), max - 1))
  )
}

const MAX_SUGGESTIONS = 3

/** Longer texts are not typing mistakes, and the time of a comparison grows with the length. */
const MAX_COMPARED_LENGTH = 32

/** Returns the `candidates` nearest to `text`, ignoring case, at most `max` edits away. */
export function nearest(text: string, candidates: readonly string[], max: number): string[] {
  if (text.length > MAX_COMPARED_LENGTH) return []
  for (let distance = 0; distance <= max; distance += 1) {
    const found = candidates.filter((each) =>
      isWithin(text.toUpperCase(), each.toUpperCase(), distance),
    )
    if (found.length > 0) return found
  }
  return []
}

/** Returns the end of an error message that suggests a few texts, or `''` without any. */
export function didYouMean(suggestions: readonly string[]): string {
  const few = suggestions.slice(0, MAX_SUGGESTIONS)
  if (few.length === 0) return ''
  const last = few.pop()
  return `. Did you mean ${few.length === 0 ? last : `${few.join(', ')} or ${last}`}?`
}
