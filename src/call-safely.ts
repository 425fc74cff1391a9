/** Calls a user hook; ignores exceptions and rejections. */
export function callSafely(hook: () => unknown): void {
  try {
    Promise.resolve(hook()).catch(() => undefined)
  } catch {
    // Ignored, like a rejection.
  }
}
