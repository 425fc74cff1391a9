import type { createHandlerOn } from '../../../src/handler.ts'
import { createExchangeRateApiProvider, createFrankfurterProvider } from '../../../src/index.ts'
import type {
  CacheStore,
  HistoryProvider,
  LatestProvider,
  RatesEvent,
  RatesHandler,
  RatesHandlerOptions,
} from '../../../src/index.ts'
import { SECRET } from '../faults/upstream-fault.ts'
import type { Violate } from '../invariants/violation.ts'
import { createClock } from './clock.ts'
import type { Clock } from './clock.ts'
import type { EventLoop } from './event-loop.ts'
import { startProcess } from './process.ts'
import type { Process } from './process.ts'
import type { Random } from './random.ts'
import type { Settings } from './settings.ts'
import type { SimStore } from './store.ts'
import type { Upstream } from './upstream.ts'

/** What a handler runs on. */
export type Runtime = ReturnType<Parameters<typeof createHandlerOn>[0]>

/** All that a handler is made from. */
export interface HandlerParts extends RatesHandlerOptions {
  providers: { latest: LatestProvider; history: HistoryProvider }
  store: CacheStore | undefined
  fetch: typeof fetch
  now(): number
  onEvent(event: RatesEvent): void
}

/** Makes the handler that is tried. */
export type CreateHandler = (
  createRuntime: (now: () => number) => Runtime,
  parts: HandlerParts,
) => RatesHandler

/** A process and the handler that runs in it. */
export interface Server {
  process: Process
  handler: RatesHandler
}

/** The hosts, on each of which one server runs, most of the time. */
export interface Fleet {
  /** The server on each host, or `undefined` while there is none. */
  readonly servers: readonly (Server | undefined)[]
  readonly clocks: readonly Clock[]
  /** Starts a server with nothing in its memory; one that runs there is killed. */
  start(host: number): Server
  /** Ends what runs on `host` at once. */
  kill(host: number): void
  /** Lets no more requests come to the server on `host`. */
  detach(host: number): void
  /** Ends all servers in good order. */
  close(): void
  /** Sets a clock that has been set right again, as far as clocks are. */
  mend(host: number): void
}

/** What a fleet is made from. */
export interface FleetOptions extends Settings {
  loop: EventLoop
  random: Random
  create: CreateHandler
  upstream: Upstream
  simStore: SimStore
  onEvent(process: Process, event: RatesEvent): void
  onStart(process: Process): void
  violate: Violate
}

/** A fleet without any server yet. */
export function createFleet(options: FleetOptions): Fleet {
  const { loop, random, hosts, skew, startsAt, onStart } = options
  const servers: (Server | undefined)[] = Array.from({ length: hosts })
  const offset = (): number => random.between(-skew, skew)
  const clocks = servers.map(() => createClock(loop, startsAt, offset()))
  let lives = 0

  function start(host: number): Server {
    servers[host]?.process.kill()
    const clock = clocks[host]
    if (!clock) throw new Error(`there is no host ${host}`)
    const life = random.fork(`life ${(lives += 1)}`)
    const process = startProcess(loop, host, clock, life)
    const server = { process, handler: createHandler(options, process) }
    servers[host] = server
    onStart(process)
    return server
  }

  function detach(host: number): void {
    servers[host] = undefined
  }

  return {
    servers,
    clocks,
    start,
    kill(host) {
      servers[host]?.process.kill()
      detach(host)
    },
    detach,
    close() {
      for (const server of servers) {
        if (server) close(server)
      }
    },
    mend(host) {
      const clock = clocks[host]
      if (clock && Math.abs(clock.ahead()) > skew) clock.set(offset())
    },
  }
}

/** Ends a server in good order: its process goes on, but its handler asks nobody any more. */
export function close({ process, handler }: Server): void {
  process.isClosed = true
  handler.close()
}

function createHandler(options: FleetOptions, process: Process): RatesHandler {
  const { create, upstream, simStore, onEvent, violate } = options
  const { maxStale, hasWaitUntil, hookThrows } = options
  const onRejection = (): void => violate('I1', 'a promise given to waitUntil rejects')
  return create((now) => process.runtime(now), {
    providers: {
      latest: createExchangeRateApiProvider({ url: `https://open.er-api.com/${SECRET}` }),
      history: createFrankfurterProvider({ url: `https://api.frankfurter.dev/${SECRET}` }),
    },
    maxStale,
    store: simStore.clientFor(process),
    fetch: upstream.fetchFor(process),
    now: process.clock.now,
    waitUntil: hasWaitUntil ? (work) => void work.catch(onRejection) : undefined,
    onEvent(event) {
      onEvent(process, event)
      if (hookThrows) throw new Error(SECRET)
    },
  })
}
