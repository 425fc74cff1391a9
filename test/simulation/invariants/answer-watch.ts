import type { RawResponse } from '../../../src/index.ts'
import { SECRET } from '../../faults/fault.ts'
import type { DataSet } from '../../faults/fault.ts'
import { CACHE_CONTROL } from '../../fixtures/contract.ts'
import { toDay } from '../../fixtures/dates.ts'
import { SECOND } from '../../virtual-runtime.ts'
import type { Question, RecordAsked } from '../world/clients.ts'
import type { Scene } from '../world/fleet.ts'
import type { Process } from '../world/machine.ts'
import type { DataSetKnowledge } from './knowledge.ts'
import type { Oracle } from './oracle.ts'
import { objectToRecord } from './record-checks.ts'
import { dueAt, hasRates, isCarried, isModified, timesOfOldest } from './tables.ts'
import type { Limits, Table } from './tables.ts'

/** Whoever waits for data waits so long at most. */
const WAITING_LIMIT = 5 * SECOND

/** Long answers take their time to compare: one in so many is, and the first after every change. Short ones all are. */
const SAMPLE = { latest: 20, history: 4 }

const INEXACT = 0.01

export interface Asked {
  process: Process
  question: Question
  /** In ms of virtual time. */
  at: number
  /** Whether the process certainly has what it takes to answer. */
  isUsable: boolean
  /** When the client gave up, in ms of virtual time. */
  abortedAt?: number
  /** Which of all answers it was given; the body of a `Response` may be read later than that of a later one. */
  turn?: number
}

type Headers = ReadonlyMap<string, string>

type HistoryAsked = Extract<RecordAsked, { kind: 'history' }>

