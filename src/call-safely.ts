/** Calls a hook of the user's, whose failure is his own: neither a throw nor a promise that rejects comes through. */
export function callSafely(hook: () => unknown): void {
  try {
    Promise.resolve(hook()).catch(() => undefined)
  } catch {
    // As above.
  }
}
