import type { LatestFeed } from '../world/latest-feed.ts'
import type { Process } from '../world/process.ts'
import type { ReferenceRates } from '../world/reference-rates.ts'
import { REFERENCE_CODES } from '../world/reference-rates.ts'
import { dayOf, fourOClock, hourInFrankfurt, targetDays } from '../world/target-days.ts'
import type { Violate } from './violation.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

/** A table is refreshed so long after the next one can be fetched, clocks and jitter included. */
const LATEST_DELAY = 60 * MINUTE

/** The same for reference rates that come on time. */
const HISTORY_DELAY = 30 * MINUTE

/** What is known at the end. Instants in ms since the Unix epoch. */
export interface Ending {
  feed: LatestFeed
  referenceRates: ReferenceRates
  /** When all faults had ended. */
  calmFrom: number
  endsAt: number
  violate: Violate
}

/** After a day without faults every process serves what was published last: I14. */
export function requireFresh({ knowledge, host, clock }: Process, ending: Ending): void {
  const { feed, violate, endsAt } = ending
  const published = feed.at(endsAt - LATEST_DELAY).updatedAt
  const { served = '' } = knowledge.latest
  if (!(Date.parse(served) >= published)) {
    violate(
      'I14',
      `in the end process ${host} serves ${served}, not ${new Date(published).toUTCString()}`,
    )
  }
  // By a wrong clock a process may have taken Friday's rates for missing, and look for them on Monday.
  if (clock.jumps() > 0) return
  const newest = newestExpected(ending)
  const last = knowledge.history.served ?? ''
  if (newest !== undefined && last < newest) {
    violate('I14', `in the end process ${host} serves history to ${last}, not to ${newest}`)
  }
}

/** The newest day that every process must have by now, where that can be said. */
function newestExpected({ referenceRates, calmFrom, endsAt }: Ending): string | undefined {
  const day = referenceRates.newest(endsAt - HISTORY_DELAY)
  const due = fourOClock(day)
  const first = officeTime(Math.max(referenceRates.availableAt(day), calmFrom))
  const again = officeTime(first + Math.max(10 * MINUTE, (first - due) / 4))
  const isWhole = referenceRates.on(day)?.size === REFERENCE_CODES.length
  return isWhole && again + HISTORY_DELAY < endsAt ? day : undefined
}

/** `instant`, or when the relay is looked at next: from 8:00 to 22:00 in Frankfurt on working days. */
function officeTime(instant: number): number {
  for (const day of targetDays(dayOf(instant), dayOf(instant + 7 * DAY))) {
    if (instant < hourInFrankfurt(day, 22)) return Math.max(instant, hourInFrankfurt(day, 8))
  }
  return Infinity
}
