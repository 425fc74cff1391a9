/** Causes may go round in a circle. */
const DEEPEST_CAUSE = 4

/** The messages of an error and of what caused it: `fetch` hides what went wrong on the wire behind "fetch failed". */
export function reasonOf(thrown: unknown, depth = 0): string {
  if (typeof thrown === 'string') return thrown
  if (!(thrown instanceof Error)) return `something thrown that is no error: ${typeof thrown}`
  const hasCause = thrown.cause instanceof Error && depth < DEEPEST_CAUSE
  const message = String(thrown.message)
  return hasCause ? `${message}: ${reasonOf(thrown.cause, depth + 1)}` : message
}
