import { createHandlerOn } from '../../src/handler.ts'
import { createExchangeRateApiProvider, createFrankfurterProvider } from '../../src/index.ts'
import type { CacheStore, RatesEvent } from '../../src/index.ts'
import { marketOf } from '../fixtures/market.ts'
import { SECRET, answer } from '../faults/fault.ts'
import type { DataSet, Fault, HistoryBody, LatestBody } from '../faults/fault.ts'
import type { StoreFault, StoreOperation } from '../faults/store.ts'
import { toDay } from '../fixtures/dates.ts'
import { upstream } from '../providers/upstream.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { createClock, createEventLoop, startProcess } from '../simulation/world/machine.ts'
import { DAY, HOUR, settled } from '../virtual-runtime.ts'
import { wholeBody } from '../whole-body.ts'

// Loads the other sources before time is virtual.
const { context } = upstream([new Error('down')])
const DAYS = { start: '2026-01-01', end: '2026-02-01' }
await createFrankfurterProvider()
  .fetchHistory(DAYS, context)
  .catch(() => undefined)

/** A Friday evening, after both publications, ms since the Unix epoch. */
export const START = Date.UTC(2026, 10, 20, 18)

export interface WorldOptions {
  /** True start time, ms since the Unix epoch (default `START`). */
  start?: number | undefined
}

export type World = ReturnType<typeof createWorld>

