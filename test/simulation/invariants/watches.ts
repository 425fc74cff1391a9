import type { EventLoop } from '../world/event-loop.ts'
import type { LatestFeed } from '../world/latest-feed.ts'
import type { Process } from '../world/process.ts'
import type { ReferenceRates } from '../world/reference-rates.ts'
import type { Settings } from '../world/settings.ts'
import type { SimStore } from '../world/store.ts'
import { createAnswerWatch } from './answer-watch.ts'
import type { AnswerWatch, Asked } from './answer-watch.ts'
import { createBoundsWatch } from './bounds-watch.ts'
import type { BoundsWatch } from './bounds-watch.ts'
import { requireFresh } from './final-checks.ts'
import { createFleetWatch } from './fleet-watch.ts'
import { createOracle } from './oracle.ts'
import { createUpstreamWatch } from './upstream-watch.ts'
import type { UpstreamWatch } from './upstream-watch.ts'
import type { Violate } from './violation.ts'

/** All the invariants together. */
export interface Watches {
  upstream: UpstreamWatch
  answers: AnswerWatch
  bounds: BoundsWatch
  /** Looks for what ought to have ended, now and then. */
  sweep(processes: readonly Process[], pending: Iterable<Asked>): void
  /** What must hold in the end. */
  end(processes: readonly Process[]): void
}

/** What the watches are made from. */
export interface WatchesOptions extends Settings {
  loop: EventLoop
  simStore: SimStore
  feed: LatestFeed
  referenceRates: ReferenceRates
  violate: Violate
}

/** Watches over a world in which nothing has happened yet. */
export function createWatches(options: WatchesOptions): Watches {
  const { loop, referenceRates, startsAt, duration, calmFrom, violate } = options
  const oracle = createOracle(referenceRates)
  const fleet = createFleetWatch({ ...options, store: options.simStore })
  const upstream = createUpstreamWatch({ ...options, oracle, fleet })
  const answers = createAnswerWatch({ ...options, oracle })
  const bounds = createBoundsWatch(loop, violate)

  return {
    upstream,
    answers,
    bounds,
    sweep(processes, pending) {
      const waiting = new Map<Process, number>()
      for (const asked of pending) {
        answers.sweep(asked)
        waiting.set(asked.process, 1 + (waiting.get(asked.process) ?? 0))
      }
      for (const process of processes) {
        upstream.sweep(process)
        bounds.sweep(process, waiting.get(process) ?? 0)
      }
    },
    end(processes) {
      const ending = { ...options, calmFrom: startsAt + calmFrom, endsAt: startsAt + duration }
      for (const process of processes) requireFresh(process, ending)
    },
  }
}
