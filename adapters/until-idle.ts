/** How long answers under way may take to finish once a server is told to stop, in ms. */
const DRAIN_TIMEOUT_MS = 10_000

/** How often it is looked whether they have, in ms. */
const POLL_INTERVAL_MS = 20

/** Resolves once `isBusy` says no, at the latest when answers under way have had their time to finish. */
export async function untilIdle(isBusy: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + DRAIN_TIMEOUT_MS
  while (isBusy() && performance.now() < giveUpAt) {
    await new Promise((resolve) => void setTimeout(resolve, POLL_INTERVAL_MS))
  }
}
