import type { RatesEvent } from '../../../src/events.ts'
import type { DataSet } from '../faults/upstream-fault.ts'
import type { EventLoop } from '../world/event-loop.ts'
import { LATEST_CODES } from '../world/latest-feed.ts'
import type { Process } from '../world/process.ts'
import type { FleetWatch } from './fleet-watch.ts'
import { noteNews } from './knowledge.ts'
import type { Call, DataSetKnowledge } from './knowledge.ts'
import type { Oracle } from './oracle.ts'
import type { Violate } from './violation.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND

/** A call is given up after this long at the latest; a flight, in which there may be several things to do, a little later. */
const CALL_LIMIT: Record<DataSet, number> = { latest: 5 * SECOND, history: 10 * SECOND }

/** Nothing is asked again sooner than this after it was loaded. */
const REST_AFTER_SUCCESS = 10 * MINUTE + 30 * SECOND

/** Pauses after failures in a row double up to this. */
const LONGEST_REST = 300 * SECOND

/** Sums of real numbers are not exact. In ms. */
const INEXACT = 0.01

/** Watches every call of an upstream: I4, I7, I9 and, through the fleet, I13. */
export interface UpstreamWatch {
  /** An event that a handler tells of. */
  onEvent(process: Process, event: RatesEvent): void
  /** The call that a `fetch` with `signal` belongs to, or nothing where the call has been given up. */
  callOf(process: Process, dataSet: DataSet, signal: AbortSignal): Call | undefined
  /** What the store gave may be something new. */
  onDelivery(process: Process, dataSet: DataSet, value: unknown): void
  /** A claim was granted or refused. */
  onClaim(process: Process, dataSet: DataSet, isGranted: boolean): void
  /** Looks for calls that do not end. */
  sweep(process: Process): void
}

/** What the watch is made from. */
export interface UpstreamWatchOptions {
  loop: EventLoop
  oracle: Oracle
  fleet: FleetWatch
  /** Ms since the Unix epoch. */
  startsAt: number
  violate: Violate
}

/** A watch over all processes. */
export function createUpstreamWatch(options: UpstreamWatchOptions): UpstreamWatch {
  const { loop, oracle, fleet, violate } = options
  const now = loop.now
  const everHeldBack = new Set<string>()

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

  function end(process: Process, dataSet: DataSet): Call {
    const known = process.knowledge[dataSet]
    const { call } = known
    if (!call) violate('I7', `a call for ${dataSet} ends that nobody made`)
    known.call = undefined
    // A clock that is set ends a pause, or it may.
    if (known.restJumps !== process.clock.jumps()) known.pauseUntil = -Infinity
    known.restJumps = process.clock.jumps()
    return call ?? newCall(now())
  }

  function answered(process: Process, dataSet: DataSet): void {
    const call = end(process, dataSet)
    const known = process.knowledge[dataSet]
    const name = call.fault?.name ?? 'a healthy upstream'
    if (call.verdict === 'refuse') violate('I3', `the answer of "${name}" was taken`)
    if (call.verdict === 'refuse when warm' && isWarm(process, known) && isWhole(known)) {
      violate('I3', `the answer of "${name}" was taken in spite of the table before`)
    }
    if (dataSet === 'latest') takeTable(process, call)
    else oracle.takeHistory(process.clock.now())
    fleet.loaded(process, dataSet, call)
    noteNews(known, now())
    known.failures = 0
    known.refusedSince = undefined
    known.restUntil = now() + REST_AFTER_SUCCESS
  }

  function takeTable(process: Process, call: Call): void {
    const known = process.knowledge.latest
    const { sent } = call
    const served = Date.parse(known.served ?? '')
    if (!sent) return violate('I3', 'latest rates were taken that nobody sent')
    if (sent.updatedAt < served) {
      violate('I4', `a publication of ${new Date(sent.updatedAt).toUTCString()} was taken`)
    }
    // What was held back once may be confirmed by now.
    const jumped = oracle.jumped(served, sent).filter((code) => !everHeldBack.has(code))
    if (jumped.length > 0 && isWarm(process, known)) {
      violate('I3', `a jump of ${jumped.join()} was taken without a second publication`)
    }
    oracle.takeTable(call, process.clock.now())
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

  /** What came from the store may be held now, and then all is well: but for a pause that the upstream asked for. */
  function adopted(known: DataSetKnowledge): void {
    noteNews(known, now())
    known.failures = 0
    known.restUntil = -Infinity
  }

  /** Whether nothing at all was wrong with what was answered, so that it ought to have been taken. */
  function isGood(process: Process, { fault, verdict, askedAt, signal }: Call): boolean {
    const wasInTime = process.resumedAt < askedAt && now() - askedAt < 2 * SECOND
    return signal !== undefined && !fault && verdict === 'take' && wasInTime && !process.isClosed
  }

  function isWarm({ clock }: Process, known: DataSetKnowledge): boolean {
    return options.startsAt + now() + clock.oldest() < known.usableUntil
  }

  /** Whether the table that was served last was a whole one, so that half of one is less. */
  function isWhole({ served = '' }: DataSetKnowledge): boolean {
    return oracle.fewestCodes(Date.parse(served)) > 0.95 * LATEST_CODES.length
  }

  return {
    onEvent(process, event) {
      if (event.type === 'upstream_asked') asked(process, event.dataSet)
      if (event.type === 'upstream_answered') answered(process, event.dataSet)
      if (event.type === 'upstream_failed') failed(process, event.dataSet)
      if (event.type === 'rates_rejected' && event.origin === 'upstream') {
        failed(process, event.dataSet)
      }
      const known = 'dataSet' in event ? process.knowledge[event.dataSet] : undefined
      if (event.type === 'rates_dropped') known?.call?.dropped.push(...event.dropped)
      if (event.type === 'rates_held_back') {
        known?.call?.heldBack.push(...event.codes)
        known?.heldBack.push(...event.codes)
        for (const code of event.codes) everHeldBack.add(code)
      }
      // What was refused beside one table may be taken when that has become too old.
      if (event.type === 'refresh_scheduled' && known?.deliveredAt === now()) {
        if (known.newsAt < now()) adopted(known)
      }
      if (event.type === 'internal_error') violate('I1', `500: ${String(event.error)}`)
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
      const known = process.knowledge[dataSet]
      if (typeof value !== 'string') return
      known.deliveredAt = now()
      if (value !== known.delivered) adopted(known)
      known.delivered = value
    },
    onClaim(process, dataSet, isGranted) {
      const known = process.knowledge[dataSet]
      known.refusedSince = isGranted ? undefined : (known.refusedSince ?? now())
    },
    sweep(process) {
      for (const dataSet of ['latest', 'history'] as const) {
        const { call } = process.knowledge[dataSet]
        if (!call || process.pausedUntil >= now()) continue
        const running = now() - Math.max(call.askedAt, process.resumedAt)
        if (running > CALL_LIMIT[dataSet] + SECOND) {
          violate('I9', `a call for ${dataSet} has not ended after ${Math.round(running)} ms`)
        }
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
    heldBack: [],
  }
}
