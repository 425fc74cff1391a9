import type { RatesEvent } from '../../../src/index.ts'
import type { DataSet, Fault } from '../../faults/fault.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../../virtual-runtime.ts'
import type { Scene } from '../world/fleet.ts'
import type { Clock, Process } from '../world/machine.ts'
import type { SimStore } from '../world/store.ts'
import { LATEST_CODES } from '../world/truth.ts'
import type { Oracle, Publication } from '../world/truth.ts'
import * as model from './tables.ts'
import type { Call, DataSetKnowledge, Notes, Table, Taking } from './tables.ts'

const CALL_LIMIT: Record<DataSet, number> = { latest: 5 * SECOND, history: 10 * SECOND }

/** Shortest time from a successful call to the next one, in ms. */
const DELAY_AFTER_SUCCESS = 10 * MINUTE + 30 * SECOND

const MAX_BACKOFF = 300 * SECOND

const INEXACT = 0.01

export type UpstreamWatch = ReturnType<typeof createUpstreamWatch>

/** Checks every upstream call: I7 and I9; I3, I4 and I17 through accepted data, and I13 through the fleet. */
export function createUpstreamWatch(
  scene: Scene,
  { oracle, store }: { oracle: Oracle; store: SimStore },
) {
  const { loop, banks, violate } = scene
  const fleet = createFleetWatch(scene, store)
  const takings = createTakenWatch(scene, oracle)
  const now = loop.now

  function onRequest(process: Process, dataSet: DataSet): void {
    const known = process.knowledge[dataSet]
    if (known.call) violate('I7', `${dataSet} is fetched while a call is under way`)
    if (process.isClosed) violate('I12', `${dataSet} is fetched after close()`)
    const clockWasSet = known.backoffJumps !== process.clock.jumps()
    const early = Math.max(known.backoffUntil, known.retryAfterUntil) - now()
    if (!clockWasSet && early > INEXACT) {
      violate('I7', `${dataSet} is fetched ${Math.round(early)} ms before the end of its backoff`)
    }
    fleet.onRequest(process, dataSet)
    known.call = { ...model.newCall(now()), before: known.table }
  }

  function requireEnded(process: Process, dataSet: DataSet, { requestedAt }: Call): void {
    const running = now() - Math.max(requestedAt, process.pausedUntil)
    if (running <= CALL_LIMIT[dataSet] + SECOND) return
    violate('I9', `a call for ${dataSet} takes longer than ${Math.round(running)} ms`)
  }

  function end(process: Process, dataSet: DataSet): Call {
    const known = process.knowledge[dataSet]
    const { call } = known
    if (!call) violate('I7', `a call for ${dataSet} ends without a request`)
    else requireEnded(process, dataSet, call)
    known.call = undefined
    // Setting the clock may end a delay that the upstream requested.
    if (known.backoffJumps !== process.clock.jumps()) known.retryAfterUntil = -Infinity
    known.backoffJumps = process.clock.jumps()
    return call ?? model.newCall(now())
  }

  function onResponse(process: Process, dataSet: DataSet): void {
    const call = end(process, dataSet)
    const known = process.knowledge[dataSet]
    model.noteNews(known, now())
    takings.taken(process, dataSet, call)
    fleet.loaded(process, dataSet, call)
    known.failures = 0
    if (!call.isOvertaken) known.backoffUntil = now() + DELAY_AFTER_SUCCESS
  }

  function onFailure(process: Process, dataSet: DataSet): void {
    const call = end(process, dataSet)
    const known = process.knowledge[dataSet]
    known.notes = model.NO_NOTES
    if (isGood(process, call)) violate('I14', `a good response for ${dataSet} was rejected`)
    known.failures += 1
    known.backoffUntil = now() + Math.min(SECOND * 2 ** (known.failures - 1), MAX_BACKOFF)
    const { fault } = call
    // After a pause of the process, either the response or the time limit may have come first.
    if (fault?.verdict !== 'refused' || process.pausedUntil >= call.requestedAt) return
    known.retryAfterUntil = now() + retryAfterOf(fault, process.clock.ahead())
  }

  /** The current data come from the store. The backoff is over, but not a delay that the upstream requested. */
  function restored(process: Process, dataSet: DataSet): void {
    const known = process.knowledge[dataSet]
    if (known.deliveredAt < now()) {
      // The event does not say what was restored.
      if (dataSet === 'history' && banks.length > 0) return
      violate('I3', `${dataSet} is reported as restored without a value from the store`)
    }
    if (known.call) known.call.isOvertaken = true
    model.noteNews(known, now())
    takings.restored(process, dataSet)
    known.failures = 0
    known.backoffUntil = -Infinity
  }

  /** Keeps the codes of an event for a table that is accepted at the same moment. */
  function note(known: DataSetKnowledge, kind: keyof Notes, codes: readonly string[]): void {
    known.notes = { ...(known.notedAt === now() ? known.notes : model.NO_NOTES), [kind]: codes }
    known.notedAt = now()
  }

  function isGood(process: Process, call: Call): boolean {
    const { fault, verdict, requestedAt, signal, sent, before } = call
    const wasInTime = process.pausedUntil < requestedAt && now() - requestedAt < 2 * SECOND
    // After a publication with a future date, or a clock that was set back, it may be older than the current one.
    const publishedAt = Math.min(sent?.updatedAt ?? Infinity, process.clock.now())
    const isOlder = before !== undefined && publishedAt < before.publishedAt
    const isWhole = signal !== undefined && !fault && verdict === 'take'
    return isWhole && wasInTime && !isOlder && !process.isClosed
  }

  return {
    onEvent(process: Process, event: RatesEvent) {
      if (event.type === 'internal_error') violate('I1', `500: ${String(event.error)}`)
      if (!('dataSet' in event)) return
      const dataSet = event.dataSet
      if (event.type === 'upstream_request') onRequest(process, dataSet)
      if (event.type === 'upstream_response') onResponse(process, dataSet)
      if (event.type === 'upstream_failed') onFailure(process, dataSet)
      if (event.type === 'rates_rejected' && event.origin === 'upstream')
        onFailure(process, dataSet)
      const known = process.knowledge[dataSet]
      if (event.type === 'rates_dropped') note(known, 'dropped', event.dropped)
      if (event.type === 'rates_lost') note(known, 'lost', event.codes)
      if (event.type === 'rates_quarantined') note(known, 'quarantined', event.codes)
      if (event.type === 'rates_restored') restored(process, dataSet)
    },
    /** Returns the call that a `fetch` with `signal` belongs to, or `undefined` if the call was abandoned. */
    callOf(process: Process, dataSet: DataSet, signal: AbortSignal) {
      const { call } = process.knowledge[dataSet]
      if (call && (call.signal ?? signal) === signal) {
        call.signal = signal
        return call
      }
      if (!signal.aborted) violate('I7', `${dataSet} is fetched without a call`)
      return undefined
    },
    onDelivery(process: Process, dataSet: DataSet | undefined, value: unknown) {
      if (typeof value !== 'string' || !dataSet) return
      Object.assign(process.knowledge[dataSet], { delivered: value, deliveredAt: now() })
    },
    onWrite: takings.written,
    onClaim(process: Process, dataSet: DataSet | undefined, isGranted: boolean) {
      if (!dataSet) return
      const known = process.knowledge[dataSet]
      if (!isGranted) known.refusedAt = now()
      const isReceived = isGranted && store.trustedSince(process) < Infinity
      known.refusedSince = isReceived ? undefined : (known.refusedSince ?? now())
    },
    sweep(process: Process) {
      for (const dataSet of ['latest', 'history'] as const) {
        const { call } = process.knowledge[dataSet]
        if (call) requireEnded(process, dataSet, call)
      }
    },
  }
}

