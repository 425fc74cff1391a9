import type { DataSet, Fault } from '../../faults/fault.ts'
import type { Publication } from '../world/truth.ts'
import type { Notes, Table } from './tables.ts'

export type Call = ReturnType<typeof newCall>

export function newCall(requestedAt: number) {
  return {
    requestedAt,
    signal: undefined as AbortSignal | undefined,
    fault: undefined as Fault | undefined,
    isFaultChosen: false,
    verdict: 'take' as 'refuse' | 'refuse when warm' | 'take',
    sent: undefined as Publication | undefined,
    before: undefined as Table | undefined,
    /** Whether a late reply of the store has overtaken it: an older response is then not taken. */
    isOvertaken: false,
  }
}

/** What can be observed of one data set in one process. Times in ms of virtual time unless noted. */
export type DataSetKnowledge = ReturnType<typeof nothingKnown>

export type Knowledge = Record<DataSet, DataSetKnowledge>

export function createKnowledge(): Knowledge {
  return { latest: nothingKnown(), history: nothingKnown() }
}

function nothingKnown() {
  const never = -Infinity
  return {
    call: undefined as Call | undefined,
    failures: 0,
    /** End of the backoff, unless the clock is set. */
    backoffUntil: never,
    /** End of the delay that the upstream requested. */
    retryAfterUntil: never,
    backoffJumps: 0,
    /** Since when every lease has been denied for the current data, and the time of the last denial. */
    refusedSince: undefined as number | undefined,
    refusedAt: never,
    /** Number and time of possible changes of the current data. A response at that moment may have either. */
    news: 0,
    newsAt: never,
    /** Value of `news` at the last comparison of a response with the truth. */
    comparedNews: -1,
    /** The current latest rates, and those before the last change. */
    table: undefined as Table | undefined,
    tableBefore: undefined as Table | undefined,
    /** Codes in the last events, and the time of these: they concern a table that is accepted at the same moment. */
    notes: NO_NOTES,
    notedAt: never,
    /** Days of history, or rates of a day, that are quarantined or were not published: `2026-11-19 USD`. */
    missing: new Set<string>() as ReadonlySet<string>,
    missingBefore: new Set<string>() as ReadonlySet<string>,
    delivered: undefined as unknown,
    deliveredAt: never,
    /** The newest `Last-Modified` of a response that needed a code, by code, in ms since the Unix epoch. */
    modified: new Map<string, number>(),
    /** Until this time of a clock that never goes back (ms since the Unix epoch), the current data are certainly served. */
    usableUntil: never,
    /** The newest day served, and the publication of the latest rates served last (ms since the Unix epoch). */
    served: '',
    publishedAt: never,
    servedOrder: 0,
    /** Time of the next refresh according to the last response, and the value of `news` then. */
    refreshAt: never,
    refreshNews: -1,
    refreshJumps: 0,
    /** Times of overdue responses in a row without a change in between. Each may have started a refresh. */
    staleResponses: Array<number>(),
  }
}

/** Records that the current data changed at `now`, in ms of virtual time. */
export function noteNews(knowledge: DataSetKnowledge, now: number): void {
  knowledge.news += 1
  knowledge.newsAt = now
  knowledge.staleResponses = []
  knowledge.refusedSince = undefined
  knowledge.usableUntil = -Infinity
}

export const NO_NOTES: Notes = { dropped: [], lost: [], quarantined: [] }
