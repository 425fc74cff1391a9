/** Returns whether `to` is made of `from` with at most `most` letters put in, left out, replaced or swapped with their neighbour. */
function isWithin(from: string, to: string, most: number): boolean {
  let same = 0
  while (same < from.length && from[same] === to[same]) same += 1
  const [left, right] = [from.slice(same), to.slice(same)]
  if (left === right) return true
  if (most === 0) return false
  const isSwapped = left[0] === right[1] && left[1] === right[0]
  return (
    isWithin(left.slice(1), right, most - 1) ||
    isWithin(left, right.slice(1), most - 1) ||
    isWithin(left.slice(1), right.slice(1), most - 1) ||
    (isSwapped && isWithin(left.slice(2), right.slice(2), most - 1))
  )
}

/** More suggestions are no help. */
const MAX_SUGGESTIONS = 3

/** No text that is longer is a slip of the hand, and comparing takes time by its length. */
const MAX_COMPARED_LENGTH = 32

/** Those of `candidates` that are nearest to `text` in either case, at most `most` letters away. */
export function nearest(text: string, candidates: readonly string[], most: number): string[] {
  if (text.length > MAX_COMPARED_LENGTH) return []
  for (let distance = 0; distance <= most; distance += 1) {
    const found = candidates.filter((each) =>
      isWithin(text.toUpperCase(), each.toUpperCase(), distance),
    )
    if (found.length > 0) return found
  }
  return []
}

/** The question that ends a sentence of an error, or nothing where there is nothing to suggest. */
export function didYouMean(suggestions: readonly string[]): string {
  const few = suggestions.slice(0, MAX_SUGGESTIONS)
  if (few.length === 0) return ''
  const last = few.pop()
  return `. Did you mean ${few.length === 0 ? last : `${few.join(', ')} or ${last}`}?`
}
