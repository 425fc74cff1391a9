import type { HistoryDays, RatesEvent } from '../../src/index.ts'
import type { DataSet } from '../../src/index.ts'
import { DAY, SECOND } from '../virtual-runtime.ts'
import type { StoreFault, StoredValue } from './store.ts'

export type { DataSet }

/** Part of every text of an upstream or a store. It may appear in events, but never in a response. */
export const SECRET = 'n0nce-5ecret'

export const BOTH: readonly DataSet[] = ['latest', 'history']

/** A page, as a proxy may return instead of the upstream. */
export const PAGE = `<!doctype html><title>${SECRET}</title><h1>Just a moment...</h1>`

/** Events for a response or a stored value that failed validation. */
export const REJECTED = ['rates_rejected'] as const

/** The response of the open feed; times in seconds since the Unix epoch. */
export interface LatestBody {
  time_last_update_unix: number
  time_next_update_unix: number
  base_code: string
  rates: Record<string, number>
}

/** The response of the relay of reference rates. */
export interface HistoryBody {
  amount: number
  base: string
  rates: Record<string, Record<string, number>>
}

/** In ms since the Unix epoch. */
interface Times {
  updatedAt: number
  nextUpdateAt: number
}

export interface LatestTruth extends Times {
  rates: Readonly<Record<string, number>>
  /** The times of the `rates` that are from an earlier publication. */
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
  /** The response of the upstream without a fault. */
  readonly good: string
  /** The publication at the first request, and the one before. */
  readonly first: string
  readonly older: string
  after(delay: number, callback: () => void): void
  healthy(): Response
}

/** Replaces calls of one upstream during a fault. */
export type Inject = (exchange: Exchange) => Response | Promise<Response>

/**
 * The state of the handler when the fault starts: without usable data; with data overdue by less than `maxStale`; overdue by
 * more; or with fresh data.
 */
export type State = 'cold' | 'warm' | 'expired' | 'fresh'

/** Whether the data of an upstream are served. */
type Verdict = 'refused' | 'accepted'

export interface Fault {
  name: string
  /** The affected upstreams (default latest rates only). */
  dataSets?: readonly DataSet[]
  /** Whether the upstream's data are served; `inState` overrides it by state. */
  verdict: Verdict
  inState?: Partial<Record<State, Verdict>>

  inject?: Inject
  /** Replaces the call of the provider. */
  misbehave?(): Promise<never>
  /** Changes the result of the history provider. */
  transform?(result: HistoryDays): HistoryDays
  store?: StoreFault
  /** Returns the stored value instead of a good one: a text, or a value to serialize as JSON. */
  holds?(good: StoredValue): unknown

  /** Returns the served part of the upstream's data (default all data of a healthy upstream). */
  serves?: {
    latest?(body: LatestBody, before: LatestTruth | undefined): LatestTruth
    history?(body: HistoryBody): Days
  }
  /** The same for the answer after the fault. */
  servesAfterwards?: Fault['serves']
  /** How long calls take to fail, in ms; `limit` where only the timeout ends them. */
  takes?: number | 'limit'
  /** The shortest time until the next call, in ms (default 1 s where refused, else 10 min). */
  pause?: number
  /** How far ahead the date in `Retry-After` is, in ms: handlers compare it with their own clock. */
  datedIn?: number
  /** Events that report the fault when it hits a refresh. */
  reported?: readonly RatesEvent['type'][]

  /** Detected only by comparison with a usable table. */
  needsPrevious?: boolean
  /** False for faults that the simulation's model of the data does not cover (default true). */
  isSimulated?: boolean
}

/** A fault in all its forms. */
export interface FaultCase<Form = Fault> {
  layer: string
  id: string
  forms: readonly Form[]
}

export function entriesOf<Form extends Fault = Fault>(
  layer: string,
  formsById: Readonly<Record<string, NoInfer<Form> | readonly NoInfer<Form>[]>>,
): FaultCase<Form>[] {
  return Object.entries(formsById).map(([id, forms]) => {
    return { layer, id, forms: 'name' in forms ? [forms] : forms }
  })
}

/** Creates a form of a fault. */
export type Make<Input> = (name: string, input: Input, more?: Partial<Fault>) => Fault

export const failing: Make<Inject> = (name, inject, more) => {
  return { name, verdict: 'refused', inject, ...more }
}
export const accepted: Make<Inject> = (name, inject, more) => {
  return { name, dataSets: BOTH, verdict: 'accepted', inject, ...more }
}
export const refused: Make<Inject> = (name, inject, more) =>
  failing(name, inject, { dataSets: BOTH, ...more })

/** The open feed returns a changed body, which is served as it is. */
export const changedLatest: Make<(body: LatestBody) => LatestBody> = (name, change, more) => {
  const serves = { latest: (body: LatestBody) => toLatestTruth(change(body)) }
  return { name, verdict: 'accepted', inject: changedJson(change), serves, ...more }
}

/** Returns the response to every call; see `answer`. */
export function responding(...parts: Parameters<typeof answer>): () => Response {
  return () => answer(...parts)
}

export function rewritten(change: (good: string) => string): Inject {
  return ({ good, healthy }) => {
    const changed = change(good)
    return changed === good ? healthy() : answer(changed)
  }
}

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

/** Returns an error like that of `fetch`, with the network error as its cause. */
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

/** Returns the served data of `body`. */
export function toLatestTruth(body: LatestBody): LatestTruth {
  return byLaw(toPublication(body))
}

/** Returns the data of `body`, with the next update at most eight days later. */
export function toPublication(body: LatestBody): LatestTruth {
  const updatedAt = body.time_last_update_unix * SECOND
  const nextUpdate = body.time_next_update_unix || body.time_last_update_unix + DAY / SECOND
  const nextUpdateAt = Math.min(nextUpdate * SECOND, updatedAt + 8 * DAY)
  return { updatedAt, nextUpdateAt, rates: body.rates }
}

/** Units of withdrawn currencies for one unit of their successors, by law. */
export const LEGAL: Readonly<Record<string, readonly [successor: string, ratio: number]>> = {
  ANG: ['XCG', 1],
  BGN: ['EUR', 1.95583],
  HRK: ['EUR', 7.5345],
  SLL: ['SLE', 1_000],
  ZWL: ['ZWG', 2_498.7242],
}

/** Returns `truth` with the legal rates of withdrawn currencies, as old as those of their successors. */
export function byLaw(truth: LatestTruth): LatestTruth {
  const rates = { ...truth.rates }
  const older = { ...truth.older }
  for (const [code, [successor, ratio]] of Object.entries(LEGAL)) {
    const rate = rates[successor]
    if (!(code in rates) || !(typeof rate === 'number' && rate > 0)) continue
    rates[code] = Number((rate * ratio).toPrecision(15))
    const { [successor]: times } = older
    if (times) older[code] = times
  }
  return { ...truth, rates, ...(truth.older && { older }) }
}

/** Returns `truth` with the rates `codes` of the publication `before`. */
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
