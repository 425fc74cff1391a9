import type { RatesEvent } from '../../../src/events.ts'
import { requireDaily } from '../../daily-data-set.ts'
import type { DataSet } from '../faults/upstream-fault.ts'
import type { Process } from '../world/process.ts'
import type { FleetWatch } from './fleet-watch.ts'
import { noteNews } from './knowledge.ts'
import type { Call } from './knowledge.ts'
import { createTakenWatch } from './taken-watch.ts'
import type { TakenWatchOptions } from './taken-watch.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** A call of one upstream is given up after this long at the latest. */
const CALL_LIMIT: Record<DataSet, number> = { latest: 5 * SECOND, history: 10 * SECOND }

/** Nothing is asked again sooner than this after it was loaded. */
const REST_AFTER_SUCCESS = 10 * MINUTE + 30 * SECOND

/** Pauses after failures in a row double up to this. */
const LONGEST_REST = 300 * SECOND

/** Sums of real numbers are not exact. In ms. */
const INEXACT = 0.01

/** Watches every call of an upstream: I7 and I9; I3 and I4 through what is taken, and I13 through the fleet. */
export interface UpstreamWatch {
  /** An event that a handler tells of. */
  onEvent(process: Process, event: RatesEvent): void
  /** The call that a `fetch` with `signal` belongs to, or nothing where the call has been given up. */
  callOf(process: Process, dataSet: DataSet, signal: AbortSignal): Call | undefined
  /** The store gave something. */
  onDelivery(process: Process, dataSet: DataSet, value: unknown): void
  /** A claim was granted or refused. */
  onClaim(process: Process, dataSet: DataSet, isGranted: boolean): void
  /** Looks for calls that do not end. */
  sweep(process: Process): void
}

/** What the watch is made from. */
export interface UpstreamWatchOptions extends TakenWatchOptions {
  fleet: FleetWatch
}

/** A watch over all processes. */
export function createUpstreamWatch(options: UpstreamWatchOptions): UpstreamWatch {
  const { loop, fleet, violate } = options
  const takings = createTakenWatch(options)
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
    if (!fault?.pause || process.resumedAt >= call.askedAt) return
    known.pauseUntil = now() + fault.pause(process.clock.ahead())
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
    const wasInTime = process.resumedAt < askedAt && now() - askedAt < 2 * SECOND
    return signal !== undefined && !fault && verdict === 'take' && wasInTime && !process.isClosed
  }

  return {
    onEvent(process, event) {
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
    callOf(process, dataSet, signal) {
      const { call } = process.knowledge[dataSet]
      if (call && (call.signal ?? signal) === signal) {
        call.signal = signal
        return call
      }
      if (!signal.aborted) violate('I7', `${dataSet} is fetched without a call`)
      return undefined
    },
    onDelivery(process, dataSet, value) {
      if (typeof value === 'string') process.knowledge[dataSet].deliveredAt = now()
    },
    onClaim(process, dataSet, isGranted) {
      const known = process.knowledge[dataSet]
      if (!isGranted) known.refusedAt = now()
      known.refusedSince = isGranted ? undefined : (known.refusedSince ?? now())
    },
    sweep(process) {
      for (const dataSet of ['latest', 'history'] as const) {
        const { call } = process.knowledge[dataSet]
        if (call) requireEnded(process, dataSet, call)
      }
    },
  }
}

function newCall(askedAt: number): Call {
  return {
    askedAt,
    signal: undefined,
    fault: undefined,
    isFaultChosen: false,
    verdict: 'take',
    sent: undefined,
    dropped: [],
  }
}
