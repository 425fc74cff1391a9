import type { DataSet } from '../faults/upstream-fault.ts'
import type { Clock } from '../world/clock.ts'
import type { EventLoop } from '../world/event-loop.ts'
import type { Process } from '../world/process.ts'
import type { SimStore } from '../world/store.ts'
import type { Call } from './knowledge.ts'
import type { Violate } from './violation.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** Whoever has nothing at all waits so long for another's result before it asks for itself. */
const POLLING = 4 * SECOND

/** Whoever was refused for so long does without a claim. */
const LONGEST_REFUSAL = 6 * 60 * MINUTE - SECOND

/** What a store did wrong may still come to light for so long. */
const AFTERMATH = 11 * MINUTE

/** Watches that a fleet with a healthy store asks once for all: I13. */
export interface FleetWatch {
  /** A process asks. */
  asked(process: Process, dataSet: DataSet): void
  /** A process has taken what `call` brought. */
  loaded(process: Process, dataSet: DataSet, call: Call): void
}

/** What the watch is made from. */
export interface FleetWatchOptions {
  loop: EventLoop
  /** Ms since the Unix epoch. */
  startsAt: number
  store: Pick<SimStore, 'holderOf' | 'storedSince' | 'troubledAt' | 'trustedSince'>
  /** Whether the store grants claims. */
  hasClaims: boolean
  /** How far the clocks of two processes are apart at most, in ms, while none is set. */
  skew: number
  violate: Violate
}

/** What a process loaded last for all. In ms of virtual time. */
interface Loaded {
  process: Process
  at: number
  /** Before, nobody needs to ask again. */
  dueAt: number
}

/** A watch over all processes together. */
export function createFleetWatch(options: FleetWatchOptions): FleetWatch {
  const { loop, startsAt, store, hasClaims, skew, violate } = options
  const lastLoaded = new Map<DataSet, Loaded>()

  /** Whether nothing has happened since `since` that excuses a call too many. */
  function isQuiet(since: number, ...processes: Process[]): boolean {
    const wasPaused = processes.some((each) => each.resumedAt > since - MINUTE)
    const isTrusted = processes.every((each) => store.trustedSince(each) < loop.now())
    const wasSet = processes.some(({ clock }) => clock.jumps() > 0 || !isRight(clock))
    return hasClaims && isTrusted && !wasPaused && !wasSet && store.troubledAt() < since - AFTERMATH
  }

  function isRight(clock: Clock): boolean {
    return Math.abs(clock.ahead()) <= skew
  }

  /** Whether a process may have nothing to answer with, and so cannot wait for others for ever. */
  function mayBeCold({ knowledge, clock }: Process, dataSet: DataSet): boolean {
    return clock.oldest() >= knowledge[dataSet].usableUntil
  }

  function requireClaim(process: Process, dataSet: DataSet, key: string): void {
    const holder = store.holderOf(key)
    if (holder?.process === process || !isQuiet(loop.now(), process)) return
    const { refusedSince = Infinity, refusedAt } = process.knowledge[dataSet]
    const hasWaited = !holder || loop.now() - refusedAt > POLLING - 100
    if (mayBeCold(process, dataSet) && hasWaited) return
    if (loop.now() - refusedSince > LONGEST_REFUSAL) return
    violate('I13', `${dataSet} is asked for without a claim`)
  }

  return {
    asked(process, dataSet) {
      const key = `rates:v1:${dataSet}`
      requireClaim(process, dataSet, key)
      const loaded = lastLoaded.get(dataSet)
      const storedSince = store.storedSince(key) ?? -Infinity
      if (!loaded || storedSince < loaded.at || !isQuiet(loaded.at, process, loaded.process)) return
      if (loop.now() < loaded.dueAt - 2 * skew) {
        violate('I13', `${dataSet} is asked for though a process has loaded it for all`)
      }
    },
    loaded(process, dataSet, { sent, fault }) {
      const announced = sent ? sent.nextUpdateAt - startsAt : 0
      // Nothing is due sooner than ten minutes or later than a day after it was loaded, whatever was announced.
      const dueAt = Math.max(announced, loop.now() + 10 * MINUTE) + 30 * SECOND
      const latest = loop.now() + 25 * 60 * MINUTE
      // A process with a wrong clock is not believed, and what is odd may be good for one process but not for another.
      const isForAll = isRight(process.clock) && !fault
      const due = isForAll ? Math.min(dueAt, latest) : -Infinity
      lastLoaded.set(dataSet, { process, at: loop.now(), dueAt: due })
    },
  }
}
