import type { DataSet, Fault } from '../../faults/fault.ts'
import type { Publication } from '../world/truth.ts'
import type { Notes, Table } from './tables.ts'

export type Call = ReturnType<typeof newCall>

/** A call that was made at `askedAt`, in ms of virtual time. */
export function newCall(askedAt: number) {
  return {
    askedAt,
    /** Belongs to the call, and to no other. */
    signal: undefined as AbortSignal | undefined,
    /** What goes wrong with it; the same for every hop of a redirect. */
    fault: undefined as Fault | undefined,
    isFaultChosen: false,
    verdict: 'take' as 'refuse' | 'refuse when warm' | 'take',
    sent: undefined as Publication | undefined,
    /** The table that was held when the call was made. */
    before: undefined as Table | undefined,
  }
}

/** What can be told from outside of one data set in one process. Times in ms of virtual time, but where noted. */
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
    /** The source must not be asked before, as long as the clock is not set. */
    restUntil: never,
    /** The upstream itself asked not to be asked before. */
    pauseUntil: never,
    /** How often the clock was set before the two were found out. */
    restJumps: 0,
    /** Since when, for what is held, every claim has been refused, and when the last one was. */
    refusedSince: undefined as number | undefined,
    refusedAt: never,
    /** How often what is held may have changed, and when last: what is answered at that very moment may be either. */
    news: 0,
    newsAt: never,
    /** After how much news an answer was last compared with the truth. */
    comparedNews: -1,
    /** The latest rates that are held, and those that were held until the last news. */
    table: undefined as Table | undefined,
    tableBefore: undefined as Table | undefined,
    /** The codes that events named last, and when: they are about a table that is accepted at that moment. */
    notes: NO_NOTES,
    notedAt: never,
    /** Days of history, or rates of a day, that are held back or that were not published: `2026-11-19 USD`. */
    missing: new Set<string>() as ReadonlySet<string>,
    /** The last value from the store, and when it came. */
    delivered: undefined as unknown,
    deliveredAt: never,
    /** The newest `Last-Modified` of any answer that needed a code, by code, in ms since the Unix epoch. */
    modified: new Map<string, number>(),
    /** What is held can certainly be answered with while a clock that never goes back is before this, ms since the epoch. */
    usableUntil: never,
    /** The newest day that was served, and when the latest rates that were served last were published, in ms since the Unix epoch. */
    served: '',
    publishedAt: never,
    /** Which of all answers that was. */
    servedTurn: 0,
    /** When the next refresh is due by what was served, and with how much news. */
    refreshAt: never,
    refreshNews: -1,
    refreshJumps: 0,
    /** When overdue data were served in a row, with nothing new in between: each may have started a refresh. */
    staleAnswers: Array<number>(),
  }
}

/** What is held is something else from `now` on, in ms of virtual time. */
export function noteNews(knowledge: DataSetKnowledge, now: number): void {
  knowledge.news += 1
  knowledge.newsAt = now
  knowledge.staleAnswers = []
  knowledge.refusedSince = undefined
  knowledge.usableUntil = -Infinity
}

export const NO_NOTES: Notes = { dropped: [], lost: [], heldBack: [] }
