import type { RawResponse } from '../../../src/index.ts'
import { SECRET } from '../../faults/fault.ts'
import type { DataSet } from '../../faults/fault.ts'
import { CACHE_CONTROL, HISTORY_SOURCE, LATEST_SOURCE } from '../../fixtures/contract.ts'
import { toDay } from '../../fixtures/dates.ts'
import { periodStart, statsOf } from '../../oracle.ts'
import type { Point } from '../../oracle.ts'
import { DAY, SECOND } from '../../virtual-runtime.ts'
import { bodyInOnePart } from '../../whole-body.ts'
import type { ClientRequest, RequestedRecord } from '../world/clients.ts'
import type { Scene } from '../world/fleet.ts'
import type { Process } from '../world/machine.ts'
import type { Oracle } from '../world/truth.ts'
import * as model from './tables.ts'
import type { Limits, Pair, Table } from './tables.ts'

const WAITING_LIMIT = 5 * SECOND

/** Only every n-th long response is compared, and the first one after each change. */
const SAMPLE = { latest: 20, history: 4 }

const INEXACT = 0.01

export interface SentRequest {
  process: Process
  request: ClientRequest
  at: number
  /** Whether the process certainly has the data for a response. */
  isUsable: boolean
  /** Time of the abort by the client, in ms of virtual time. */
  abortedAt?: number
}

type Headers = ReadonlyMap<string, string>

