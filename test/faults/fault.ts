import type { HistoryDays, RatesEvent } from '../../src/index.ts'
import type { DailyDataSet as DataSet } from '../daily-data-set.ts'
import { DAY, SECOND } from '../virtual-runtime.ts'
import type { StoreFault, StoredValue } from './store.ts'

export type { DataSet }

/** Stands in everything that an upstream or a store says; it may get into events, but into no answer. */
export const SECRET = 'n0nce-5ecret'

/** Both data sets: for what can happen to either upstream in the same way. */
export const BOTH: readonly DataSet[] = ['latest', 'history']

/** A page, as anything between two machines may answer in place of either. */
export const PAGE = `<!doctype html><title>${SECRET}</title><h1>Just a moment...</h1>`

/** Events for an answer or a stored value that the checks refused. */
export const REJECTED = ['rates_rejected'] as const

/** What the open feed says; times in seconds since the Unix epoch. */
export interface LatestBody {
  time_last_update_unix: number
  time_next_update_unix: number
  base_code: string
  rates: Record<string, number>
}

/** What the relay of reference rates says. */
export interface HistoryBody {
  amount: number
  base: string
  rates: Record<string, Record<string, number>>
}

/** Times of a publication, in ms since the Unix epoch. */
interface Times {
  updatedAt: number
  nextUpdateAt: number
}

/** One publication of latest rates. */
export interface LatestTruth extends Times {
  rates: Readonly<Record<string, number>>
  /** The times of those `rates` that are from an earlier one. */
  older?: Readonly<Record<string, Times>>
  /** When it was loaded, by a clock that was behind `updatedAt`, in ms since the Unix epoch. */
  loadedAt?: number
}

export type Days = Readonly<Record<string, Readonly<Record<string, number>>>>

export interface Exchange {
  readonly dataSet: DataSet
  readonly url: URL
  readonly init: RequestInit
  readonly signal: AbortSignal
  /** The true time, ms since the Unix epoch. */
  readonly now: number
  /** What the upstream says when nothing is wrong. */
  readonly good: string
  /** What it said when it was first asked, and before that. */
  readonly first: string
  readonly older: string
  after(delay: number, callback: () => void): void
  healthy(): Response
}

/** What happens to calls of one upstream while something is wrong. */
export type Inject = (exchange: Exchange) => Response | Promise<Response>

/**
 * In what state a fault meets a handler: with nothing usable anywhere; with data whose refresh is overdue by less than
 * `maxStale`; by more; or with data that need no refresh yet.
 */
export type State = 'cold' | 'warm' | 'expired' | 'fresh'

/** What becomes of what an upstream says: nothing, or it is served. */
export type Verdict = 'refused' | 'accepted'

export interface Fault {
  name: string
  /** Whose upstream it is about (default latest rates alone). */
  dataSets?: readonly DataSet[]
  /** What becomes of the upstream's answer, unless `inState` says otherwise. */
  verdict: Verdict
  inState?: Partial<Record<State, Verdict>>

  inject?: Inject
  /** What the provider does instead of asking its upstream. */
  misbehave?(): Promise<never>
  /** What the history provider makes of its upstream's answer. */
  retell?(answer: HistoryDays): HistoryDays
  store?: StoreFault
  /** What the store holds in place of a good value: text, or what becomes JSON. */
  holds?(good: StoredValue): unknown

  /** What of the upstream's answer is served (default all of what it says when nothing is wrong). */
  serves?: {
    latest?(body: LatestBody, before: LatestTruth | undefined): LatestTruth
    history?(body: HistoryBody): Days
  }
  /** The same for the answer after the fault. */
  servesAfterwards?: Fault['serves']
  /** How long the fault takes to show, in ms; `limit` where only the call's time limit ends it. */
  takes?: number | 'limit'
  /** How long the upstream is left alone at least afterwards, in ms (default 1 s where refused, else 10 min). */
  pause?: number
  /** How far ahead the date is, in ms, that asks for the pause: it is compared with the clock of the reader. */
  datedIn?: number
  /** Events that report the fault when it hits a refresh. */
  reported?: readonly RatesEvent['type'][]
  /** Whether stores keep what is served: all, none, or the first process's (default all). */
  keeps?: boolean | 'first'

  /** Shows only to who has a usable table to compare with. */
  needsPrevious?: boolean
  /** False for what an independent truth about the data does not know (default true). */
  isSimulated?: boolean
}

/** One entry of the catalogue: a fault in all its forms. */
export interface FaultCase<Form = Fault> {
  layer: string
  id: string
  fault: string
  forms: readonly Form[]
  /** Why the wanted answer is another than the catalogue's, where the contract says so. */
  contract?: string
  /** Why the catalogue has no answer for a state, and what is tried in its place. */
  instead?: Partial<Record<State, string>>
}

