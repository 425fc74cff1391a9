import type { DailyDataSet as DataSet } from '../../daily-data-set.ts'
import { createSyntheticMarket } from '../../../src/testing/synthetic-market.ts'
import { frankfurterPayload, openErApiPayload } from '../../fixtures/upstream-payloads.ts'
import type { Machine } from './machine.ts'

/** Stands in everything that an upstream or a store says; it may get into events, but into no answer. */
export const NONCE = 'n0nce-5ecret'

/** What the open feed says; times in seconds since the Unix epoch. */
export interface LatestBody {
  result: string
  provider: string
  time_last_update_unix: number
  time_next_update_unix: number
  time_eol_unix: number
  base_code: string
  rates: Record<string, number>
}

/** What the relay says. */
export interface HistoryBody {
  amount: number
  base: string
  start_date: string
  end_date: string
  rates: Record<string, Record<string, number>>
}

/** A call of an upstream. */
export interface Exchange {
  dataSet: DataSet
  url: URL
  init: RequestInit
  signal: AbortSignal
  machine: Machine
  /** What the upstream says when nothing is wrong. */
  good: string
  /** The same at another time, ms since the Unix epoch. */
  goodAt(instant: number): string
}

/** What happens to the calls of one upstream while something is wrong. */
export type Inject = (exchange: Exchange) => Response | Promise<Response>

/** Both upstreams, as `fetch` reaches them. */
export interface Upstream {
  fetch: typeof fetch
  /** Every call so far. */
  calls: { dataSet: DataSet; url: URL; init: RequestInit }[]
  /** What happens to the calls of `dataSet` now. */
  fault: { dataSet: DataSet; inject: Inject } | undefined
  /** What the open feed says at `instant`. */
  latest(instant: number): LatestBody
  /** What the relay says at `instant` of the days from `start` to `end`. */
  history(start: string, end: string, instant: number): HistoryBody
}

const market = createSyntheticMarket(1)

/** What was said before, by what it depends on: a thousand worlds ask for the same. */
const said = new Map<string, string>()

function once(key: string, say: () => string): string {
  const known = said.get(key) ?? say()
  said.set(key, known)
  return known
}

/** Nothing is published but at the full hour. */
function hourOf(instant: number): number {
  return Math.floor(instant / 3_600_000)
}

/** Upstreams that live by the time of `machine`; the relay knows nothing before the day `since`. */
export function createUpstream(machine: Machine, since: string): Upstream {
  function latestText(instant: number): string {
    return once(`${hourOf(instant)}`, () =>
      openErApiPayload({ now: instant, market, overrides: { provider: NONCE } }),
    )
  }

  function historyText(start: string, end: string, instant: number): string {
    return once(`${start} ${end} ${since} ${hourOf(instant)}`, () => {
      const known = { start: start > since ? start : since, end, now: instant, market }
      return frankfurterPayload(known).replace('{', `{"note":"${NONCE}",`)
    })
  }

  const upstream: Upstream = {
    async fetch(input, init = {}) {
      const url = new URL(input instanceof Request ? input.url : input)
      const dataSet = url.host.includes('er-api') ? 'latest' : 'history'
      upstream.calls.push({ dataSet, url, init })
      const [start = '', end = ''] = url.pathname.slice('/v1/'.length).split('..')
      const goodAt = (instant: number): string =>
        dataSet === 'latest' ? latestText(instant) : historyText(start, end, instant)
      const good = goodAt(machine.now())
      const { fault } = upstream
      if (fault?.dataSet !== dataSet) return answer(good)
      const signal = init.signal ?? new AbortController().signal
      return fault.inject({ dataSet, url, init, signal, machine, good, goodAt })
    },
    calls: [],
    fault: undefined,
    latest: (instant) => JSON.parse(latestText(instant)),
    history: (start, end, instant) => JSON.parse(historyText(start, end, instant)),
  }
  return upstream
}

/** An answer with `text` as its body. */
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
  return new Response(body, {
    status,
    headers: { 'content-type': 'application/json', 'x-nonce': NONCE, ...headers },
  })
}

/** An error as `fetch` has it: what went wrong on the wire is in its cause. */
export function wireError(code: string): TypeError {
  const cause = Object.assign(new Error(`${code} ${NONCE}`), { code })
  return new TypeError('fetch failed', { cause })
}

/** Resolves `delay` ms later; rejects as soon as the call is aborted. */
export function later({ machine, signal }: Exchange, delay: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = machine.after(delay, resolve)
    const abort = (): void => {
      stop()
      reject(new DOMException(`aborted ${NONCE}`, 'AbortError'))
    }
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
}
