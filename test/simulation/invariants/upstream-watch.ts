import type { RatesEvent } from '../../../src/index.ts'
import { requireDaily } from '../../daily-data-set.ts'
import type { DataSet, Fault } from '../../faults/fault.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../virtual-runtime.ts'
import type { Scene } from '../world/fleet.ts'
import type { Clock, Process } from '../world/machine.ts'
import type { SimStore } from '../world/store.ts'
import { LATEST_CODES } from '../world/truth.ts'
import type { Publication } from '../world/truth.ts'
import { NO_NOTES, newCall, noteNews } from './knowledge.ts'
import type { Call, DataSetKnowledge } from './knowledge.ts'
import type { Oracle } from './oracle.ts'
import {
  dueAt,
  impossibleRates,
  isWithdrawn,
  keptCodes,
  lostCodes,
  needlessHoldBacks,
  restoreTable,
  takeTable,
  unconfirmedMoves,
} from './tables.ts'
import type { Notes, Table, Taking } from './tables.ts'

/** A call of one upstream is given up after this long at the latest. */
const CALL_LIMIT: Record<DataSet, number> = { latest: 5 * SECOND, history: 10 * SECOND }

/** Nothing is asked again sooner than this after it was loaded. */
const REST_AFTER_SUCCESS = 10 * MINUTE + 30 * SECOND

/** Pauses after failures in a row double up to this. */
const LONGEST_REST = 300 * SECOND

/** Sums of real numbers are not exact. In ms. */
const INEXACT = 0.01

export type UpstreamWatch = ReturnType<typeof createUpstreamWatch>

