import { createHandlerOn } from '../../src/handler.ts'
import { createExchangeRateApiProvider, createFrankfurterProvider } from '../../src/index.ts'
import type { CacheStore, HistoryDays, RatesEvent, RatesHandler } from '../../src/index.ts'
import { createSyntheticMarket } from '../../src/testing/synthetic-market.ts'
import { SECRET, answer } from '../faults/fault.ts'
import type { DataSet, HistoryBody, Inject, LatestBody } from '../faults/fault.ts'
import type { StoreFault, StoreOperation } from '../faults/store.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'

const DAY = 86_400_000

/** A Friday evening, after both publications, ms since the Unix epoch. */
export const START = Date.UTC(2026, 10, 20, 18)

/** A store that remembers what was asked of it. */
interface WatchedStore extends CacheStore {
  entries: Map<string, string>
  /** `at` is how long the machine has been running, in ms. */
  operations: { operation: 'get' | 'set'; key: string; at: number; expiresAt?: number }[]
  fault: StoreFault | undefined
  operationOn(key: string, work: () => unknown): StoreOperation
}

/** An answer to somebody. */
export interface Reply {
  target: string
  status: number
  headers: Record<string, string>
  body: string
  /** How long it was waited for, in ms. */
  waited: number
}

/** One process that serves rates. */
export interface Service {
  handler: RatesHandler
  process: Process
  store: WatchedStore
  /** `at` is how long the machine has been running, in ms. */
  events: { at: number; event: RatesEvent }[]
  /** What its providers do instead of asking upstream. */
  misbehaviour: { dataSet: DataSet; call(): Promise<never> } | undefined
  /** What its history provider makes of the upstream's answer. */
  retell: ((answer: HistoryDays) => HistoryDays) | undefined
  /** Asks one question; `leaving` ends the waiting for its answer. */
  ask(target: string, leaving?: AbortController): Promise<Reply>
  /** How many listeners are left on the signals of those who asked. */
  listeners(): number
}

/** What a world is made from; all of it may be left out. */
export interface WorldOptions {
  /** The true time when it begins, ms since the Unix epoch (default `START`). */
  start?: number | undefined
  /** One for each process: how wrong its clock is, in ms, and whether it shares the store (default one, which does). */
  processes?: { clockError?: number; isApart?: boolean }[] | undefined
  waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** The outside world with the processes in it. */
export interface World {
  machine: Machine
  upstream: Upstream
  services: readonly Service[]
  /** The only service, or the first. */
  service: Service
  /** How often providers of `dataSet` were asked, by all services. */
  attempts(dataSet: DataSet): number
  /** Waits until no provider is being asked, or only time can bring its answer. */
  settle(): Promise<void>
}

/** A world in which nothing is wrong yet. */
export function createWorld(options: WorldOptions = {}): World {
  const { start = START, processes = [{}], waitUntil } = options
  const machine = createMachine(start)
  // The windows that are asked for have a month.
  const since = new Date(start - 38 * DAY).toISOString().slice(0, 10)
  const upstream = createUpstream(machine, since)
  const shared = createWatchedStore(machine)
  const services = processes.map(({ clockError, isApart }) =>
    createService(machine, upstream, {
      store: isApart ? createWatchedStore(machine) : shared,
      clockError,
      waitUntil,
    }),
  )
  const [service] = services
  if (!service) throw new Error('a world needs a process')

  function count(dataSet: DataSet | undefined, types: RatesEvent['type'][]): number {
    const events = services.flatMap((each) => each.events)
    return events.filter(
      ({ event }) =>
        types.includes(event.type) &&
        (dataSet === undefined || ('dataSet' in event && event.dataSet === dataSet)) &&
        !('origin' in event && event.origin === 'store'),
    ).length
  }

  function isIdle(): boolean {
    const outcomes = count(undefined, ['upstream_answered', 'upstream_failed', 'rates_rejected'])
    return outcomes === count(undefined, ['upstream_asked'])
  }

  return {
    machine,
    upstream,
    services,
    service,
    attempts: (dataSet) => count(dataSet, ['upstream_asked']),
    async settle() {
      // A refresh looks into the store before it asks.
      await machine.settle()
      await machine.settle(isIdle)
      await machine.settle()
    },
  }
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
    return fault ? fault(operationOn(key, work)) : work()
  }

