/** An invalid command line or environment; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Returns the message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Calls `make` and returns its result.
 *
 * @throws {UsageError} `name: message` if `make` throws, where `name` is a flag or variable
 */
export function withUsageError<Made>(name: string, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    throw new UsageError(`${name}: ${messageOf(error)}`, { cause: error })
  }
}
