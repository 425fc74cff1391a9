/** The command line or the environment cannot be used as it is; ends the process with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What `error` says. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Returns what `make` returns.
 *
 * @throws {UsageError} with the message of what `make` throws, and `name`, which is what the operator wrote
 */
export function orUsageError<Made>(name: string, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    throw new UsageError(`${name}: ${messageOf(error)}`, { cause: error })
  }
}
