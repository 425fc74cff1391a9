/** The longest chain of causes described: causes may be circular. */
const MAX_CAUSES = 4

/** The maximum length of a reason in an event, in characters. */
export const MAX_REASON = 300

/**
 * Describes a thrown value in at most 300 characters: the messages of an error and its causes, because `fetch` puts the
 * network error in the cause of "fetch failed". Of an `UpstreamError` the causes are omitted: they may quote the upstream,
 * as a JSON parser quotes invalid text.
 */
export function reasonOf(thrown: unknown): string {
  try {
    return shortened(describe(thrown, 0), MAX_REASON)
  } catch {
    return 'an error with unreadable properties'
  }
}

function describe(thrown: unknown, depth: number): string {
  if (typeof thrown === 'string') return thrown
  if (!(thrown instanceof Error)) return `thrown value is not an Error: ${typeof thrown}`
  if (thrown instanceof SyntaxError) return 'a syntax error in a parsed text'
  const { name, cause } = thrown
  const message = String(thrown.message)
  const hasMore = cause instanceof Error && depth < MAX_CAUSES && name !== 'UpstreamError'
  return hasMore ? `${message}: ${describe(cause, depth + 1)}` : message
}

/** Returns `text`, cut to `length` characters with an ellipsis. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  // The cut must not leave half of a surrogate pair.
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
