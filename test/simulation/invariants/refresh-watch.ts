import type { DataSet } from '../faults/upstream-fault.ts'
import type { EventLoop } from '../world/event-loop.ts'
import type { Process } from '../world/process.ts'
import type { Violate } from './violation.ts'

const SECOND = 1_000

/** When faults have ended, fresh data are served after 5 minutes, a pause after failures and another process's claim. */
const RECOVERY = (300 + 450 + 450) * SECOND

/** A refresh that an answer starts takes no longer than this, when all is well. */
const PROMPT = 50 * SECOND

/** Watches what answers say of the next refresh: I8, I10 and I14. */
export interface RefreshWatch {
  /** From when nothing that went wrong excuses a process any more, in ms of virtual time. */
  recoveredFrom(process: Process, dataSet: DataSet): number
  /** An answer was given, with a `Cache-Status`. */
  answered(process: Process, dataSet: DataSet, cacheStatus: string): void
}

/** What the watch is made from. */
export interface RefreshWatchOptions {
  loop: EventLoop
  /** When all faults have ended, in ms of virtual time. */
  calmFrom: number
  violate: Violate
}

/** A watch over all processes. */
export function createRefreshWatch(options: RefreshWatchOptions): RefreshWatch {
  const { loop, calmFrom, violate } = options
  const now = loop.now

  function recoveredFrom({ startedAt, knowledge }: Process, dataSet: DataSet): number {
    // A cold start may have to wait for another process's claim even on the best of days.
    return Math.max(calmFrom, startedAt, knowledge[dataSet].pauseUntil) + RECOVERY
  }

  /** What an answer says of its own age must be consistent with the answers before it. */
  function requireConsistent(process: Process, dataSet: DataSet, refreshAt: number): void {
    const known = process.knowledge[dataSet]
    const isSame = known.refreshNews === known.news && known.refreshJumps === process.clock.jumps()
    if (isSame && Math.abs(refreshAt - known.refreshAt) > 1_100) {
      const moved = Math.round(refreshAt - known.refreshAt)
      violate('I8', `the refresh of ${dataSet} is put off by ${moved} ms though nothing was loaded`)
    }
    if (!isSame) known.refreshAt = refreshAt
    known.refreshNews = known.newsAt < now() ? known.news : -1
    known.refreshJumps = process.clock.jumps()
  }

  function requireLively(process: Process, dataSet: DataSet, isStale: boolean): void {
    const known = process.knowledge[dataSet]
    const isJudged = !process.isClosed && now() > recoveredFrom(process, dataSet)
    if (!isStale || !isJudged) known.staleAnswers = []
    else if (now() - (known.staleAnswers.at(-1) ?? -Infinity) > PROMPT) {
      known.staleAnswers.push(now())
    }
    // The first may have found another process at work, the second finds what that has stored.
    if (known.staleAnswers.length > 2) {
      violate('I14', `${dataSet} is overdue though three answers in a row might have changed that`)
    }
  }

  return {
    recoveredFrom,
    answered(process, dataSet, cacheStatus) {
      const [, ttl] = /^rates; hit; ttl=(-?\d+)/.exec(cacheStatus) ?? []
      if (ttl !== undefined) {
        requireConsistent(process, dataSet, now() + Number(ttl) * SECOND)
        requireLively(process, dataSet, Number(ttl) < 0)
      } else if (cacheStatus !== 'rates; fwd=miss') {
        violate('I10', `Cache-Status is "${cacheStatus}"`)
      }
    },
  }
}
