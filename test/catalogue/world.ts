import { createExchangeRateApiProvider, createFrankfurterProvider } from '../../src/index.ts'
import type { CacheStore, RatesEvent } from '../../src/index.ts'
import { SECRET, answer } from '../faults/fault.ts'
import type { DataSet, Fault, HistoryBody, LatestBody } from '../faults/fault.ts'
import type { StoreFault, StoreOperation } from '../faults/store.ts'
import { toDay } from '../fixtures/dates.ts'
import { marketOf } from '../fixtures/market.ts'
import { recordedHandler } from '../fixtures/recorded-handler.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { upstream as failing } from '../providers/upstream.ts'
import { DAY, HOUR, settled, virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'
import { wholeBody } from '../whole-body.ts'

// Loads the other sources before time is virtual.
await createFrankfurterProvider()
  .fetchHistory({ start: '2026-01-01', end: '2026-02-01' }, failing([new Error('down')]).context)
  .catch(() => undefined)

/** A Friday evening, after both publications, ms since the Unix epoch. */
export const START = Date.UTC(2026, 10, 20, 18)

/** After this number of turns of the event loop only time can complete a call: Deno reads one chunk of a body per turn. */
const MANY_TURNS = 150
const FEW_TURNS = 10

export type World = ReturnType<typeof createWorld>
export type TimedResponse = Awaited<ReturnType<World['request']>>

/** Creates a handler with a store and the default providers, whose upstreams can have a fault. */
export function createWorld(start = START) {
  const runtime = virtualRuntime(start, 0.5)
  // All requested windows have one month.
  const upstream = createUpstream(runtime, toDay(start - 38 * DAY))
  const store = createWatchedStore(runtime)
  const events: { at: number; event: RatesEvent }[] = []
  const [latest, history] = [createExchangeRateApiProvider(), createFrankfurterProvider()]

  function misbehave(dataSet: DataSet): Promise<never> | undefined {
    return upstream.fault?.dataSet === dataSet ? upstream.fault.misbehave?.() : undefined
  }

  const { handler } = recordedHandler(runtime, {
    fetch: upstream.fetch,
    store,
    onEvent: (event) => void events.push({ at: runtime.monotonic(), event }),
    providers: {
      latest: {
        ...latest,
        fetchLatest: (context) => misbehave('latest') ?? latest.fetchLatest(context),
      },
      history: {
        ...history,
        async fetchHistory(range, context) {
          const found = await (misbehave('history') ?? history.fetchHistory(range, context))
          return upstream.fault?.transform?.(found) ?? found
        },
      },
    },
  })

  function count(dataSet: DataSet | undefined, ...types: RatesEvent['type'][]): number {
    return events.filter(
      ({ event }) =>
        types.includes(event.type) &&
        (dataSet === undefined || ('dataSet' in event && event.dataSet === dataSet)) &&
        !('origin' in event && event.origin === 'store'),
    ).length
  }

  function isIdle(): boolean {
    const outcomes = count(undefined, 'upstream_response', 'upstream_failed', 'rates_rejected')
    return outcomes === count(undefined, 'upstream_request')
  }

  return {
    handler,
    runtime,
    upstream,
    store,
    events,
    /** Number of provider calls by data set. */
    attempts: (): Record<DataSet, number> => ({
      latest: count('latest', 'upstream_request'),
      history: count('history', 'upstream_request'),
    }),
    async request(target: string) {
      const requestedAt = runtime.monotonic()
      const raw = await handler.answer({ method: 'GET', target, header: () => null })
      const body = await wholeBody(raw.body)
      const waited = runtime.monotonic() - requestedAt
      return { target, status: raw.status, headers: Object.fromEntries(raw.headers), body, waited }
    },
    /** Waits for `work` while up to 30 s pass, from timer to timer. */
    async drive<T>(work: Promise<T>): Promise<T> {
      const until = runtime.monotonic() + 30_000
      let isDone = false
      const end = (): void => void (isDone = true)
      work.then(end, end)
      for (;;) {
        await turns(MANY_TURNS, () => isDone)
        if (isDone || runtime.monotonic() + runtime.untilNextTimer() > until) break
        await runtime.advance(runtime.untilNextTimer())
      }
      return isDone ? work : Promise.reject(new Error('work is still pending after 30 s'))
    },
    /** Waits until no provider call is pending, or only time can complete it. */
    async settle() {
      // A refresh reads the store before it calls the provider.
      await turns(FEW_TURNS)
      await turns(MANY_TURNS, isIdle)
      await turns(FEW_TURNS)
    },
  }
}

async function turns(count: number, isDone = () => false): Promise<void> {
  for (let turn = 0; turn < count && !isDone(); turn += 1) await settled()
}

interface WatchedStore extends CacheStore {
  entries: Map<string, string>
  fault: StoreFault | undefined
  operationOn(key: string, work: () => unknown): StoreOperation
}

/** Creates a store in this process, without previous values. */
function createWatchedStore(runtime: VirtualRuntime): WatchedStore {
  const entries = new Map<string, string>()
  function operate(operation: 'get' | 'set', key: string, work: () => unknown): unknown {
    const fault = store.fault?.[operation]
    return fault ? fault(store.operationOn(key, work)) : work()
  }
  const store: WatchedStore = {
    entries,
    fault: undefined,
    operationOn: (key, work) => ({
      key,
      work,
      stored: (other = key) => entries.get(other),
      storedBefore: () => undefined,
      reply: (result) => result(),
      later: (delay, result) =>
        new Promise((resolve) => void runtime.startTimer(() => resolve(result()), delay)),
      pick: ([first]) => first,
    }),
    get: (key) => operate('get', key, () => entries.get(key)),
    set: (key, value) => operate('set', key, () => void entries.set(key, value)),
  }
  return store
}

const market = marketOf()

/** Payloads by all inputs, for an hour: publications are on the hour. */
const payloads = new Map<string, string>()

function oncePerHour(instant: number, query: string, createPayload: () => string): string {
  const key = `${Math.floor(instant / HOUR)} ${query}`
  const payload = payloads.get(key) ?? createPayload()
  payloads.set(key, payload)
  return payload
}

/** Creates both upstreams; the relay has no days before `since`. */
function createUpstream(runtime: VirtualRuntime, since: string) {
  const latestText = (instant: number): string =>
    oncePerHour(instant, '', () =>
      openErApiPayload({ now: instant, market, overrides: { provider: SECRET } }),
    )
  const historyText = (start: string, end: string, instant: number): string =>
    oncePerHour(instant, `${start} ${end} ${since}`, () => {
      const known = { start: start > since ? start : since, end, now: instant, market }
      return frankfurterPayload(known).replace('{', `{"note":"${SECRET}",`)
    })

  const upstream = {
    calls: Array<DataSet>(),
    fault: undefined as (Partial<Fault> & { dataSet: DataSet }) | undefined,
    latest: (instant: number): LatestBody => JSON.parse(latestText(instant)),
    history: (end: string, instant: number): HistoryBody =>
      JSON.parse(historyText('2000-01-01', end, instant)),
    async fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
      const url = new URL(input instanceof Request ? input.url : input)
      const dataSet = url.pathname.startsWith('/v6/') ? 'latest' : 'history'
      // The second version and the bank are always down, so that only the first version counts.
      if (!/^\/v[16]\//.test(url.pathname)) {
        return new Response('', { status: 503, headers: { 'retry-after': '21600' } })
      }
      upstream.calls.push(dataSet)
      const [start = '', end = ''] = url.pathname.slice('/v1/'.length).split('..')
      const goodAt = (instant: number): string =>
        dataSet === 'latest' ? latestText(instant) : historyText(start, end, instant)
      const now = runtime.now()
      const good = goodAt(now)
      const healthy = (): Response => answer(good)
      const { fault } = upstream
      if (fault?.dataSet !== dataSet || !fault.inject) return healthy()
      const signal = init.signal ?? new AbortController().signal
      const [first, older] = [goodAt(START), goodAt(START - DAY)]
      const after = (delay: number, callback: () => void): void =>
        void runtime.startTimer(callback, delay)
      return fault.inject({ dataSet, url, init, signal, now, good, first, older, after, healthy })
    },
  }
  return upstream
}