/** Checks every response: I2 to I6, I10, I11, I14, I15 and I18, and I8 through the refreshes. */
export function createResponseWatch(scene: Scene, oracle: Oracle) {
  const { loop, maxStale, violate } = scene
  const refreshes = createRefreshWatch(scene)
  const now = loop.now
  let sampled = 0

  function requireInTime({ process, request, at, isUsable, abortedAt }: SentRequest): void {
    const until = Math.min(at + WAITING_LIMIT, abortedAt ?? Infinity)
    const isImmediate = isUsable || !(request.dataSet ?? request.mayWait)
    const limit = isImmediate ? at : Math.max(until, process.pausedUntil)
    if (now() > limit + INEXACT) {
      violate('I6', `${request.target} is answered after ${Math.round(now() - at)} ms`)
    }
  }

  /** Returns the tables that a process may serve: at the moment of a change, the previous one as well. */
  function tablesOf({ knowledge: { latest } }: Process): Table[] {
    const before = latest.newsAt < now() ? undefined : latest.tableBefore
    return [latest.table, before].filter((table) => table !== undefined)
  }

  function limitsOf({ clock }: Process): Limits {
    return { from: clock.now() - maxStale.latest, to: clock.oldest() - maxStale.latest }
  }

  function hasAll(process: Process, { codes = [] }: ClientRequest): boolean {
    return tablesOf(process).every((table) => model.hasRates(table, codes, limitsOf(process)))
  }

  function requireStatus(sent: SentRequest, status: number): void {
    const { process, request, isUsable, abortedAt } = sent
    const { target, statuses, dataSet, codes } = request
    if (statuses.includes(status)) return
    // An aborted request gets no expensive computation.
    if (status === 503 && abortedAt !== undefined) return
    const tables = tablesOf(process)
    if (status === 400 && codes && tables.length > 0) {
      if (!tables.every((table) => model.isCarried(table, codes))) return
      return violate('I18', `${target} is answered with 400 though the feed carries all its codes`)
    }
    if (status !== 502 || !dataSet) return violate('I1', `${target} is answered with ${status}`)
    if (!hasAll(process, request)) return
    if (isUsable) violate('I5', `${target} is answered with 502 despite usable data`)
    const isExcused = abortedAt !== undefined || process.isClosed
    if (!isExcused && now() > refreshes.recoveredFrom(process, dataSet)) {
      violate('I14', `${target} is answered with 502 after all faults have ended`)
    }
  }

  function requireError(status: number, named: Headers): void {
    if (named.get('cache-control') !== 'no-store') violate('I10', `${status} may be cached`)
    const retryAfter = named.get('retry-after') ?? ''
    const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : 0
    if (status >= 502 && (seconds < 1 || seconds > 300)) {
      violate('I10', `${status} with Retry-After "${retryAfter}"`)
    }
  }

  function requireDiscretion({ request }: SentRequest, { headers, body }: RawResponse): void {
    if (![...headers.flat(), textOf(body)].some((text) => text.includes(SECRET))) return
    violate('I11', `the response to ${request.target} contains a secret of an upstream or a store`)
  }

  function shouldCompare({ process, request }: SentRequest): boolean {
    const { record, dataSet = 'latest', isDecisive = false } = request
    if (!record) return false
    if (record.kind !== 'history' && (record.kind !== 'latest' || record.symbols)) return true
    const known = process.knowledge[dataSet]
    const isNew = known.comparedNews !== known.news
    known.comparedNews = known.news
    return isNew || isDecisive || (sampled += 1) % SAMPLE[record.kind] === 0
  }

  function requireHonest({ process, request }: SentRequest, named: Headers): void {
    const { dataSet = 'latest' } = request
    const known = process.knowledge[dataSet]
    if (named.get('cache-control') !== CACHE_CONTROL[dataSet]) {
      violate('I10', `a 200 with Cache-Control "${named.get('cache-control')}"`)
    }
    refreshes.onResponse(process, dataSet, named.get('cache-status') ?? '')
    if (dataSet === 'history') return
    const tables = tablesOf(process)
    requireNotTooOld(process, dataSet, Math.max(...tables.map(model.dueAt)))
    if (known.table && known.newsAt < now())
      known.usableUntil = model.dueAt(known.table) + maxStale.latest
    const modified = Date.parse(named.get('last-modified') ?? '')
    const needed = tables.flatMap((table) =>
      neededCodes(process, table, request).map((codes) => ({ table, codes })),
    )
    const [{ codes } = { codes: [] }, ...others] = needed
    const isOne = others.every((each) => each.codes.length === codes.length)
    if (isOne) requireNoOlder(process, codes, modified)
    const isPossible = needed.some((each) =>
      model
        .timesOfOldest(each.table, each.codes)
        .some((time) => model.isModified(each.table, time, modified)),
    )
    if (isPossible) return
    violate('I3', `Last-Modified of ${codes.join()} is ${toDate(modified)}, of no current table`)
  }

  /** Returns the codes that a response needs, with the withdrawn ones that `table` certainly has, and with those that it may have. */
  function neededCodes(
    process: Process,
    table: Table,
    { codes = [], record }: ClientRequest,
  ): string[][] {
    const { symbols = [] } = record?.kind === 'latest' ? record : {}
    const withdrawn = symbols.filter(model.isWithdrawn)
    return [['served'], ['served', 'doubtful']].map((states) => {
      const isIn = (code: string): boolean =>
        states.includes(model.stateOf(table, code, limitsOf(process)))
      return [...codes, ...withdrawn.filter(isIn)]
    })
  }

  function requireNoOlder(
    { clock, knowledge: { latest } }: Process,
    codes: readonly string[],
    modified: number,
  ): void {
    const before = Math.min(...codes.map((code) => latest.modified.get(code) ?? -Infinity))
    if (modified < before) {
      const times = `from ${toDate(before)} to ${toDate(modified)}`
      violate('I4', `updatedAt of ${codes.join()} decreases ${times}`)
    }
    if (modified > clock.oldest() + SECOND) {
      violate('I4', `Last-Modified ${toDate(modified)} is in the future`)
    }
    for (const code of codes) {
      latest.modified.set(code, Math.max(modified, latest.modified.get(code) ?? -Infinity))
    }
  }

  function requireNotTooOld({ clock }: Process, dataSet: DataSet, dueAt: number): void {
    const tooOld = clock.now() - dueAt - maxStale[dataSet]
    if (tooOld > SECOND) {
      violate('I5', `${dataSet} is served ${Math.round(tooOld / SECOND)} s after maxStale`)
    }
  }

  function requireRecord(sent: SentRequest, body: RawResponse['body'], named: Headers): void {
    const { process, request } = sent
    const { record, target } = request
    if (!record || body === null) return
    const text = textOf(body)
    const lastModified = Date.parse(named.get('last-modified') ?? '')
    const [tables, limits, clock] = [tablesOf(process), limitsOf(process), process.clock.now()]
    const { latest, history } = process.knowledge
    const before = history.newsAt < now() ? [] : history.missingBefore
    const missing = new Set([...history.missing, ...before])
    const circumstances = { oracle, clock, tables, missing, limits, lastModified }
    const mismatch = checkRecord(text, record, circumstances)
    if (mismatch) return violate(mismatch[0], `${target}: ${mismatch[1]}`)
    if (record.kind === 'latest') latest.publishedAt = latest.table?.updatedAt ?? NaN
    if (record.kind === 'history') requireNewest(process, { ...record, missing }, text)
  }

  function requireNewest(
    process: Process,
    { missing, ...pair }: Pair & { missing: ReadonlySet<string> },
    text: string,
  ): void {
    const known = process.knowledge.history
    const [newest = ''] = /(?<="d":")[^"]+(?=","r":[^}]*\}\])/.exec(text) ?? []
    const due = oracle.historyDue(newest)
    requireNotTooOld(process, 'history', due.latest)
    if (known.newsAt < now()) known.usableUntil = due.earliest + maxStale.history
    const { served } = known
    // The response lacks days without one of both rates, and days in the future of a clock that was set back.
    const isVisible = served <= toDay(process.clock.now()) && oracle.isQuoted(served, pair, missing)
    if (newest < served && isVisible)
      violate('I4', `history ends on ${newest} after it ended on ${served}`)
    known.served = newest > served ? newest : served
  }

  return {
    onRequest(process: Process, request: ClientRequest): SentRequest {
      const { dataSet } = request
      const isUsable =
        dataSet !== undefined && process.clock.oldest() < process.knowledge[dataSet].usableUntil
      return { process, request, at: now(), isUsable }
    },
    onBody(sent: SentRequest, response: RawResponse) {
      const { request } = sent
      const { status, body } = response
      const named = new Map(response.headers)
      requireDiscretion(sent, response)
      requireInTime(sent)
      requireStatus(sent, status)
      if (status >= 400) requireError(status, named)
      if (request.record?.kind === 'status') {
        if (named.get('cache-control') !== 'no-store') violate('I10', 'a status may be cached')
        requireRecord(sent, body, named)
      }
      if (!request.dataSet || (status !== 200 && status !== 304)) return
      requireHonest(sent, named)
      if (shouldCompare(sent)) requireRecord(sent, body, named)
    },
    sweep({ process, request, at }: SentRequest) {
      const waiting = now() - Math.max(at, process.pausedUntil)
      if (process.isGone || process.pausedUntil >= now() || waiting < 2 * WAITING_LIMIT) return
      violate('I6', `${request.target} has no response after ${Math.round(waiting)} ms`)
    },
  }
}

/** Returns the text of a body; long ones are bytes. */
export function textOf(body: RawResponse['body']): string {
  const whole = bodyInOnePart(body)
  return whole instanceof Uint8Array ? new TextDecoder().decode(whole) : String(whole)
}

function toDate(instant: number): string {
  return new Date(instant).toUTCString()
}

/** Time from the last fault to fresh data: 5 minutes, a backoff and the lease of another process. In ms. */
const RECOVERY = (300 + 450 + 450) * SECOND

/** Time limit of a refresh that a request starts, without faults. In ms. */
const PROMPT = 50 * SECOND

function createRefreshWatch({ loop, calmFrom, violate }: Scene) {
  const now = loop.now

  /** Returns the time from which earlier faults excuse nothing, in ms of virtual time. */
  function recoveredFrom({ startedAt, knowledge }: Process, dataSet: DataSet): number {
    // A cold start may wait for the lease of another process even without faults.
    return Math.max(calmFrom, startedAt, knowledge[dataSet].retryAfterUntil) + RECOVERY
  }

  function requireConsistent(process: Process, dataSet: DataSet, refreshAt: number): void {
    const known = process.knowledge[dataSet]
    const isSame = known.refreshNews === known.news && known.refreshJumps === process.clock.jumps()
    if (isSame && Math.abs(refreshAt - known.refreshAt) > 1_100) {
      const moved = Math.round(refreshAt - known.refreshAt)
      violate('I8', `the refresh of ${dataSet} moves by ${moved} ms although nothing was loaded`)
    }
    if (!isSame) known.refreshAt = refreshAt
    known.refreshNews = known.newsAt < now() ? known.news : -1
    known.refreshJumps = process.clock.jumps()
  }

  function requireLively(process: Process, dataSet: DataSet, isStale: boolean): void {
    const known = process.knowledge[dataSet]
    const isChecked = !process.isClosed && now() > recoveredFrom(process, dataSet)
    if (!isStale || !isChecked) known.staleResponses = []
    else if (now() - (known.staleResponses.at(-1) ?? -Infinity) > PROMPT) {
      known.staleResponses.push(now())
    }
    // The first request may find the lease of another process, the second one reads its result.
    if (known.staleResponses.length > 2) {
      violate('I14', `${dataSet} is still overdue after three responses in a row`)
    }
  }

  return {
    recoveredFrom,
    onResponse(process: Process, dataSet: DataSet, cacheStatus: string) {
      const [, ttl] = /^rates; hit; ttl=(-?\d+)/.exec(cacheStatus) ?? []
      if (ttl !== undefined) {
        // Late rates count from when the next ones were due.
        const isLate = Number(ttl) * SECOND <= -DAY
        if (!isLate) requireConsistent(process, dataSet, now() + Number(ttl) * SECOND)
        requireLively(process, dataSet, Number(ttl) < 0)
      } else if (cacheStatus !== 'rates; fwd=miss') {
        violate('I10', `Cache-Status is "${cacheStatus}"`)
      }
    },
  }
}

type Mismatch = readonly [invariant: string, message: string]

interface Circumstances {
  oracle: Oracle
  clock: number
  /** The latest rates that the process may serve, and the age limits of its earlier rates. */
  tables: readonly Table[]
  limits: Limits
  /** Days of history, or rates of a day, that the process may lack: `2026-11-19 USD`. */
  missing: ReadonlySet<string>
  lastModified: number
}

type Json = Record<string, unknown>

type Requested<Kind> = Extract<RequestedRecord, { kind: Kind }>

function checkRecord(
  text: string,
  requested: RequestedRecord,
  circumstances: Circumstances,
): Mismatch | undefined {
  const body = toObject(JSON.parse(text))
  if (requested.kind === 'latest') return checkLatest(body, requested, circumstances)
  if (requested.kind === 'conversion') return checkConversion(body, requested, circumstances)
  if (requested.kind === 'history') return checkHistory(body, requested, circumstances)
  return checkStatus(body)
}

function checkLatest(
  body: Json,
  { base, symbols }: Requested<'latest'>,
  { tables, limits, lastModified }: Circumstances,
): Mismatch | undefined {
  const { updatedAt, nextUpdateAt, older = {} } = body
  const rates = toRates(body['rates'])
  if (!rates) return ['I2', 'a rate is not a finite positive number']
  if (body['base'] !== base) return ['I15', `requested base ${base}, got ${String(body['base'])}`]
  if (!isInstant(updatedAt) || !isInstant(nextUpdateAt))
    return ['I2', 'updatedAt or nextUpdateAt is not a time']
  const received = { base, symbols, rates, updatedAt, nextUpdateAt }
  const complete = { ...received, older: toObject(older) }
  return (
    checkSource(body, LATEST_SOURCE) ??
    checkAll(tables, { updatedAt, lastModified }, (table) =>
      model.checkTable(table, complete, limits),
    )
  )
}

function checkAll(
  tables: readonly Table[],
  { updatedAt, lastModified }: { updatedAt: number; lastModified: number },
  objectTo: (table: Table) => string | undefined,
): Mismatch | undefined {
  const mismatches = tables.map((table) =>
    model.isModified(table, updatedAt, lastModified)
      ? objectTo(table)
      : `rates published at ${updatedAt} have Last-Modified ${lastModified}`,
  )
  const [mismatch = 'the process has no table'] = mismatches
  return mismatches.includes(undefined) ? undefined : ['I3', mismatch]
}

function checkConversion(
  body: Json,
  { from, to, amount }: Requested<'conversion'>,
  { tables, lastModified }: Circumstances,
): Mismatch | undefined {
  const { rate, result, updatedAt } = body
  if (body['from'] !== from || body['to'] !== to || body['amount'] !== amount) {
    return ['I15', `requested ${amount} ${from} in ${to}, got another conversion`]
  }
  if (!isRate(rate) || !isRate(result) || !isInstant(updatedAt)) {
    return ['I2', 'a field of the conversion is not a number or time']
  }
  if (Math.abs(result - amount * rate) > 1e-12 * result) {
    return ['I2', `${amount} × ${rate} is not ${result}`]
  }
  return (
    checkSource(body, LATEST_SOURCE) ??
    checkAll(tables, { updatedAt, lastModified }, (table) =>
      model.checkRate(table, { from, to }, rate, updatedAt),
    )
  )
}

function checkHistory(
  body: Json,
  { from, to, period }: Requested<'history'>,
  { oracle, clock, missing }: Circumstances,
): Mismatch | undefined {
  const { referenceRates } = oracle
  const { points: sent } = body
  if (body['from'] !== from || body['to'] !== to || body['period'] !== period) {
    return ['I15', `requested ${from} in ${to} over ${period}, got another history`]
  }
  if (!Array.isArray(sent) || sent.length === 0) return ['I2', 'the history has no points']
  const points: Point[] = []
  for (const point of sent) {
    const { d, r } = toObject(point)
    if (typeof d !== 'string' || !isRate(r)) return ['I2', 'a point has no day or no rate']
    const expected = pairRate(referenceRates.on(d), from, to)
    if (!(Math.abs(r - expected) <= 1e-9 * expected)) {
      return ['I3', `${from} was ${expected} ${to} on ${d}, not ${r}`]
    }
    points.push({ d, r })
  }
  const dates = points.map(({ d }) => d)
  const last = points.at(-1)?.d ?? ''
  const today = toDay(clock)
  if (last > today) return ['I4', `the history ends on ${last}, in the future`]
  const received = new Set(dates)
  const isQuoted = (day: string): boolean =>
    oracle.isQuoted(day, { from, to }, received.has(day) ? undefined : missing)
  // Days after the last one of a pair may lack one of both rates.
  const [, ...later] = referenceRates.between(last, today)
  const next = later.find(isQuoted) ?? today
  const ends = [last, ...later.filter((day) => !isQuoted(day) && day <= next)]
  const isWhole = ends.some((end) => {
    const window = referenceRates.between(periodStart(end, period), last)
    return window.filter(isQuoted).join() === dates.join()
  })
  if (!isWhole) return ['I3', `expected other days for ${period}, got ${dates.join()}`]
  if (JSON.stringify(body['stats']) !== JSON.stringify(statsOf(points))) {
    return ['I2', 'the statistics do not match the points']
  }
  return checkSource(body, HISTORY_SOURCE)
}

function checkStatus(body: Json): Mismatch | undefined {
  const [latest, history] = [toObject(body['latest'])['ready'], toObject(body['history'])['ready']]
  const isTold = typeof latest === 'boolean' && typeof history === 'boolean'
  const isRight = isTold && body['ready'] === (latest && history)
  return isRight ? undefined : ['I2', 'the status does not report whether the service is ready']
}

function pairRate(rates = new Map<string, number>(), from: string, to: string): number {
  const inEuro = (code: string): number => rates.get(code) ?? (code === 'EUR' ? 1 : NaN)
  return rates.size > 0 ? inEuro(to) / inEuro(from) : NaN
}

function checkSource(body: Json, source: typeof LATEST_SOURCE): Mismatch | undefined {
  const { name, url } = toObject(body['source'])
  const isNamed = name === source.name && url === source.url
  return isNamed ? undefined : ['I3', 'the source is missing or wrong']
}

function toObject(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function toRates(value: unknown): Record<string, number> | undefined {
  const all = Object.entries(toObject(value))
  const rates = all.flatMap(([code, rate]) => (isRate(rate) ? [[code, rate] as const] : []))
  return rates.length === all.length ? Object.fromEntries(rates) : undefined
}

function isRate(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}

function isInstant(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}