/** Creates a process with a store and its upstreams. */
export function createWorld({ start = START }: WorldOptions = {}) {
  const machine = createMachine(start)
  // All requested windows have one month.
  const upstream = createUpstream(machine, toDay(start - 38 * DAY))
  const service = createService(machine, upstream)

  function count(dataSet: DataSet | undefined, ...types: RatesEvent['type'][]): number {
    return service.events.filter(
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
    ...service,
    machine,
    upstream,
    /** Number of provider calls by data set. */
    attempts: (): Record<DataSet, number> => ({
      latest: count('latest', 'upstream_request'),
      history: count('history', 'upstream_request'),
    }),
    /** Waits until no provider call is pending, or only time can complete it. */
    async settle() {
      // A refresh reads the store before it calls the provider.
      await machine.settle()
      await machine.settle(isIdle)
      await machine.settle()
    },
  }
}

interface WatchedStore extends CacheStore {
  entries: Map<string, string>
  fault: StoreFault | undefined
  operationOn(key: string, work: () => unknown): StoreOperation
}

function createWatchedStore(machine: Machine): WatchedStore {
  const entries = new Map<string, string>()

  function operate(operation: 'get' | 'set', key: string, work: () => unknown): unknown {
    const fault = store.fault?.[operation]
    return fault ? fault(store.operationOn(key, work)) : work()
  }

  const store: WatchedStore = {
    entries,
    fault: undefined,
    // A store in this process, without previous values.
    operationOn: (key, work) => ({
      key,
      work,
      stored: (other = key) => entries.get(other),
      storedBefore: () => undefined,
      reply: (result) => result(),
      later: (delay, result) =>
        new Promise((resolve) => {
          machine.after(delay, () => resolve(result()))
        }),
      pick: ([first]) => first,
    }),
    get: (key) => operate('get', key, () => entries.get(key)),
    set: (key, value) => operate('set', key, () => void entries.set(key, value)),
  }
  return store
}

export type TimedResponse = Awaited<ReturnType<World['request']>>

function createService(machine: Machine, upstream: Upstream) {
  const process = machine.startProcess()
  const store = createWatchedStore(machine)
  /** `at` is in ms of machine time. */
  const events: { at: number; event: RatesEvent }[] = []
  const latest = createExchangeRateApiProvider()
  const history = createFrankfurterProvider()

  function misbehave(dataSet: DataSet): Promise<never> | undefined {
    const { fault } = upstream
    return fault?.dataSet === dataSet ? fault.misbehave?.() : undefined
  }

  const handler = createHandlerOn(process.runtime, {
    now: process.clock.now,
    fetch: upstream.fetch,
    store,
    onEvent: (event) => events.push({ at: machine.elapsed(), event }),
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

  return {
    handler,
    process,
    store,
    events,
    async request(target: string) {
      const requestedAt = machine.elapsed()
      const raw = { method: 'GET', target, header: () => null }
      const { status, headers, body } = await handler.answer(raw)
      return {
        target,
        status,
        headers: Object.fromEntries(headers),
        body: await wholeBody(body),
        waited: machine.elapsed() - requestedAt,
      }
    },
  }
}

type Upstream = ReturnType<typeof createUpstream>

const market = marketOf()

/** Payloads by all inputs, shared by a thousand worlds. */
const payloads = new Map<string, string>()

/** Caches a payload for an hour: publications are on the hour. */
function oncePerHour(instant: number, query: string, createPayload: () => string): string {
  const key = `${Math.floor(instant / HOUR)} ${query}`
  const payload = payloads.get(key) ?? createPayload()
  payloads.set(key, payload)
  return payload
}

/** Creates upstreams in the time of `machine`; the relay has no days before `since`. */
function createUpstream(machine: Machine, since: string) {
  function latestText(instant: number): string {
    return oncePerHour(instant, '', () =>
      openErApiPayload({ now: instant, market, overrides: { provider: SECRET } }),
    )
  }

  function historyText(start: string, end: string, instant: number): string {
    return oncePerHour(instant, `${start} ${end} ${since}`, () => {
      const known = { start: start > since ? start : since, end, now: instant, market }
      return frankfurterPayload(known).replace('{', `{"note":"${SECRET}",`)
    })
  }

  const upstream = {
    calls: Array<{ dataSet: DataSet; url: URL; init: RequestInit }>(),
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
      upstream.calls.push({ dataSet, url, init })
      const [start = '', end = ''] = url.pathname.slice('/v1/'.length).split('..')
      const goodAt = (instant: number): string =>
        dataSet === 'latest' ? latestText(instant) : historyText(start, end, instant)
      const now = machine.now()
      const good = goodAt(now)
      const healthy = (): Response => answer(good)
      const { fault } = upstream
      if (fault?.dataSet !== dataSet || !fault.inject) return healthy()
      return fault.inject({
        dataSet,
        url,
        init,
        signal: init.signal ?? new AbortController().signal,
        now,
        good,
        first: goodAt(START),
        older: goodAt(START - DAY),
        after: machine.after,
        healthy,
      })
    },
  }
  return upstream
}

/** Turns of the event loop after which a few chained promises have settled. */
const FEW_TURNS = 10

/** After this number of turns only time can complete a call: Deno reads one chunk of a body per turn. */
const MANY_TURNS = 150

type Machine = ReturnType<typeof createMachine>

/** Creates a machine whose time starts at `start`, ms since the Unix epoch. */
function createMachine(start: number) {
  const loop = createEventLoop()

  async function settle(isDone?: () => boolean): Promise<void> {
    for (let turns = isDone ? MANY_TURNS : FEW_TURNS; turns > 0; turns -= 1) {
      if (isDone?.()) break
      await settled()
    }
  }

  return {
    now: () => start + loop.now(),
    /** Running time of the machine, in ms. */
    elapsed: loop.now,
    after: (delay: number, callback: () => void) => void loop.after(delay, callback),
    startProcess: () => startProcess(loop, 0, createClock(loop, start, 0), { next: () => 0.5 }),
    async advance(duration: number) {
      await settled()
      await loop.run(loop.now() + duration)
    },
    /** Waits for `work` while up to `limit` ms of machine time pass; one call at a time. */
    async drive<T>(work: Promise<T>, limit: number): Promise<T> {
      const until = loop.now() + limit
      let isDone = false
      const done = work.finally(() => {
        isDone = true
      })
      done.catch(() => undefined)
      for (;;) {
        await settle(() => isDone)
        if (isDone) return done
        if (!(await loop.step(until))) throw new Error(`work is still pending after ${limit} ms`)
      }
    },
    /** Runs a few turns of the event loop, or up to 150 turns until `isDone`. */
    settle,
  }
}
