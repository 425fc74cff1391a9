/** How many letters are to be put in, left out, replaced or swapped with their neighbour to make `to` of `from`. */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity
  for (let row = 1; row <= from.length; row += 1) {
    const cells = [row]
    rows.push(cells)
    for (let column = 1; column <= to.length; column += 1) {
      const [letter, other] = [from[row - 1], to[column - 1]]
      const isSwap = letter === to[column - 2] && other === from[row - 2]
      cells[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (letter === other ? 0 : 1),
        isSwap ? at(row - 2, column - 2) + 1 : Infinity,
      )
    }
  }
  return at(from.length, to.length)
}

/** More suggestions are no help. */
const MOST_SUGGESTED = 3

/** No text that is longer is a slip of the hand, and comparing takes time by its length. */
const LONGEST_COMPARED = 32

/** Those of `candidates` that are nearest to `text`, whatever the case, at most `most` letters away. */
export function nearest(text: string, candidates: readonly string[], most: number): string[] {
  if (text.length > LONGEST_COMPARED) return []
  const distances = candidates.map((candidate) => ({
    candidate,
    distance: editDistance(text.toUpperCase(), candidate.toUpperCase()),
  }))
  const least = Math.min(most, ...distances.map(({ distance }) => distance))
  return distances.filter(({ distance }) => distance === least).map(({ candidate }) => candidate)
}

/** The question that ends a sentence of an error, or nothing where there is nothing to suggest. */
export function didYouMean(suggestions: readonly string[]): string {
  const few = suggestions.slice(0, MOST_SUGGESTED)
  if (few.length === 0) return ''
  const last = few.pop()
  return `. Did you mean ${few.length === 0 ? last : `${few.join(', ')} or ${last}`}?`
}
