import type { RatesEvent } from '../../../src/index.ts'
import { requireDaily } from '../../daily-data-set.ts'
import type { DataSet, Fault } from '../../faults/fault.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../virtual-runtime.ts'
import type { Scene } from '../world/fleet.ts'
import type { Clock, Process } from '../world/machine.ts'
import type { SimStore } from '../world/store.ts'
import { LATEST_CODES } from '../world/truth.ts'
import { newCall, noteNews } from './knowledge.ts'
import type { Call, DataSetKnowledge } from './knowledge.ts'
import type { Oracle } from './oracle.ts'

/** A call of one upstream is given up after this long at the latest. */
const CALL_LIMIT: Record<DataSet, number> = { latest: 5 * SECOND, history: 10 * SECOND }

/** Nothing is asked again sooner than this after it was loaded. */
const REST_AFTER_SUCCESS = 10 * MINUTE + 30 * SECOND

/** Pauses after failures in a row double up to this. */
const LONGEST_REST = 300 * SECOND

/** Sums of real numbers are not exact. In ms. */
const INEXACT = 0.01

export type UpstreamWatch = ReturnType<typeof createUpstreamWatch>

/** Watches every call of an upstream: I7 and I9; I3 and I4 through what is taken, and I13 through the fleet. */
export function createUpstreamWatch(scene: Scene, oracle: Oracle, store: SimStore) {
  const { loop, violate } = scene
  const fleet = createFleetWatch(scene, store)
  const takings = createTakenWatch(scene, oracle)
  const now = loop.now

  function asked(process: Process, dataSet: DataSet): void {
    const known = process.knowledge[dataSet]
    if (known.call) violate('I7', `${dataSet} is asked for while a call is under way`)
    if (process.isClosed) violate('I12', `${dataSet} is asked for after close()`)
    const clockWasSet = known.restJumps !== process.clock.jumps()
    const early = Math.max(known.restUntil, known.pauseUntil) - now()
    if (!clockWasSet && early > INEXACT) {
      violate('I7', `${dataSet} is asked for ${Math.round(early)} ms before its pause is over`)
    }
    fleet.asked(process, dataSet)
    known.call = newCall(now())
  }

  /** A call that has ended, or ought to have. */
  function requireEnded(process: Process, dataSet: DataSet, { askedAt }: Call): void {
    const running = now() - Math.max(askedAt, process.pausedUntil)
    if (running <= CALL_LIMIT[dataSet] + SECOND) return
    violate('I9', `a call for ${dataSet} takes longer than ${Math.round(running)} ms`)
  }

  function end(process: Process, dataSet: DataSet): Call {
    const known = process.knowledge[dataSet]
    const { call } = known
    if (!call) violate('I7', `a call for ${dataSet} ends that nobody made`)
    else requireEnded(process, dataSet, call)
    known.call = undefined
    // A clock that is set ends a pause, or it may.
    if (known.restJumps !== process.clock.jumps()) known.pauseUntil = -Infinity
    known.restJumps = process.clock.jumps()
    return call ?? newCall(now())
  }

  function answered(process: Process, dataSet: DataSet): void {
    const call = end(process, dataSet)
    const known = process.knowledge[dataSet]
    takings.taken(process, dataSet, call)
    fleet.loaded(process, dataSet, call)
    noteNews(known, now())
    known.failures = 0
    known.restUntil = now() + REST_AFTER_SUCCESS
  }

  function failed(process: Process, dataSet: DataSet): void {
    const call = end(process, dataSet)
    const known = process.knowledge[dataSet]
    if (isGood(process, call)) violate('I14', `a good answer for ${dataSet} was refused`)
    known.failures += 1
    known.restUntil = now() + Math.min(SECOND * 2 ** (known.failures - 1), LONGEST_REST)
    const { fault } = call
    // After a pause of the process nobody knows whether the answer or the time limit came first.
    if (fault?.verdict !== 'refused' || process.pausedUntil >= call.askedAt) return
    known.pauseUntil = now() + pauseOf(fault, process.clock.ahead())
  }

  /** What came from the store is held now, and all is well: but for a pause that the upstream asked for. */
  function restored({ knowledge }: Process, dataSet: DataSet): void {
    const known = knowledge[dataSet]
    if (known.deliveredAt < now()) violate('I3', `${dataSet} is said to come from the store`)
    noteNews(known, now())
    known.failures = 0
    known.restUntil = -Infinity
  }

  /** Whether nothing at all was wrong with what was answered, so that it ought to have been taken. */
  function isGood(process: Process, { fault, verdict, askedAt, signal }: Call): boolean {
    const wasInTime = process.pausedUntil < askedAt && now() - askedAt < 2 * SECOND
    return signal !== undefined && !fault && verdict === 'take' && wasInTime && !process.isClosed
  }

  return {
    onEvent(process: Process, event: RatesEvent) {
      if (event.type === 'internal_error') violate('I1', `500: ${String(event.error)}`)
      if (!('dataSet' in event)) return
      const dataSet = requireDaily(event.dataSet)
      if (event.type === 'upstream_asked') asked(process, dataSet)
      if (event.type === 'upstream_answered') answered(process, dataSet)
      if (event.type === 'upstream_failed') failed(process, dataSet)
      if (event.type === 'rates_rejected' && event.origin === 'upstream') {
        failed(process, dataSet)
      }
      if (event.type === 'rates_dropped') {
        process.knowledge[dataSet].call?.dropped.push(...event.dropped)
      }
      if (event.type === 'rates_held_back') takings.heldBack(process, dataSet, event.codes)
      if (event.type === 'rates_restored') restored(process, dataSet)
    },
    /** The call that a `fetch` with `signal` belongs to, or nothing where the call has been given up. */
    callOf(process: Process, dataSet: DataSet, signal: AbortSignal) {
      const { call } = process.knowledge[dataSet]
      if (call && (call.signal ?? signal) === signal) {
        call.signal = signal
        return call
      }
      if (!signal.aborted) violate('I7', `${dataSet} is fetched without a call`)
      return undefined
    },
    onDelivery(process: Process, dataSet: DataSet, value: unknown) {
      if (typeof value === 'string') process.knowledge[dataSet].deliveredAt = now()
    },
    onClaim(process: Process, dataSet: DataSet, isGranted: boolean) {
      const known = process.knowledge[dataSet]
      if (!isGranted) known.refusedAt = now()
      known.refusedSince = isGranted ? undefined : (known.refusedSince ?? now())
    },
    sweep(process: Process) {
      for (const dataSet of ['latest', 'history'] as const) {
        const { call } = process.knowledge[dataSet]
        if (call) requireEnded(process, dataSet, call)
      }
    },
  }
}