/** Watches every call of an upstream: I7 and I9; I3, I4 and I17 through what is taken, and I13 through the fleet. */
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
    known.call = { ...newCall(now()), before: known.table }
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
    noteNews(known, now())
    takings.taken(process, dataSet, call)
    fleet.loaded(process, dataSet, call)
    known.failures = 0
    known.restUntil = now() + REST_AFTER_SUCCESS
  }

  function failed(process: Process, dataSet: DataSet): void {
    const call = end(process, dataSet)
    const known = process.knowledge[dataSet]
    known.notes = NO_NOTES
    if (isGood(process, call)) violate('I14', `a good answer for ${dataSet} was refused`)
    known.failures += 1
    known.restUntil = now() + Math.min(SECOND * 2 ** (known.failures - 1), LONGEST_REST)
    const { fault } = call
    // After a pause of the process nobody knows whether the answer or the time limit came first.
    if (fault?.verdict !== 'refused' || process.pausedUntil >= call.askedAt) return
    known.pauseUntil = now() + pauseOf(fault, process.clock.ahead())
  }

  /** What came from the store is held now, and all is well: but for a pause that the upstream asked for. */
  function restored(process: Process, dataSet: DataSet): void {
    const known = process.knowledge[dataSet]
    if (known.deliveredAt < now()) violate('I3', `${dataSet} is said to come from the store`)
    noteNews(known, now())
    takings.restored(process, dataSet)
    known.failures = 0
    known.restUntil = -Infinity
  }

  /** Keeps the codes that an event names until a table is accepted at the same moment. */
  function note(known: DataSetKnowledge, kind: keyof Notes, codes: readonly string[]): void {
    known.notes = { ...(known.notedAt === now() ? known.notes : NO_NOTES), [kind]: codes }
    known.notedAt = now()
  }

  /** Whether nothing at all was wrong with what was answered, so that it ought to have been taken. */
  function isGood(process: Process, call: Call): boolean {
    const { fault, verdict, askedAt, signal, sent, before } = call
    const wasInTime = process.pausedUntil < askedAt && now() - askedAt < 2 * SECOND
    // After a publication that was dated ahead, or a clock that was set back, it may be older than the one held.
    const publishedAt = Math.min(sent?.updatedAt ?? Infinity, process.clock.now())
    const isOlder = before !== undefined && publishedAt < before.publishedAt
    const isWhole = signal !== undefined && !fault && verdict === 'take'
    return isWhole && wasInTime && !isOlder && !process.isClosed
  }

  return {
    onEvent(process: Process, event: RatesEvent) {
      if (event.type === 'internal_error') violate('I1', `500: ${String(event.error)}`)
      if (!('dataSet' in event)) return
      const dataSet = requireDaily(event.dataSet)
      if (event.type === 'upstream_request') asked(process, dataSet)
      if (event.type === 'upstream_response') answered(process, dataSet)
      if (event.type === 'upstream_failed') failed(process, dataSet)
      if (event.type === 'rates_rejected' && event.origin === 'upstream') {
        failed(process, dataSet)
      }
      const known = process.knowledge[dataSet]
      if (event.type === 'rates_dropped') note(known, 'dropped', event.dropped)
      if (event.type === 'rates_lost') note(known, 'lost', event.codes)
      if (event.type === 'rates_quarantined') note(known, 'heldBack', event.codes)
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
      if (typeof value !== 'string') return
      Object.assign(process.knowledge[dataSet], { delivered: value, deliveredAt: now() })
    },
    /** A process is about to store `text`. */
    onWrite(process: Process, dataSet: DataSet, text: string) {
      takings.written(process, dataSet, text)
    },
    onClaim(process: Process, dataSet: DataSet, isGranted: boolean) {
      const known = process.knowledge[dataSet]
      if (!isGranted) known.refusedAt = now()
      const isHeard = isGranted && store.trustedSince(process) < Infinity
      known.refusedSince = isHeard ? undefined : (known.refusedSince ?? now())
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

/** Watches what processes take from upstreams and stores: I3, I4, I14 and I17. */
function createTakenWatch({ loop, maxStale, violate }: Scene, oracle: Oracle) {
  const now = loop.now
  /** The tables that were stored, and the days that histories lacked, by the texts that they became. */
  const tables = new Map<unknown, Table>()
  const missing = new Map<unknown, ReadonlySet<string>>()

  /** Whether what is held is certainly compared with what comes next. */
  function isWarm({ clock }: Process, table: Table | undefined): table is Table {
    return table !== undefined && clock.oldest() < dueAt(table) + maxStale.latest
  }

  /** Whether a table is a whole one, so that half of one is less. */
  function isWhole(table: Table | undefined): boolean {
    return table !== undefined && table.quotes.size > 0.95 * LATEST_CODES.length
  }

  /** The codes that events have just named. */
  function takeNotes(known: DataSetKnowledge): Notes {
    const notes = known.notedAt === now() ? known.notes : NO_NOTES
    known.notes = NO_NOTES
    return notes
  }

  /** A process holds a history that lacks the `missing` days, and those that events have just named. */
  function holdHistory({ knowledge: { history } }: Process, missing: Iterable<string>): void {
    const { heldBack, lost } = takeNotes(history)
    history.missing = new Set([...missing, ...heldBack, ...lost])
  }

  /** Nothing of the last seven published days is missing after a right answer. */
  function takeHistory(process: Process, { fault }: Call): void {
    const { clock, knowledge } = process
    const since = fault ? Infinity : clock.now() - 8 * DAY
    const isMissing = (each: string): boolean => Date.parse(each.slice(0, 10)) < since
    oracle.takeHistory(clock.now())
    holdHistory(process, [...knowledge.history.missing].filter(isMissing))
  }

  function startTaking(process: Process, before: Table | undefined): Taking {
    return {
      notes: takeNotes(process.knowledge.latest),
      before,
      isWarm: isWarm(process, before),
      clock: process.clock.now(),
      maxStale: maxStale.latest,
    }
  }

  function requirePlausible(process: Process, table: Table, before: Table | undefined): void {
    const impossible = impossibleRates(table)
    if (impossible.length > 0) violate('I17', `impossible rates of ${impossible.join()} are taken`)
    if (!isWarm(process, before)) return
    const moved = movedCodes(process, table, before)
    if (moved.length > 0) {
      violate('I17', `a move of ${moved.join()} is taken without a second publication`)
    }
  }

  function movedCodes({ clock }: Process, table: Table, before: Table): string[] {
    return unconfirmedMoves(table, before, (code) => oracle.recentRates(code, clock.now()))
  }

  function hold(process: Process, table: Table): void {
    const { latest } = process.knowledge
    if (!isWarm(process, latest.table)) {
      // Without a usable table, the rates that another process kept may be older than those that were served before.
      for (const code of keptCodes(table)) latest.modified.delete(code)
    }
    latest.tableBefore = latest.table
    latest.table = table
  }

  /** A process took `table`, but holds `other` since the call began: what that has is kept where `table` is doubtful. */
  function holdBeside(process: Process, sent: Publication, table: Table, other: Table): void {
    if (table.publishedAt < other.publishedAt) return
    const codes = [...other.quotes.keys()]
    const kept = isWarm(process, other) ? movedCodes(process, table, other) : []
    // A withdrawn currency that is not published any more has ended.
    const isLost = (code: string): boolean =>
      !table.quotes.has(code) && (!isWithdrawn(code) || sent.rates[code] !== undefined)
    const lost = codes.filter((code) => isLost(code) || kept.includes(code))
    const taking = { ...startTaking(process, other), isWarm: false }
    hold(process, restoreTable(table, { ...taking, notes: { dropped: [], heldBack: codes, lost } }))
  }

  function takeSent(process: Process, { sent, before }: Call): void {
    const known = process.knowledge.latest
    if (!sent) return violate('I3', 'latest rates were taken that nobody sent')
    const taking = startTaking(process, before)
    const { notes, clock } = taking
    const table = takeTable(sent, taking)
    const at = new Date(sent.updatedAt).toUTCString()
    if (sent.updatedAt > clock + 48 * HOUR) violate('I4', `a publication of ${at} is to come`)
    if (before && table.publishedAt < before.publishedAt) {
      violate('I4', `a publication of ${at} was taken`)
    }
    if (known.table && known.table !== before) return holdBeside(process, sent, table, known.table)
    requirePlausible(process, table, before)
    if (isWarm(process, before)) {
      const lost = lostCodes(sent, taking)
      if (lost.toSorted().join() !== notes.lost.toSorted().join()) {
        violate('I3', `${lost.join()} are lost, but the event names ${notes.lost.join()}`)
      }
      const needless = needlessHoldBacks(table, before)
      if (needless.length > 0) violate('I14', `${needless.join()} are held back for nothing`)
    }
    hold(process, table)
  }

  return {
    taken(process: Process, dataSet: DataSet, call: Call) {
      const { before } = call
      const name = call.fault?.name ?? 'a healthy upstream'
      if (call.verdict === 'refuse') violate('I3', `the answer of "${name}" was taken`)
      if (dataSet === 'history') return takeHistory(process, call)
      if (call.verdict === 'refuse when warm' && isWarm(process, before) && isWhole(before)) {
        violate('I3', `the answer of "${name}" was taken in spite of the table before`)
      }
      takeSent(process, call)
    },
    restored(process: Process, dataSet: DataSet) {
      const { delivered, table: before } = process.knowledge[dataSet]
      if (dataSet === 'history') return holdHistory(process, missing.get(delivered) ?? [])
      const stored = tables.get(delivered)
      if (!stored) return violate('I3', 'latest rates were restored that nobody has stored')
      const table = restoreTable(stored, startTaking(process, before))
      requirePlausible(process, table, before)
      hold(process, table)
    },
    written({ knowledge: { latest, history } }: Process, dataSet: DataSet, text: string) {
      if (dataSet === 'history') missing.set(text, history.missing)
      else if (latest.table) tables.set(text, latest.table)
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
