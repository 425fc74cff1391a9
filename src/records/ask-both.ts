import type { HistorySnapshot } from '../sources/history-source.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { Reading, RateSources, Waiter } from '../sources/sources.ts'

/** Both data sets; undefined where there is nothing to be had. */
export interface BothReadings {
  latest: Reading<LatestSnapshot> | undefined
  history: Reading<HistorySnapshot> | undefined
}

/** Asks for both data sets at once, for what can be answered without them. */
export async function askBoth(sources: RateSources, waiter?: Waiter): Promise<BothReadings> {
  const [latest, history] = await Promise.all([
    orNothing(async () => sources.latest(waiter)),
    orNothing(async () => sources.history(waiter)),
  ])
  return { latest, history }
}

async function orNothing<Value>(ask: () => Promise<Value>): Promise<Value | undefined> {
  return ask().catch(() => undefined)
}
