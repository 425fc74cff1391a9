import type { DataSet, Fault } from '../../faults/fault.ts'
import type { Publication } from '../world/truth.ts'

/** One call of an upstream by one process. */
export interface Call {
  /** In ms of virtual time. */
  askedAt: number
  /** Belongs to the call, and to no other. */
  signal: AbortSignal | undefined
  /** What goes wrong with it; the same for every hop of a redirect. */
  fault: Fault | undefined
  isFaultChosen: boolean
  /** Whether the answer may be taken. */
  verdict: 'refuse' | 'refuse when warm' | 'take'
  /** The table that was sent. */
  sent: Publication | undefined
  dropped: string[]
}

/** What can be told from outside of one data set in one process. Times in ms of virtual time, but where noted. */
export interface DataSetKnowledge {
  /** The call under way. */
  call: Call | undefined
  /** How many calls have failed in a row. */
  failures: number
  /** The source must not be asked before, as long as the clock is not set. */
  restUntil: number
  /** The upstream itself asked not to be asked before. */
  pauseUntil: number
  /** How often the clock had been set when the two were found out. */
  restJumps: number
  /** Since when, for what is held, every claim has been refused, and when the last one was. */
  refusedSince: number | undefined
  refusedAt: number
  /** How often what is held may have changed, and when last: what is answered at that very moment may be either. */
  news: number
  newsAt: number
  /** After how much news an answer was last compared with the truth. */
  comparedNews: number
  /** Codes whose rates were held back by what is held, as an event told, and when it did. */
  heldBack: readonly string[]
  heldBackAt: number
  /** When the store last gave a text. */
  deliveredAt: number
  /** What is held can certainly be answered with while a clock that never goes back is before this, ms since the epoch. */
  usableUntil: number
  /** What was served last: a `Last-Modified`, or the newest day. */
  served: string | undefined
  /** Which of all answers that was. */
  servedTurn?: number
  /** When the next refresh is due by what was served, and with how much news. */
  refreshAt: number
  refreshNews: number
  refreshJumps: number
  /** When overdue data were served in a row, with nothing new in between: each may have started a refresh. */
  staleAnswers: number[]
}

/** The same for all data sets. */
export type Knowledge = Record<DataSet, DataSetKnowledge>

/** Of a process that has just started. */
export function createKnowledge(): Knowledge {
  return { latest: nothingKnown(), history: nothingKnown() }
}

function nothingKnown(): DataSetKnowledge {
  return {
    call: undefined,
    failures: 0,
    restUntil: -Infinity,
    pauseUntil: -Infinity,
    restJumps: 0,
    refusedSince: undefined,
    refusedAt: -Infinity,
    news: 0,
    newsAt: -Infinity,
    comparedNews: -1,
    heldBack: [],
    heldBackAt: -Infinity,
    deliveredAt: -Infinity,
    usableUntil: -Infinity,
    served: undefined,
    refreshAt: -Infinity,
    refreshNews: -1,
    refreshJumps: 0,
    staleAnswers: [],
  }
}

/** What is held is something else from `now` on, in ms of virtual time. */
export function noteNews(knowledge: DataSetKnowledge, now: number): void {
  knowledge.news += 1
  knowledge.newsAt = now
  knowledge.staleAnswers = []
  knowledge.refusedSince = undefined
  if (knowledge.heldBackAt < now) knowledge.heldBack = []
  knowledge.usableUntil = -Infinity
}
