import type { DataSet } from '../faults/upstream-fault.ts'
import type { EventLoop } from '../world/event-loop.ts'
import { LATEST_CODES } from '../world/latest-feed.ts'
import type { Process } from '../world/process.ts'
import type { Call, DataSetKnowledge } from './knowledge.ts'
import type { Oracle } from './oracle.ts'
import type { Violate } from './violation.ts'

/** Longer than this no process keeps a rate for which another was held back, in ms. */
const HELD_BACK_FOR = 8 * 24 * 3_600_000

/** Watches what processes take from upstreams: I3 and I4. */
export interface TakenWatch {
  /** Of what a process is about to take, from an upstream or a store, it does not serve the rates of `codes`. */
  heldBack(process: Process, dataSet: DataSet, codes: readonly string[]): void
  /** A process takes what `call` brought. */
  taken(process: Process, dataSet: DataSet, call: Call): void
}

/** What the watch is made from. */
export interface TakenWatchOptions {
  loop: EventLoop
  oracle: Oracle
  violate: Violate
}

/** A watch over all processes. */
export function createTakenWatch({ loop, oracle, violate }: TakenWatchOptions): TakenWatch {
  const now = loop.now
  /** When each code was last held back. */
  const heldBackAt = new Map<string, number>()

  /** Whether a jump may be one that another table has shown before, to this process or to another. */
  function mayBeConfirmed(code: string): boolean {
    return now() - (heldBackAt.get(code) ?? -Infinity) < HELD_BACK_FOR
  }

  function isWarm({ clock }: Process, known: DataSetKnowledge): boolean {
    return clock.oldest() < known.usableUntil
  }

  /** Whether the table that was served last was a whole one, so that half of one is less. */
  function isWhole({ served = '' }: DataSetKnowledge): boolean {
    return oracle.fewestCodes(Date.parse(served)) > 0.95 * LATEST_CODES.length
  }

  function takeTable(process: Process, { sent, dropped }: Call): void {
    const known = process.knowledge.latest
    const served = Date.parse(known.served ?? '')
    if (!sent) return violate('I3', 'latest rates were taken that nobody sent')
    if (sent.updatedAt < served) {
      violate('I4', `a publication of ${new Date(sent.updatedAt).toUTCString()} was taken`)
    }
    const jumped = oracle.jumped(served, sent).filter((code) => !mayBeConfirmed(code))
    if (jumped.length > 0 && isWarm(process, known)) {
      violate('I3', `a jump of ${jumped.join()} was taken without a second publication`)
    }
    // What is held back is told at the moment at which the table is taken.
    const heldBack = known.heldBackAt === now() ? known.heldBack : []
    oracle.takeTable({ sent, dropped, heldBack }, process.clock.now())
  }

  return {
    heldBack({ knowledge }, dataSet, codes) {
      knowledge[dataSet].heldBack = codes
      knowledge[dataSet].heldBackAt = now()
      for (const code of codes) heldBackAt.set(code, now())
    },
    taken(process, dataSet, call) {
      const known = process.knowledge[dataSet]
      const name = call.fault?.name ?? 'a healthy upstream'
      if (call.verdict === 'refuse') violate('I3', `the answer of "${name}" was taken`)
      if (call.verdict === 'refuse when warm' && isWarm(process, known) && isWhole(known)) {
        violate('I3', `the answer of "${name}" was taken in spite of the table before`)
      }
      if (dataSet === 'latest') takeTable(process, call)
      else oracle.takeHistory(process.clock.now())
    },
  }
}
