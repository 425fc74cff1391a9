/** Work that yields wherever something else may run before it goes on; its result is what it returns. */
export type Slices<Result> = Generator<undefined, Result, undefined>

/** Waits until something else has run. */
export type Pause = () => Promise<void>

/** Runs all of `work` at once. */
export function runAtOnce<Result>(work: Slices<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Runs `work` with a pause after each slice; once `signal` aborts, rejects with its reason. */
export async function runInSlices<Result>(
  work: Slices<Result>,
  pause: Pause,
  signal?: AbortSignal,
): Promise<Result> {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
    await pause()
    signal?.throwIfAborted()
  }
}