type Reasons = Pick<FaultCase, 'contract' | 'instead'>

export function entriesOf<Form = Fault>(layer: string) {
  return (
    id: string,
    fault: string,
    forms: readonly Form[],
    reasons?: Reasons,
  ): FaultCase<Form> => ({
    layer,
    id,
    fault,
    forms,
    ...reasons,
  })
}

export function failing(name: string, inject: Inject, more: Partial<Fault> = {}): Fault {
  return { name, verdict: 'refused', inject, ...more }
}

export function harmlessBoth(name: string, inject: Inject, more: Partial<Fault> = {}): Fault {
  return { name, dataSets: BOTH, verdict: 'accepted', inject, ...more }
}

/** A form that leaves nothing usable of either upstream. */
export function failingBoth(name: string, inject: Inject, more: Partial<Fault> = {}): Fault {
  return failing(name, inject, { dataSets: BOTH, ...more })
}

/** A form in which the open feed answers with a changed body that is served as it came. */
export function changedLatest(
  name: string,
  change: (body: LatestBody) => LatestBody,
  more: Partial<Fault> = {},
): Fault {
  const serves = { latest: (body: LatestBody) => toLatestTruth(change(body)) }
  return { name, verdict: 'accepted', inject: changedJson(change), serves, ...more }
}

/** A form in which the open feed answers with a changed body that is of no use. */
export function spoiltLatest(name: string, change: (body: LatestBody) => object): Fault {
  return failing(name, changedJson(change))
}

/** The same where an event says that the rates were rejected. */
export function rejectedLatest(
  name: string,
  change: (body: LatestBody) => object,
  more: Partial<Fault> = {},
): Fault {
  return failing(name, changedJson(change), { reported: REJECTED, ...more })
}

export function says(
  text: string,
  status?: number,
  headers?: Record<string, string>,
): () => Response {
  return () => answer(text, status, headers)
}

/** The good answer after `change`, which works on the text. */
export function rewritten(change: (good: string) => string): Inject {
  return ({ good, healthy }) => {
    const changed = change(good)
    return changed === good ? healthy() : answer(changed)
  }
}

/** The good answer after `change`, which works on the body of either upstream. */
export function changedJson(change: (body: LatestBody & HistoryBody) => object): Inject {
  return ({ good }) => answer(JSON.stringify(change(JSON.parse(good))))
}

export function after(delay: number): Inject {
  return async (exchange) => {
    await later(exchange, delay)
    return exchange.healthy()
  }
}

export function answer(
  text: string | Uint8Array<ArrayBuffer>,
  status = 200,
  headers: Record<string, string> = {},
): Response {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      if (bytes.length > 0) controller.enqueue(bytes)
      controller.close()
    },
  })
  const own = { 'content-type': 'application/json', 'x-nonce': SECRET }
  return new Response(body, { status, headers: { ...own, ...headers } })
}

/** An error as `fetch` has it: what went wrong on the wire is in its cause. */
export function wireError(code: string): TypeError {
  const cause = Object.assign(new Error(`${code} ${SECRET}`), { code })
  return new TypeError('fetch failed', { cause })
}

/** Resolves `delay` ms later; rejects as soon as the call is aborted. */
export function later(
  { after, signal }: Pick<Exchange, 'after' | 'signal'>,
  delay: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new DOMException(`aborted ${SECRET}`, 'AbortError'))
    const done = (): void => {
      signal.removeEventListener('abort', abort)
      resolve()
    }
    if (delay < Infinity) after(delay, done)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
}

/** What is served of `body`: its next update at most eight days later. */
export function toLatestTruth(body: LatestBody): LatestTruth {
  const updatedAt = body.time_last_update_unix * SECOND
  const nextUpdate = body.time_next_update_unix || body.time_last_update_unix + DAY / SECOND
  const nextUpdateAt = Math.min(nextUpdate * SECOND, updatedAt + 8 * DAY)
  return { updatedAt, nextUpdateAt, rates: body.rates }
}

/** `truth` with the rates `codes` of the publication `before` it. */
export function withOlder(
  truth: LatestTruth,
  before: LatestTruth,
  codes: readonly string[],
): LatestTruth {
  const rates = { ...truth.rates }
  const older: Record<string, Times> = { ...truth.older }
  const { updatedAt, nextUpdateAt } = before
  for (const code of codes) {
    rates[code] = before.rates[code] ?? NaN
    older[code] = before.older?.[code] ?? { updatedAt, nextUpdateAt }
  }
  return codes.length > 0 ? { ...truth, rates, older } : truth
}
