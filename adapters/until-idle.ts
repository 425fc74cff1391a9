const DRAIN_TIMEOUT_MS = 10_000

const POLL_INTERVAL_MS = 20

/** Resolves when `isBusy` returns false, or after 10 s. */
export async function untilIdle(isBusy: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + DRAIN_TIMEOUT_MS
  while (isBusy() && performance.now() < giveUpAt) {
    await new Promise((resolve) => void setTimeout(resolve, POLL_INTERVAL_MS))
  }
}
