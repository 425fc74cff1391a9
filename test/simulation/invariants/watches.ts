import { getEventListeners } from 'node:events'

import { toDay } from '../../fixtures/dates.ts'
import { DAY, MINUTE } from '../../virtual-runtime.ts'
import type { Scene } from '../world/fleet.ts'
import type { Process } from '../world/machine.ts'
import type { SimStore } from '../world/store.ts'
import { REFERENCE_CODES, createOracle, hourInFrankfurt, targetDays } from '../world/truth.ts'
import type { Truth } from '../world/truth.ts'
import { createResponseWatch } from './response-watch.ts'
import type { SentRequest } from './response-watch.ts'
import { createUpstreamWatch } from './upstream-watch.ts'

export class Violation extends Error {
  override readonly name = 'Violation'

  /**
   * `invariant` is `I1` to `I20`; see `createBankWatch` for the last two. I17: a served rate is never further than the threshold from the last confirmed one.
   * I18: a code that was once served is answered with a rate or with 502, never with 400, until it is withdrawn.
   */
  constructor(invariant: string, message: string) {
    super(`${invariant}: ${message}`)
  }
}

/** Ends the simulation: `invariant` (I1 to I20) is broken, as `message` describes. */
export type Violate = (invariant: string, message: string) => void

export type Watches = ReturnType<typeof createWatches>

export function createWatches(scene: Scene & Truth, store: SimStore) {
  const oracle = createOracle(scene.referenceRates)
  const upstream = createUpstreamWatch(scene, { oracle, store })
  const responses = createResponseWatch(scene, oracle)
  const bounds = createBoundsWatch(scene)

  return {
    upstream,
    responses,
    bounds,
    sweep(processes: readonly Process[], pending: readonly SentRequest[]) {
      for (const sent of pending) responses.sweep(sent)
      for (const process of processes) {
        upstream.sweep(process)
        bounds.sweep(process, pending.filter((sent) => sent.process === process).length)
      }
    },
    end: (processes: readonly Process[]) => processes.forEach((each) => requireFresh(each, scene)),
  }
}

/** Timers of a process that do not belong to a waiting client: of loads and of the store. */
const TIMERS_OF_A_PROCESS = 24

const TIMERS_OF_A_CLIENT = 2

/** Loads of the newest days and of pieces, in order or not. */
const TIMERS_OF_A_BANK = 40

function createBoundsWatch({ loop, banks, violate }: Scene) {
  return {
    sweep(process: Process, waiting: number) {
      const ofProcess = TIMERS_OF_A_PROCESS + TIMERS_OF_A_BANK * banks.length
      const most = ofProcess + TIMERS_OF_A_CLIENT * waiting
      if (process.timers() <= most) return
      violate('I12', `${process.timers()} timers are set with ${waiting} clients waiting`)
    },
    drained(process: Process) {
      if (process.timers() === 0 || process.pausedUntil >= loop.now()) return
      violate('I12', `${process.timers()} timers are still set after close()`)
    },
    onResponse(signal: AbortSignal) {
      const listeners = getEventListeners(signal, 'abort').length
      if (listeners > 0) violate('I12', `${listeners} listeners remain on the signal of a client`)
    },
  }
}

/** Longest time from a publication to the refresh, clock errors and jitter included. In ms. */
const LATEST_DELAY = 60 * MINUTE
const HISTORY_DELAY = 30 * MINUTE

/** Checks that every process serves the last publication after a day without faults: I14. */
function requireFresh({ knowledge, host, clock }: Process, scene: Scene & Truth): void {
  const { feed, violate, startsAt, duration } = scene
  const endsAt = startsAt + duration
  const published = feed.at(endsAt - LATEST_DELAY).updatedAt
  const { publishedAt } = knowledge.latest
  if (!(publishedAt >= published)) {
    const [found, wanted] = [publishedAt, published].map((time) => new Date(time).toUTCString())
    violate('I14', `at the end process ${host} serves ${found}, not ${wanted}`)
  }
  // A process with a wrong clock may have missed Friday's rates, and then fetches them on Monday.
  if (clock.jumps() > 0) return
  const newest = newestExpected(scene)
  const last = knowledge.history.served
  if (newest !== undefined && last < newest) {
    violate('I14', `at the end process ${host} serves history to ${last}, not to ${newest}`)
  }
}

function newestExpected(scene: Scene & Truth): string | undefined {
  const { referenceRates, startsAt, calmFrom, duration } = scene
  const endsAt = startsAt + duration
  const day = referenceRates.newest(endsAt - HISTORY_DELAY)
  const due = hourInFrankfurt(day, 16)
  const first = officeTime(Math.max(referenceRates.availableAt(day), startsAt + calmFrom))
  const again = officeTime(first + Math.max(10 * MINUTE, (first - due) / 4))
  const isWhole = referenceRates.on(day)?.size === REFERENCE_CODES.length
  return isWhole && again + HISTORY_DELAY < endsAt ? day : undefined
}

/** Returns `instant`, or the next time between 8:00 and 22:00 in Frankfurt on a working day, when the relay is polled. */
function officeTime(instant: number): number {
  for (const day of targetDays(toDay(instant), toDay(instant + 7 * DAY))) {
    if (instant < hourInFrankfurt(day, 22)) return Math.max(instant, hourInFrankfurt(day, 8))
  }
  return Infinity
}