/** Watches every answer: I2 to I6, I10, I11, I14, I15 and I18, and I8 through the refreshes. */
export function createAnswerWatch(scene: Scene, oracle: Oracle) {
  const { loop, maxStale, violate } = scene
  const refreshes = createRefreshWatch(scene)
  const now = loop.now
  let sampled = 0
  let turns = 0

  function requireInTime({ process, question, at, isUsable, abortedAt }: Asked): void {
    const until = Math.min(at + WAITING_LIMIT, abortedAt ?? Infinity)
    const limit = isUsable || !question.dataSet ? at : Math.max(until, process.pausedUntil)
    if (now() > limit + INEXACT) {
      violate('I6', `${question.target} is answered after ${Math.round(now() - at)} ms`)
    }
  }

  /** The tables that a process may answer with: at the moment of news, the one before as well. */
  function tablesOf({ knowledge: { latest } }: Process): Table[] {
    const before = latest.newsAt < now() ? undefined : latest.tableBefore
    return [latest.table, before].filter((table) => table !== undefined)
  }

  function limitsOf({ clock }: Process): Limits {
    return { from: clock.now() - maxStale.latest, to: clock.oldest() - maxStale.latest }
  }

  /** Whether a process certainly has a rate of every code of a question. */
  function hasAll(process: Process, { codes = [] }: Question): boolean {
    return tablesOf(process).every((table) => hasRates(table, codes, limitsOf(process)))
  }

  function requireStatus({ process, question, isUsable, abortedAt }: Asked, status: number): void {
    const { target, statuses, dataSet, codes } = question
    if (statuses.includes(status)) return
    // Nothing expensive is computed for a client that has left.
    if (status === 503 && abortedAt !== undefined) return
    const tables = tablesOf(process)
    if (status === 400 && codes && tables.length > 0) {
      if (!tables.every((table) => isCarried(table, codes))) return
      return violate('I18', `${target} is answered with 400 though the feed carries all its codes`)
    }
    if (status !== 502 || !dataSet) return violate('I1', `${target} is answered with ${status}`)
    if (!hasAll(process, question)) return
    if (isUsable) violate('I5', `${target} is answered with 502 in spite of usable data`)
    const isExcused = abortedAt !== undefined || process.isClosed
    if (!isExcused && now() > refreshes.recoveredFrom(process, dataSet)) {
      violate('I14', `${target} is answered with 502 though nothing is wrong any more`)
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

  function requireDiscretion({ question }: Asked, { headers, body }: RawResponse): void {
    const isDiscreet = ![...headers.flat(), String(body)].some((text) => text.includes(SECRET))
    if (isDiscreet) return
    violate('I11', `${question.target} is answered with a secret of an upstream or a store`)
  }

  function isToCompare({ process, question }: Asked): boolean {
    const { record, dataSet = 'latest', isDecisive = false } = question
    if (!record) return false
    const isLong = record.kind === 'history' || (record.kind === 'latest' && !record.symbols)
    if (!isLong) return true
    const known = process.knowledge[dataSet]
    const isNew = known.comparedNews !== known.news
    known.comparedNews = known.news
    return isNew || isDecisive || (sampled += 1) % SAMPLE[record.kind] === 0
  }

  function requireHonest({ process, question, turn }: Asked, named: Headers): void {
    const { dataSet = 'latest', codes = [] } = question
    const known = process.knowledge[dataSet]
    if (named.get('cache-control') !== CACHE_CONTROL[dataSet]) {
      violate('I10', `a 200 with Cache-Control "${named.get('cache-control')}"`)
    }
    refreshes.answered(process, dataSet, named.get('cache-status') ?? '')
    if (dataSet === 'history') return
    const tables = tablesOf(process)
    requireNotTooOld(process, dataSet, Math.max(...tables.map(dueAt)))
    if (known.table && known.newsAt < now())
      known.usableUntil = dueAt(known.table) + maxStale.latest
    const modified = Date.parse(named.get('last-modified') ?? '')
    if (isLast(known, turn)) requireNoOlder(process, codes, modified)
    const isPossible = (table: Table): boolean =>
      timesOfOldest(table, codes).some((time) => isModified(table, time, modified))
    if (tables.some(isPossible)) return
    violate(
      'I3',
      `rates of ${codes.join()} that are not held have Last-Modified ${toDate(modified)}`,
    )
  }

  /** Whether no answer that was given later has been read already. */
  function isLast(known: DataSetKnowledge, turn = 0): boolean {
    if (turn < known.servedTurn) return false
    known.servedTurn = turn
    return true
  }

  /** The time of publication never goes back for the same codes, and is never in the future. */
  function requireNoOlder(
    { clock, knowledge: { latest } }: Process,
    codes: readonly string[],
    modified: number,
  ): void {
    const before = Math.min(...codes.map((code) => latest.modified.get(code) ?? -Infinity))
    if (modified < before) {
      const times = `from ${toDate(before)} to ${toDate(modified)}`
      violate('I4', `updatedAt of ${codes.join()} goes back ${times}`)
    }
    if (modified > clock.oldest() + SECOND) {
      violate('I4', `Last-Modified ${toDate(modified)} is to come`)
    }
    for (const code of codes) {
      latest.modified.set(code, Math.max(modified, latest.modified.get(code) ?? -Infinity))
    }
  }

  function requireNotTooOld({ clock }: Process, dataSet: DataSet, dueAt: number): void {
    const tooOld = clock.now() - dueAt - maxStale[dataSet]
    if (tooOld > SECOND) {
      violate('I5', `${dataSet} is served ${Math.round(tooOld / SECOND)} s after it became too old`)
    }
  }

  function requireRecord({ process, question, turn }: Asked, body: unknown, named: Headers): void {
    const { record, target } = question
    if (!record || typeof body !== 'string') return
    const lastModified = Date.parse(named.get('last-modified') ?? '')
    const [tables, limits, clock] = [tablesOf(process), limitsOf(process), process.clock.now()]
    const { latest, history } = process.knowledge
    const { missing } = history
    const circumstances = { oracle, clock, tables, missing, limits, lastModified }
    const objection = objectToRecord(body, record, circumstances)
    if (objection) return violate(objection[0], `${target}: ${objection[1]}`)
    if (record.kind === 'latest') latest.publishedAt = latest.table?.updatedAt ?? NaN
    if (record.kind === 'history' && isLast(history, turn)) requireNewest(process, record, body)
  }

  function requireNewest(process: Process, pair: HistoryAsked, body: string): void {
    const known = process.knowledge.history
    const [newest = ''] = /(?<="d":")[^"]+(?=","r":[^}]*\}\])/.exec(body) ?? []
    const due = oracle.historyDue(newest)
    requireNotTooOld(process, 'history', due.latest)
    if (known.newsAt < now()) known.usableUntil = due.earliest + maxStale.history
    const { served } = known
    // A day that lacks one of both, or that a clock set back makes one of the future, is not seen.
    const isVisible =
      served <= toDay(process.clock.now()) && oracle.isQuoted(served, pair, known.missing)
    if (newest < served && isVisible) violate('I4', `history goes back from ${served} to ${newest}`)
    known.served = newest > served ? newest : served
  }

  return {
    ask(process: Process, question: Question): Asked {
      const { dataSet } = question
      const isUsable =
        dataSet !== undefined && process.clock.oldest() < process.knowledge[dataSet].usableUntil
      return { process, question, at: now(), isUsable }
    },
    /** An answer was given, whose body is still to be read. */
    given(asked: Asked) {
      asked.turn = turns += 1
    },
    answered(asked: Asked, answer: RawResponse) {
      const { question } = asked
      const { status, body } = answer
      const named = new Map(answer.headers)
      requireDiscretion(asked, answer)
      requireInTime(asked)
      requireStatus(asked, status)
      if (status >= 400) requireError(status, named)
      if (question.record?.kind === 'status') {
        if (named.get('cache-control') !== 'no-store') violate('I10', 'a status may be cached')
        requireRecord(asked, body, named)
      }
      if (!question.dataSet || (status !== 200 && status !== 304)) return
      requireHonest(asked, named)
      if (isToCompare(asked)) requireRecord(asked, body, named)
    },
    /** Looks for a question that is never answered. */
    sweep({ process, question, at }: Asked) {
      const waiting = now() - Math.max(at, process.pausedUntil)
      if (process.isGone || process.pausedUntil >= now() || waiting < 2 * WAITING_LIMIT) return
      violate('I6', `${question.target} has not been answered after ${Math.round(waiting)} ms`)
    },
  }
}

/** `instant` (ms since the Unix epoch) as a header has it. */
function toDate(instant: number): string {
  return new Date(instant).toUTCString()
}

/** When faults have ended, fresh data are served after 5 minutes, a pause after failures and another process's claim. */
const RECOVERY = (300 + 450 + 450) * SECOND

/** A refresh that an answer starts takes no longer than this, when all is well. */
const PROMPT = 50 * SECOND

/** Watches what answers say of the next refresh: I8, I10 and I14. */
function createRefreshWatch({ loop, calmFrom, violate }: Scene) {
  const now = loop.now

  /** From when nothing that went wrong excuses a process any more, in ms of virtual time. */
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
    answered(process: Process, dataSet: DataSet, cacheStatus: string) {
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