/** Returns the delay that `fault` requests of a caller whose clock is `clockAhead` ms ahead of true time. */
function retryAfterOf({ pause = 0, datedIn }: Fault, clockAhead: number): number {
  if (datedIn === undefined) return pause
  return Math.min(Math.max(SECOND, datedIn - clockAhead - 5 * SECOND), 6 * HOUR)
}

/** Checks the data that processes accept from upstreams and stores: I3, I4, I14 and I17. */
function createTakenWatch({ loop, maxStale, violate }: Scene, oracle: Oracle) {
  const now = loop.now
  /** Tables, and the missing days of histories, by the text that was stored for them. */
  const tables = new Map<unknown, Table>()
  const missing = new Map<unknown, ReadonlySet<string>>()

  /** Returns whether the next table is certainly compared with `table`. */
  function isWarm({ clock }: Process, table: Table | undefined): table is Table {
    return table !== undefined && clock.oldest() < model.dueAt(table) + maxStale.latest
  }

  function isWhole(table: Table | undefined): boolean {
    return table !== undefined && table.quotes.size > 0.95 * LATEST_CODES.length
  }

  function takeNotes(known: DataSetKnowledge): Notes {
    const notes = known.notedAt === now() ? known.notes : model.NO_NOTES
    known.notes = model.NO_NOTES
    return notes
  }

  /** Records a history without the `missing` days and those of the events at this moment. */
  function setHistory({ knowledge: { history } }: Process, missing: Iterable<string>): void {
    const { quarantined, lost } = takeNotes(history)
    history.missingBefore = history.missing
    history.missing = new Set([...missing, ...quarantined, ...lost])
  }

  /** After a correct response, none of the last seven published days is missing. */
  function takeHistory(process: Process, { fault }: Call): void {
    const { clock, knowledge } = process
    const since = fault ? Infinity : clock.now() - 8 * DAY
    const isMissing = (each: string): boolean => Date.parse(each.slice(0, 10)) < since
    oracle.takeHistory(clock.now())
    setHistory(process, [...knowledge.history.missing].filter(isMissing))
  }

  function startTaking(process: Process, before: Table | undefined): Taking {
    const notes = takeNotes(process.knowledge.latest)
    const [clock, isCompared] = [process.clock.now(), isWarm(process, before)]
    return { notes, before, isWarm: isCompared, clock, maxStale: maxStale.latest }
  }

  function requireNone(invariant: string, codes: readonly string[], what: string): void {
    if (codes.length > 0) violate(invariant, `${codes.join()} ${what}`)
  }

  function requirePlausible(process: Process, table: Table, before: Table | undefined): void {
    requireNone('I17', model.impossibleRates(table), 'are accepted with impossible rates')
    if (!isWarm(process, before)) return
    const moved = movedCodes(process, table, before)
    requireNone('I17', moved, 'are accepted after a move without a second publication')
  }

  function movedCodes({ clock }: Process, table: Table, before: Table): string[] {
    return model.unconfirmedMoves(table, before, (code) => oracle.recentRates(code, clock.now()))
  }

  function setTable(process: Process, table: Table): void {
    const { latest } = process.knowledge
    if (!isWarm(process, latest.table)) {
      // Without a usable table, the rates that another process kept may be older than those that were served before.
      for (const code of model.keptCodes(table)) latest.modified.delete(code)
    }
    latest.tableBefore = latest.table
    latest.table = table
  }

  /** Merges `table` with `other`, which became current during the call and stays where `table` is doubtful. */
  function mergeTable(process: Process, sent: Publication, table: Table, other: Table): void {
    if (table.publishedAt < other.publishedAt) return
    const codes = [...other.quotes.keys()]
    const kept = isWarm(process, other) ? movedCodes(process, table, other) : []
    // A withdrawn currency that is no longer published has ended.
    const isLost = (code: string): boolean =>
      !table.quotes.has(code) && (!model.isWithdrawn(code) || sent.rates[code] !== undefined)
    const lost = codes.filter((code) => isLost(code) || kept.includes(code))
    const taking = { ...startTaking(process, other), isWarm: false }
    const notes = { dropped: [], quarantined: codes, lost }
    setTable(process, model.restoreTable(table, { ...taking, notes }))
  }

  function takeSent(process: Process, { sent, before }: Call): void {
    const known = process.knowledge.latest
    if (!sent) return violate('I3', 'latest rates were accepted that no upstream sent')
    const taking = startTaking(process, before)
    const { notes, clock } = taking
    const table = model.takeTable(sent, taking)
    const at = new Date(sent.updatedAt).toUTCString()
    if (sent.updatedAt > clock + 48 * HOUR)
      violate('I4', `a publication of ${at} is accepted, but lies in the future`)
    if (before && table.publishedAt < before.publishedAt) {
      violate('I4', `a publication of ${at} is accepted, but is older than the current one`)
    }
    if (known.table && known.table !== before) return mergeTable(process, sent, table, known.table)
    requirePlausible(process, table, before)
    if (isWarm(process, before)) {
      const lost = model.lostCodes(sent, taking)
      if (lost.toSorted().join() !== notes.lost.toSorted().join()) {
        violate('I3', `${lost.join()} are lost, but the event names ${notes.lost.join()}`)
      }
      requireNone(
        'I14',
        model.needlessQuarantines(table, before),
        'are quarantined without a reason',
      )
    }
    setTable(process, table)
  }

  return {
    taken(process: Process, dataSet: DataSet, call: Call) {
      const { before } = call
      const name = call.fault?.name ?? 'a healthy upstream'
      if (call.verdict === 'refuse') violate('I3', `the response of "${name}" was accepted`)
      if (dataSet === 'history') return takeHistory(process, call)
      if (call.verdict === 'refuse when warm' && isWarm(process, before) && isWhole(before)) {
        violate('I3', `the response of "${name}" was accepted despite the previous table`)
      }
      takeSent(process, call)
    },
    restored(process: Process, dataSet: DataSet) {
      const { delivered, table: before } = process.knowledge[dataSet]
      if (dataSet === 'history') return setHistory(process, missing.get(delivered) ?? [])
      const stored = tables.get(delivered)
      if (!stored) return violate('I3', 'latest rates were restored that no process stored')
      const table = model.restoreTable(stored, startTaking(process, before))
      requirePlausible(process, table, before)
      setTable(process, table)
    },
    written(
      { knowledge: { latest, history } }: Process,
      dataSet: DataSet | undefined,
      text: string,
    ) {
      if (dataSet === 'history') missing.set(text, history.missing)
      else if (dataSet && latest.table) tables.set(text, latest.table)
    },
  }
}

