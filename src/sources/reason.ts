/** Causes may go round in a circle. */
const MAX_CAUSES = 4

/** The longest reason of an event, in characters. */
export const MAX_REASON = 300

/**
 * Describes what was thrown in at most 300 characters: the messages of an error and its causes, as `fetch` hides what went
 * wrong on the wire behind "fetch failed". A message of a built-in provider is complete without its causes, which may quote
 * the upstream, as a parser quotes what it cannot read.
 */
export function reasonOf(thrown: unknown): string {
  try {
    return shortened(describe(thrown, 0), MAX_REASON)
  } catch {
    return 'an error that cannot be read'
  }
}

function describe(thrown: unknown, depth: number): string {
  if (typeof thrown === 'string') return thrown
  if (!(thrown instanceof Error)) return `something other than an error: ${typeof thrown}`
  if (thrown instanceof SyntaxError) return 'a text that cannot be parsed'
  const { name, cause } = thrown
  const message = String(thrown.message)
  const hasMore = cause instanceof Error && depth < MAX_CAUSES && name !== 'UpstreamError'
  return hasMore ? `${message}: ${describe(cause, depth + 1)}` : message
}

/** Returns `text`, or its first characters and an ellipsis where it is longer than `length`. */
export function shortened(text: string, length: number): string {
  if (text.length <= length) return text
  // Half of a surrogate pair is not a character.
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`
}
