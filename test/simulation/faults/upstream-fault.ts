import type { Publication } from '../world/latest-feed.ts'
import type { Random } from '../world/random.ts'

/** Which of the two upstreams is meant. */
export type DataSet = 'latest' | 'history'

/** Stands in every error, body and URL of an upstream or a store, so that it is seen wherever it leaks. */
export const SECRET = 'never-to-be-seen'

/** Latest rates in the form in which the upstream sends them. */
export interface LatestPayload {
  [field: string]: unknown
  time_last_update_unix: number
  time_next_update_unix: number
  rates: Record<string, number>
}

/** One call of an upstream, and what may be done with it. Delays in ms. */
export interface Exchange {
  readonly dataSet: DataSet
  readonly url: URL
  readonly random: Random
  /** True time, in ms since the Unix epoch. */
  readonly instant: number
  /** Whether the caller certainly has a usable table, to compare this one with. */
  readonly isWarm: boolean
  /** The body that a healthy upstream sends. */
  text(): string
  /** The same for latest rates, to be altered before it is sent with `sendTable`. */
  table(back?: number): LatestPayload
  /** Answers after the usual delay, or after `delay`; rejects when the caller aborts. */
  send(body: string | ReadableStream | null, init?: ResponseInit, delay?: number): Promise<Response>
  /** Sends a table, and lets the oracle know it. */
  sendTable(table: LatestPayload): Promise<Response>
  /** Answers as a healthy upstream, which is not held against the caller. */
  sendHealthy(delay?: number): Promise<Response>
  /** Rejects after `delay`, or when the caller aborts. */
  break(error: unknown, delay: number): Promise<Response>
  /** Never answers; rejects when the caller aborts, unless it is `deaf` to that. */
  hang(deaf: boolean): Promise<Response>
  /** Calls `callback` after `delay`, unless the calling process is gone. */
  after(delay: number, callback: () => void): void
  /** Calls `callback` when the caller aborts. */
  onAbort(callback: (reason: unknown) => void): void
}

/** One thing that goes wrong upstream. */
export interface UpstreamFault {
  name: string
  dataSets: readonly DataSet[]
  /**
   * What must become of it: refused whatever is held; refused where a usable table is held, to compare with; or it may be
   * taken for good, as far as it is.
   */
  verdict: 'refuse' | 'refuse when warm' | 'take'
  /** How long it is then to be left alone at least, in ms, by a caller whose clock is `clockAhead` ms ahead of true time. */
  pause?: (clockAhead: number) => number
  answer(exchange: Exchange): Promise<Response>
}

/** What the oracle makes of a payload. */
export function toPublication(payload: LatestPayload): Publication {
  const { time_last_update_unix, time_next_update_unix, rates } = payload
  return {
    updatedAt: time_last_update_unix * 1_000,
    nextUpdateAt: (time_next_update_unix || time_last_update_unix + 86_400) * 1_000,
    rates,
  }
}