/** A process without data waits this long for the result of another process before it calls the upstream, in ms. */
const POLLING = 4 * SECOND

/** A process that was denied the lease for this long continues without it, in ms. */
const MAX_DENIAL = 6 * HOUR - SECOND

const AFTERMATH = 11 * MINUTE

function createFleetWatch(scene: Scene, store: SimStore) {
  const { loop, startsAt, hasClaims, skew, violate } = scene
  /** The last load of any process, in ms of virtual time. Before `dueAt`, no process needs another call. */
  const lastLoaded = new Map<DataSet, { process: Process; at: number; dueAt: number }>()

  function isQuiet(since: number, ...processes: Process[]): boolean {
    const wasPaused = processes.some((each) => each.pausedUntil > since - MINUTE)
    const isTrusted = processes.every((each) => store.trustedSince(each) < loop.now())
    const wasSet = processes.some(({ clock }) => clock.jumps() > 0 || !isRight(clock))
    return hasClaims && isTrusted && !wasPaused && !wasSet && store.troubledAt() < since - AFTERMATH
  }

  function isRight(clock: Clock): boolean {
    return Math.abs(clock.ahead()) <= skew
  }

  function mayBeCold({ knowledge, clock }: Process, dataSet: DataSet): boolean {
    return clock.oldest() >= knowledge[dataSet].usableUntil
  }

  function requireClaim(process: Process, dataSet: DataSet, key: string): void {
    const holder = store.holderOf(key)
    if (holder === process || !isQuiet(loop.now(), process)) return
    const { refusedSince = Infinity, refusedAt } = process.knowledge[dataSet]
    const hasWaited = !holder || loop.now() - refusedAt > POLLING - 100
    if (mayBeCold(process, dataSet) && hasWaited) return
    if (loop.now() - refusedSince > MAX_DENIAL) return
    violate('I13', `${dataSet} is fetched without a lease`)
  }

  return {
    onRequest(process: Process, dataSet: DataSet) {
      const key = `rates:v1:${dataSet}`
      requireClaim(process, dataSet, key)
      const loaded = lastLoaded.get(dataSet)
      const storedSince = store.storedSince(key) ?? -Infinity
      if (!loaded || storedSince < loaded.at || !isQuiet(loaded.at, process, loaded.process)) return
      if (loop.now() < loaded.dueAt - 2 * skew) {
        violate('I13', `${dataSet} is fetched although another process has loaded it`)
      }
    },
    loaded(process: Process, dataSet: DataSet, { sent, fault }: Call) {
      const announced = sent ? sent.nextUpdateAt - startsAt : 0
      // Data are due ten minutes to a day after they were loaded, even if another time was announced.
      const dueAt = Math.max(announced, loop.now() + 10 * MINUTE) + 30 * SECOND
      const latest = loop.now() + 25 * HOUR
      // The table of a process with a wrong clock, or after a fault, may be good for one process only.
      const isForAll = isRight(process.clock) && !fault
      const due = isForAll ? Math.min(dueAt, latest) : -Infinity
      lastLoaded.set(dataSet, { process, at: loop.now(), dueAt: due })
    },
  }
}