/** How long an upstream is to be left alone after `fault`, by a caller whose clock is `clockAhead` ms ahead of true time. */
function pauseOf({ pause = 0, datedIn }: Fault, clockAhead: number): number {
  if (datedIn === undefined) return pause
  return Math.min(Math.max(SECOND, datedIn - clockAhead - 5 * SECOND), 6 * HOUR)
}

/** Longer than this no process keeps a rate for which another was held back, in ms. */
const HELD_BACK_FOR = 8 * DAY

/** Watches what processes take from upstreams: I3 and I4. */
function createTakenWatch({ loop, violate }: Scene, oracle: Oracle) {
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
    // A rate held back is reported at the moment at which the table is taken.
    const heldBack = known.heldBackAt === now() ? known.heldBack : []
    oracle.takeTable({ sent, dropped, heldBack }, process.clock.now())
  }

  return {
    /** Of what a process is about to take, from an upstream or a store, it does not serve the rates of `codes`. */
    heldBack({ knowledge }: Process, dataSet: DataSet, codes: readonly string[]) {
      knowledge[dataSet].heldBack = codes
      knowledge[dataSet].heldBackAt = now()
      for (const code of codes) heldBackAt.set(code, now())
    },
    taken(process: Process, dataSet: DataSet, call: Call) {
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

/** A process without any data waits this long for another's result before it asks for itself. */
const POLLING = 4 * SECOND

/** A process that was refused for this long does without a claim. */
const LONGEST_REFUSAL = 6 * HOUR - SECOND

/** What a store did wrong may still come to light for so long. */
const AFTERMATH = 11 * MINUTE

/** Watches that a fleet with a healthy store asks once for all: I13. */
function createFleetWatch(scene: Scene, store: SimStore) {
  const { loop, startsAt, hasClaims, skew, violate } = scene
  /** What a process loaded last for all, in ms of virtual time: before `dueAt`, no process needs to ask again. */
  const lastLoaded = new Map<DataSet, { process: Process; at: number; dueAt: number }>()

  /** Whether nothing has happened since `since` that excuses a call too many. */
  function isQuiet(since: number, ...processes: Process[]): boolean {
    const wasPaused = processes.some((each) => each.pausedUntil > since - MINUTE)
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
    if (holder === process || !isQuiet(loop.now(), process)) return
    const { refusedSince = Infinity, refusedAt } = process.knowledge[dataSet]
    const hasWaited = !holder || loop.now() - refusedAt > POLLING - 100
    if (mayBeCold(process, dataSet) && hasWaited) return
    if (loop.now() - refusedSince > LONGEST_REFUSAL) return
    violate('I13', `${dataSet} is asked for without a claim`)
  }

  return {
    asked(process: Process, dataSet: DataSet) {
      const key = `rates:v1:${dataSet}`
      requireClaim(process, dataSet, key)
      const loaded = lastLoaded.get(dataSet)
      const storedSince = store.storedSince(key) ?? -Infinity
      if (!loaded || storedSince < loaded.at || !isQuiet(loaded.at, process, loaded.process)) return
      if (loop.now() < loaded.dueAt - 2 * skew) {
        violate('I13', `${dataSet} is asked for though a process has loaded it for all`)
      }
    },
    loaded(process: Process, dataSet: DataSet, { sent, fault }: Call) {
      const announced = sent ? sent.nextUpdateAt - startsAt : 0
      // Nothing is due sooner than ten minutes or later than a day after it was loaded, even if another time was announced.
      const dueAt = Math.max(announced, loop.now() + 10 * MINUTE) + 30 * SECOND
      const latest = loop.now() + 25 * HOUR
      // A process with a wrong clock is not believed, and what is odd may be good for one process but not for another.
      const isForAll = isRight(process.clock) && !fault
      const due = isForAll ? Math.min(dueAt, latest) : -Infinity
      lastLoaded.set(dataSet, { process, at: loop.now(), dueAt: due })
    },
  }
}
