import type { CacheStore } from '../../../src/cache/store.ts'
import type { RatesEvent } from '../../../src/events.ts'
import type { DailyDataSet as DataSet } from '../../daily-data-set.ts'
import { createHandlerOn } from '../../../src/handler.ts'
import type { RatesHandler } from '../../../src/handler.ts'
import { createExchangeRateApiProvider } from '../../../src/providers/exchange-rate-api.ts'
import { createFrankfurterProvider } from '../../../src/providers/frankfurter.ts'
import type { HistoryDays } from '../../../src/providers/provider.ts'
import { createMachine } from './machine.ts'
import type { Machine, Process } from './machine.ts'
import { createUpstream } from './upstream.ts'
import type { Upstream } from './upstream.ts'

const DAY = 86_400_000

/** A Friday evening, after both publications, ms since the Unix epoch. */
export const START = Date.UTC(2026, 10, 20, 18)

/** What a store does instead of its work while something is wrong with it. */
export interface StoreFault {
  get?(machine: Machine): unknown
  set?(machine: Machine): unknown
  /** Makes it a store with claims. */
  claim?(machine: Machine): Promise<boolean>
}

/** A store that remembers what was asked of it. */
interface WatchedStore extends CacheStore {
  entries: Map<string, string>
  /** `at` is the time that the machine had been running, in ms. */
  operations: { operation: 'get' | 'set'; key: string; at: number; expiresAt?: number }[]
  fault: StoreFault | undefined
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
  /** `at` is the time that the machine had been running, in ms. */
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
  const store: WatchedStore = {
    entries: new Map(),
    operations: [],
    fault: undefined,
    get(key) {
      store.operations.push({ operation: 'get', key, at: machine.elapsed() })
      return store.fault?.get ? store.fault.get(machine) : store.entries.get(key)
    },
    set(key, value, expiresAt) {
      store.operations.push({ operation: 'set', key, at: machine.elapsed(), expiresAt })
      return store.fault?.set ? store.fault.set(machine) : void store.entries.set(key, value)
    },
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
