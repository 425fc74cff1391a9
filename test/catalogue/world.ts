import { createHandlerOn } from '../../src/handler.ts'
import { createExchangeRateApiProvider, createFrankfurterProvider } from '../../src/index.ts'
import type { CacheStore, RatesEvent } from '../../src/index.ts'
import { createSyntheticMarket } from '../../src/testing/synthetic-market.ts'
import { SECRET, answer } from '../faults/fault.ts'
import type { DataSet, Fault, HistoryBody, LatestBody } from '../faults/fault.ts'
import type { StoreFault, StoreOperation } from '../faults/store.ts'
import { toDay } from '../fixtures/dates.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { createClock, createEventLoop, startProcess } from '../simulation/world/machine.ts'
import { DAY, HOUR, settled } from '../virtual-runtime.ts'

/** A Friday evening, after both publications, ms since the Unix epoch. */
export const START = Date.UTC(2026, 10, 20, 18)

/** What a world is made from; all of it may be left out. */
export interface WorldOptions {
  /** The true time when it begins, ms since the Unix epoch (default `START`). */
  start?: number | undefined
  /** One for each process: how wrong its clock is, in ms, and whether it shares the store (default one, which does). */
  processes?: { clockError?: number; isApart?: boolean }[] | undefined
  waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

export type World = ReturnType<typeof createWorld>

export function createWorld(options: WorldOptions = {}) {
  const { start = START, processes = [{}], waitUntil } = options
  const machine = createMachine(start)
  // The windows that are asked for have a month.
  const upstream = createUpstream(machine, toDay(start - 38 * DAY))
  const shared = createWatchedStore(machine)
  const services = processes.map(({ clockError = 0, isApart }) =>
    createService(machine, upstream, {
      store: isApart ? createWatchedStore(machine) : shared,
      clockError,
      waitUntil,
    }),
  )
  const [service] = services
  if (!service) throw new Error('a world needs a process')

  function count(dataSet: DataSet | undefined, ...types: RatesEvent['type'][]): number {
    const events = services.flatMap((each) => each.events)
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
    machine,
    upstream,
    services,
    /** The only service, or the first. */
    service,
    /** How often the providers of each data set were asked, by all services. */
    attempts: (): Record<DataSet, number> => ({
      latest: count('latest', 'upstream_request'),
      history: count('history', 'upstream_request'),
    }),
    /** Waits until no provider is being asked, or only time can bring its answer. */
    async settle() {
      // A refresh looks into the store before it asks.
      await machine.settle()
      await machine.settle(isIdle)
      await machine.settle()
    },
  }
}

/** A store that remembers what was asked of it. */
interface WatchedStore extends CacheStore {
  entries: Map<string, string>
  /** `at` is how long the machine has been running, in ms. */
  operations: { operation: 'get' | 'set'; key: string; at: number; expiresAt?: number }[]
  fault: StoreFault | undefined
  operationOn(key: string, work: () => unknown): StoreOperation
}

function createWatchedStore(machine: Machine): WatchedStore {
  const entries = new Map<string, string>()

  function operate(
    operation: 'get' | 'set',
    { key, ...more }: { key: string; expiresAt?: number },
    work: () => unknown,
  ): unknown {
    store.operations.push({ operation, key, at: machine.elapsed(), ...more })
    const fault = store.fault?.[operation]
    return fault ? fault(store.operationOn(key, work)) : work()
  }

  const store: WatchedStore = {
    entries,
    operations: [],
    fault: undefined,
    // Of a store in this process; what it held before is not kept.
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
    get: (key) => operate('get', { key }, () => entries.get(key)),
    set: (key, value, expiresAt) =>
      operate('set', { key, expiresAt }, () => void entries.set(key, value)),
  }
  return store
}

export type Reply = Awaited<ReturnType<World['service']['ask']>>

function createService(
  machine: Machine,
  upstream: Upstream,
  {
    store,
    clockError,
    waitUntil,
  }: { store: WatchedStore; clockError: number } & Pick<WorldOptions, 'waitUntil'>,
) {
  const process = machine.startProcess(clockError)
  /** `at` is how long the machine has been running, in ms. */
  const events: { at: number; event: RatesEvent }[] = []
  const listeners = new Set<unknown>()
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
    waitUntil,
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

  function watchListeners(signal: AbortSignal): void {
    const { addEventListener, removeEventListener } = signal
    signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
      listeners.add(args[1])
      addEventListener.apply(signal, args)
    }
    signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
      listeners.delete(args[1])
      removeEventListener.apply(signal, args)
    }
  }

  return {
    handler,
    process,
    store,
    events,
    /** How many listeners are left on the signals of the clients. */
    listeners: () => listeners.size,
    /** Requests `target`; `leaving` ends the waiting for the answer. */
    async ask(target: string, { signal } = new AbortController()) {
      watchListeners(signal)
      const askedAt = machine.elapsed()
      const request = { method: 'GET', target, header: () => null, signal }
      const { status, headers, body } = await handler.answer(request)
      return {
        target,
        status,
        headers: Object.fromEntries(headers),
        body: typeof body === 'string' ? body : new TextDecoder().decode(body ?? undefined),
        /** In ms. */
        waited: machine.elapsed() - askedAt,
      }
    },
  }
}

type Upstream = ReturnType<typeof createUpstream>

const market = createSyntheticMarket(1)

/** The payloads so far, by what they depend on: a thousand worlds ask for the same. */
const payloads = new Map<string, string>()

/** Nothing is published but at the full hour. */
function oncePerHour(instant: number, query: string, createPayload: () => string): string {
  const key = `${Math.floor(instant / HOUR)} ${query}`
  const payload = payloads.get(key) ?? createPayload()
  payloads.set(key, payload)
  return payload
}

/** Upstreams that live by the time of `machine`; the relay knows nothing before the day `since`. */
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
    /** What is wrong with the upstream of `dataSet`, or with its provider, now. */
    fault: undefined as (Partial<Fault> & { dataSet: DataSet }) | undefined,
    latest: (instant: number): LatestBody => JSON.parse(latestText(instant)),
    history: (end: string, instant: number): HistoryBody =>
      JSON.parse(historyText('2000-01-01', end, instant)),
    async fetch(input: string | URL | Request, init: RequestInit = {}): Promise<Response> {
      const url = new URL(input instanceof Request ? input.url : input)
      const dataSet = url.pathname.startsWith('/v6/') ? 'latest' : 'history'
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

/** So many without an answer mean that only time can bring one: Deno reads a chunk of a body a turn. */
const MANY_TURNS = 150

/** Time for the outside world and any number of processes in it. It passes only on request. */
type Machine = ReturnType<typeof createMachine>

/** A machine whose time starts at `start`, ms since the Unix epoch. */
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
    /** How long the machine has been running, in ms. */
    elapsed: loop.now,
    after: (delay: number, callback: () => void) => void loop.after(delay, callback),
    startProcess: (clockError: number) =>
      startProcess(loop, 0, createClock(loop, start, clockError), { next: () => 0.5 }),
    async advance(duration: number) {
      await settled()
      await loop.run(loop.now() + duration)
    },
    /** Waits for `work`, letting up to `limit` ms pass; one at a time. */
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
        if (!(await loop.step(until))) throw new Error(`nothing came of it within ${limit} ms`)
      }
    },
    /** Lets go on what waits for nothing but promises: for a few turns of the loop, or for as many as it takes until `isDone`. */
    settle,
  }
}
