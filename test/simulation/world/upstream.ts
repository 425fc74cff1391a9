import { HOSTS } from '../../fixtures/contract.ts'
import type { DataSet, Exchange, LatestPayload } from '../faults/upstream-fault.ts'
import { SECRET, toPublication } from '../faults/upstream-fault.ts'
import type { Call } from '../invariants/knowledge.ts'
import type { UpstreamWatch } from '../invariants/upstream-watch.ts'
import type { Violate } from '../invariants/violation.ts'
import type { EventLoop } from './event-loop.ts'
import type { LatestFeed, Publication } from './latest-feed.ts'
import type { Nemesis } from './nemesis.ts'
import type { Process } from './process.ts'
import type { Random } from './random.ts'
import type { ReferenceRates } from './reference-rates.ts'

/** The two upstreams and the network before them. */
export interface Upstream {
  /** The `fetch` of a process. */
  fetchFor(process: Process): typeof fetch
  /** How many calls have been made. */
  calls(): Readonly<Record<DataSet, number>>
}

/** What the upstreams are made from. */
export interface UpstreamOptions {
  loop: EventLoop
  random: Random
  /** Ms since the Unix epoch. */
  startsAt: number
  feed: LatestFeed
  referenceRates: ReferenceRates
  nemesis: Nemesis
  watch: UpstreamWatch
  trace(process: Process, what: string, detail: string): void
  violate: Violate
}

/** Upstreams that know the truth, and tell it unless the nemesis has other plans. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { watch, nemesis, trace, violate } = options
  const calls = { latest: 0, history: 0 }

  function choose(call: Call, dataSet: DataSet): void {
    if (call.isFaultChosen) return
    call.isFaultChosen = true
    call.fault = nemesis.upstreamFault(dataSet)
    call.verdict = call.fault?.verdict ?? 'take'
  }

  return {
    calls: () => calls,
    fetchFor: (process) => (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input)
      const dataSet = url.pathname.includes('/v6/') ? 'latest' : 'history'
      const isKnown = url.protocol === 'https:' && HOSTS[dataSet].includes(url.host)
      if (!isKnown || !url.pathname.startsWith(`/${SECRET}/`)) {
        violate('I11', `${url.href} is fetched`)
      }
      const signal = init?.signal ?? new AbortController().signal
      const call = watch.callOf(process, dataSet, signal)
      if (!call || signal.aborted) return Promise.reject(signal.reason)
      calls[dataSet] += 1
      choose(call, dataSet)
      trace(process, `fetches ${dataSet}`, call.fault?.name ?? '')
      const exchange = createExchange(options, { process, dataSet, url, signal, call })
      return call.fault ? call.fault.answer(exchange) : exchange.sendHealthy()
    },
  }
}

interface Fetching {
  process: Process
  dataSet: DataSet
  url: URL
  signal: AbortSignal
  call: Call
}

function createExchange(options: UpstreamOptions, fetching: Fetching): Exchange {
  const { loop, random, feed, startsAt } = options
  const { process, dataSet, signal, call } = fetching
  const instant = startsAt + loop.now()
  const publication = feed.at(instant)
  const usual = random.between(20, 400)
  const text = (): string =>
    dataSet === 'latest'
      ? JSON.stringify(toPayload(publication))
      : historyText(options.referenceRates, fetching.url, instant)
  const send: Exchange['send'] = (body, init, delay = usual) =>
    settled(options, fetching, delay, () => new Response(body, init))
  const known = process.knowledge.latest
  const exchange: Exchange = {
    dataSet,
    url: fetching.url,
    random,
    instant,
    isWarm: process.clock.oldest() < known.usableUntil,
    text,
    table: (back) => toPayload(feed.at(instant, back)),
    send,
    sendTable(table) {
      call.sent = toPublication(table)
      return send(JSON.stringify(table))
    },
    sendHealthy(delay) {
      call.verdict = 'take'
      if (dataSet === 'latest') call.sent = publication
      return send(text(), undefined, delay)
    },
    break: (error, delay) =>
      settled(options, fetching, delay, () => {
        throw error
      }),
    hang: (isDeaf) =>
      isDeaf ? late(options, fetching, () => new Response(text())) : never(signal),
    after: (delay, callback) => void loop.after(delay, callback, process),
    onAbort: (callback) =>
      signal.addEventListener('abort', () => callback(signal.reason), { once: true }),
  }
  return exchange
}

/** Settles as `outcome` does after `delay` ms of the caller's time; rejects when the caller aborts. */
function settled(
  { loop }: UpstreamOptions,
  { process, signal }: Fetching,
  delay: number,
  outcome: () => Response,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const cancel = loop.after(
      delay,
      () => {
        signal.removeEventListener('abort', onAbort)
        try {
          resolve(outcome())
        } catch (error) {
          reject(error)
        }
      },
      process,
    )
    const onAbort = (): void => {
      cancel()
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** Rejects when the caller aborts. */
function never(signal: AbortSignal): Promise<Response> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

/** Answers long after the caller has given up, or never. */
function late(
  { loop, random }: UpstreamOptions,
  { process }: Fetching,
  answer: () => Response,
): Promise<Response> {
  return new Promise((resolve) => {
    if (random.chance(0.5)) return
    loop.after(random.magnitude(30_000, 600_000), () => resolve(answer()), process)
  })
}

/** A publication in the form of the open feed. */
function toPayload({ updatedAt, nextUpdateAt, rates }: Publication): LatestPayload {
  return {
    result: 'success',
    provider: 'https://www.exchangerate-api.com',
    time_last_update_unix: updatedAt / 1_000,
    time_last_update_utc: new Date(updatedAt).toUTCString(),
    time_next_update_unix: nextUpdateAt / 1_000,
    time_eol_unix: 0,
    base_code: 'USD',
    rates: { ...rates },
  }
}

/** The answer to `/v1/{start}..{end}` in the form of the relay. */
function historyText(referenceRates: ReferenceRates, { pathname }: URL, instant: number): string {
  const [, start = '', end = ''] = /\/v1\/(.{10})\.\.(.{10})$/.exec(pathname) ?? []
  const rows = referenceRates.rows({ start, end }, instant)
  return `{"amount":1.0,"base":"EUR","start_date":"${start}","end_date":"${end}","rates":{${rows.join(',')}}}`
}
