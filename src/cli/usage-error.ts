/** The command line or the environment cannot be used as it is; ends the process with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What `make` makes; what it refuses is put down to `name`, which is what the operator wrote. */
export function told<Made>(name: string, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${name}: ${reason}`, { cause: error })
  }
}
