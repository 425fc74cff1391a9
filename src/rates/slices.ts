/** Work that yields between slices, so that other tasks can run. */
export type Slices<Result> = Generator<undefined, Result, undefined>

/** Resolves after other tasks have run. */
export type Pause = () => Promise<void>

/** Runs `work` without pauses. */
export function runAtOnce<Result>(work: Slices<Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done) return value
  }
}

/** Runs `work` with a pause after each slice; rejects with the reason of `signal` when it aborts. */
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