  /** Of a store in this process; what it held before is not kept. */
  function operationOn(key: string, work: () => unknown): StoreOperation {
    return {
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
    }
  }

  const store: WatchedStore = {
    entries,
    operations: [],
    fault: undefined,
    operationOn,
    get: (key) => operate('get', { key }, () => entries.get(key)),
    set: (key, value, expiresAt) =>
      operate('set', { key, expiresAt }, () => void entries.set(key, value)),
  }
  return store
}

function createService(
  machine: Machine,
  upstream: Upstream,
  options: {
    store: WatchedStore
    clockError: number | undefined
    waitUntil: WorldOptions['waitUntil']
  },
): Service {
  const { store, waitUntil } = options
  const process = machine.startProcess(options.clockError)
  const events: Service['events'] = []
  const listeners = new Set<unknown>()
  const latest = createExchangeRateApiProvider()
  const history = createFrankfurterProvider()

  function instead(dataSet: DataSet): Promise<never> | undefined {
    const { misbehaviour } = service
    return misbehaviour?.dataSet === dataSet ? misbehaviour.call() : undefined
  }

  const handler = createHandlerOn(() => process, {
    now: process.now,
    fetch: upstream.fetch,
    store,
    waitUntil,
    onEvent: (event) => events.push({ at: machine.elapsed(), event }),
    providers: {
      latest: {
        ...latest,
        fetchLatest: (context) => instead('latest') ?? latest.fetchLatest(context),
      },
      history: {
        ...history,
        async fetchHistory(range, context) {
          const answer = await (instead('history') ?? history.fetchHistory(range, context))
          return service.retell?.(answer) ?? answer
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

  const service: Service = {
    handler,
    process,
    store,
    events,
    misbehaviour: undefined,
    retell: undefined,
    listeners: () => listeners.size,
    async ask(target, { signal } = new AbortController()) {
      watchListeners(signal)
      const askedAt = machine.elapsed()
      const { status, headers, body } = await handler.answer({
        method: 'GET',
        target,
        header: () => null,
        signal,
      })
      const waited = machine.elapsed() - askedAt
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body ?? undefined)
      return { target, status, headers: Object.fromEntries(headers), body: text, waited }
    },
  }
  return service
}

/** Both upstreams, as `fetch` reaches them. */
interface Upstream {
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
function createUpstream(machine: Machine, since: string): Upstream {
  function latestText(instant: number): string {
    return once(`${hourOf(instant)}`, () =>
      openErApiPayload({ now: instant, market, overrides: { provider: SECRET } }),
    )
  }

  function historyText(start: string, end: string, instant: number): string {
    return once(`${start} ${end} ${since} ${hourOf(instant)}`, () => {
      const known = { start: start > since ? start : since, end, now: instant, market }
      return frankfurterPayload(known).replace('{', `{"note":"${SECRET}",`)
    })
  }

  const upstream: Upstream = {
    async fetch(input, init = {}) {
      const url = new URL(input instanceof Request ? input.url : input)
      const dataSet = url.pathname.startsWith('/v6/') ? 'latest' : 'history'
      upstream.calls.push({ dataSet, url, init })
      const [start = '', end = ''] = url.pathname.slice('/v1/'.length).split('..')
      const goodAt = (instant: number): string =>
        dataSet === 'latest' ? latestText(instant) : historyText(start, end, instant)
      const good = goodAt(machine.now())
      const { fault } = upstream
      const healthy = (): Response => answer(good)
      if (fault?.dataSet !== dataSet) return healthy()
      const signal = init.signal ?? new AbortController().signal
      return fault.inject({
        dataSet,
        url,
        init,
        signal,
        now: machine.now(),
        good,
        first: goodAt(START),
        older: goodAt(START - DAY),
        after: (delay, callback) => void machine.after(delay, callback),
        healthy,
      })
    },
    calls: [],
    fault: undefined,
    latest: (instant) => JSON.parse(latestText(instant)),
    history: (start, end, instant) => JSON.parse(historyText(start, end, instant)),
  }
  return upstream
}

/** Turns of the event loop after which a few chained promises have settled. */
const FEW_TURNS = 10

/** So many without an answer mean that only time can bring one: Deno reads a chunk of a body a turn. */
const MANY_TURNS = 150

/** What one process runs on. */
type Runtime = ReturnType<Parameters<typeof createHandlerOn>[0]>

/** Time for the outside world and any number of processes in it. It passes only on request. */
interface Machine {
  /** The true time, ms since the Unix epoch. */
  now(): number
  /** How long the machine has been running, in ms. */
  elapsed(): number
  /** Calls `callback` in `delay` ms of the outside world; the function returned prevents it. */
  after(delay: number, callback: () => void): () => void
  /** A process whose clock is wrong by `clockError` ms. */
  startProcess(clockError?: number): Process
  /** Lets `duration` ms pass, firing the timers that fall due in their order. */
  advance(duration: number): Promise<void>
  /** Waits for `work`, letting up to `limit` ms pass; one at a time. */
  drive<T>(work: Promise<T>, limit: number): Promise<T>
  /** Lets go on what waits for nothing but promises: for a few turns of the loop, or for as many as it takes until `isDone`. */
  settle(isDone?: () => boolean): Promise<void>
  close(): void
}

/** What one process sees of the machine. */
interface Process extends Runtime {
  /** Sets its clock so much ahead of the true time, in ms; behind where negative. */
  setClockError(error: number): void
  /** Stops it, as a host does with a process that has answered: no timer fires until `thaw`. */
  freeze(): void
  thaw(): void
  /** How many of its timers are waiting. */
  timers(): number
}

/** A machine whose time starts at `start`, ms since the Unix epoch. */
function createMachine(start: number): Machine {
  const channel = new MessageChannel()
  const waiting: (() => void)[] = []
  const timers = new Set<{ at: number; callback: () => void }>()
  let elapsed = 0
  channel.port2.addEventListener('message', () => waiting.shift()?.())
  channel.port2.start()

  /** One turn of the real loop, quicker than a timer. */
  function turn(): Promise<void> {
    return new Promise((resolve) => {
      waiting.push(resolve)
      channel.port1.postMessage(null)
    })
  }

  function after(delay: number, callback: () => void): () => void {
    const timer = { at: elapsed + delay, callback }
    timers.add(timer)
    return () => timers.delete(timer)
  }

  async function settle(isDone?: () => boolean): Promise<void> {
    for (let turns = isDone ? MANY_TURNS : FEW_TURNS; turns > 0; turns -= 1) {
      if (isDone?.()) break
      await turn()
    }
  }

  /** Fires the timers of the next instant that has some, if that is not after `until`. */
  async function fireNext(until: number): Promise<boolean> {
    const next = Math.min(...[...timers].map(({ at }) => at))
    if (next > until) return false
    elapsed = Math.max(elapsed, next)
    for (const timer of [...timers].filter(({ at }) => at <= next)) {
      // An earlier one may have prevented it.
      if (!timers.delete(timer)) continue
      timer.callback()
      await turn()
    }
    return true
  }

  return {
    now: () => start + elapsed,
    elapsed: () => elapsed,
    after,
    startProcess: (clockError = 0) => createProcess(start, () => elapsed, after, clockError),
    async advance(duration) {
      const until = elapsed + duration
      await turn()
      while (await fireNext(until)) await turn()
      elapsed = until
      await turn()
    },
    async drive(work, limit) {
      const until = elapsed + limit
      let isDone = false
      const done = work.finally(() => {
        isDone = true
      })
      done.catch(() => undefined)
      for (;;) {
        await settle(() => isDone)
        if (isDone) return done
        if (!(await fireNext(until))) throw new Error(`nothing came of it within ${limit} ms`)
      }
    },
    settle,
    close() {
      channel.port1.close()
      channel.port2.close()
    },
  }
}

function createProcess(
  start: number,
  elapsed: () => number,
  after: Machine['after'],
  clockError: number,
): Process {
  const pending = new Set<() => void>()
  const overdue: (() => void)[] = []
  let ahead = clockError
  let isFrozen = false
  return {
    now: () => start + elapsed() + ahead,
    monotonic: elapsed,
    random: () => 0.5,
    startTimer(callback, delay) {
      const fire = (): void => {
        if (isFrozen) overdue.push(fire)
        else if (pending.delete(fire)) callback()
      }
      pending.add(fire)
      const stop = after(delay, fire)
      return () => {
        stop()
        pending.delete(fire)
      }
    },
    setClockError(error) {
      ahead = error
    },
    freeze() {
      isFrozen = true
    },
    thaw() {
      isFrozen = false
      for (const fire of overdue.splice(0)) fire()
    },
    timers: () => pending.size,
  }
}
