import type { Runtime } from '../../../src/async.ts'
import { createExchangeRateApiProvider, createFrankfurterProvider } from '../../../src/index.ts'
import type {
  CacheStore,
  HistoryProvider,
  LatestProvider,
  RatesEvent,
  RatesHandler,
  RatesHandlerOptions,
} from '../../../src/index.ts'
import { SECRET } from '../../faults/fault.ts'
import { DAY, HOUR, MINUTE } from '../../virtual-runtime.ts'
import type { Violate } from '../invariants/watches.ts'
import type { Trace } from '../simulate.ts'
import { BANK_FORMS } from './banks.ts'
import type { Banks } from './banks.ts'
import { createClock, startProcess } from './machine.ts'
import type { EventLoop, Process } from './machine.ts'
import type { Random } from './random.ts'
import type { SimStore, StoreKind } from './store.ts'
import type { Upstream } from './upstream.ts'

// Loaded before time is virtual.
await import('../../../src/providers/ecb/failover.ts')
await import('../../../src/upstream/sanity-checks.ts')

/** The end of every simulation, without faults: long enough for a refresh that is delayed by a day. In ms. */
const TAIL = 27 * HOUR

export type Settings = ReturnType<typeof drawSettings>

/** Draws the settings of a seed from `random`, for `days` virtual days. Durations in ms. */
export function drawSettings(random: Random, days: number) {
  const duration = days * DAY
  const store = random.pick<StoreKind>(['none', 'map', 'remote', 'remote'])
  const isCalm = random.chance(0.05)
  return {
    hosts: random.pick([1, 1, 1, 2, 2, 3, 3, 4, 5, 8]),
    startsAt: Date.UTC(2026, 0, 1) + random.whole(0, 5 * 365) * DAY + random.whole(0, DAY),
    duration,
    calmFrom: isCalm ? 0 : Math.max(0, duration - TAIL),
    faultShare: isCalm ? 0 : random.pick([0.05, 0.15, 0.4, 1]),
    faultNames: /^/,
    mishapEvery: random.chance(0.4) ? Infinity : random.magnitude(12 * HOUR, 10 * DAY),
    skew: random.pick([20, 2_000, 10 * MINUTE]),
    store,
    hasClaims: store !== 'none' && random.chance(0.8),
    maxStale: {
      latest: random.pick([HOUR, DAY, 7 * DAY, 7 * DAY]),
      history: random.pick([DAY, 14 * DAY, 14 * DAY]),
    },
    requests: random.magnitude(80, 400),
    historyDays: random.chance(0.03) ? 5 * 366 + 30 : random.whole(20, 120),
    lateShare: isCalm ? 0 : random.pick([0, 0.05, 0.3]),
    holeShare: random.pick([0, 0.03]),
    hasWaitUntil: random.chance(0.5),
    hookThrows: random.chance(0.1),
    devaluedShare: random.pick([0, 0.03, 0.1]),
    banks: Array.from({ length: random.pick([0, 0, 1, 1, 2]) }, () => random.pick(BANK_FORMS)),
  }
}

export interface Scene extends Settings {
  loop: EventLoop
  random: Random
  create: CreateHandler
  trace: Trace
  violate: Violate
}

export interface HandlerParts extends RatesHandlerOptions {
  /** The first provider of history has the rates of the European Central Bank, the others those of banks. */
  providers: { latest: LatestProvider; history: [HistoryProvider, ...HistoryProvider[]] }
  store: CacheStore | undefined
  fetch: typeof fetch
  now(): number
  onEvent(event: RatesEvent): void
}

export type CreateHandler = (
  createRuntime: (now: () => number) => Runtime,
  parts: HandlerParts,
) => RatesHandler

export type Server = { process: Process; handler: RatesHandler }

interface Surroundings {
  upstream: Upstream
  banks: Banks
  simStore: SimStore
  onEvent(process: Process, event: RatesEvent): void
}

export type Fleet = ReturnType<typeof createFleet>

export function createFleet(scene: Scene, surroundings: Surroundings) {
  const { loop, random, hosts, skew, startsAt, trace } = scene
  const servers: (Server | undefined)[] = Array.from({ length: hosts })
  const offset = (): number => random.between(-skew, skew)
  const clocks = servers.map(() => createClock(loop, startsAt, offset()))
  let lives = 0

  function start(host: number): void {
    servers[host]?.process.kill()
    const clock = clocks[host]
    if (!clock) throw new Error(`unknown host ${host}`)
    const process = startProcess(loop, host, clock, random.fork(`life ${(lives += 1)}`))
    servers[host] = { process, handler: createHandler(scene, surroundings, process) }
    trace.record(loop.now(), host, 'starts', '')
  }

  return {
    servers,
    clocks,
    start,
    kill(host: number) {
      servers[host]?.process.kill()
      servers[host] = undefined
    },
    close: () => servers.forEach((server) => server && close(server)),
    mend(host: number) {
      const clock = clocks[host]
      if (clock && Math.abs(clock.ahead()) > skew) clock.set(offset())
    },
  }
}

/** Closes a server gracefully: its process continues, but its handler makes no upstream calls any more. */
export function close({ process, handler }: Server): void {
  process.isClosed = true
  handler.close()
}

function createHandler(
  { create, violate, maxStale, hasWaitUntil, hookThrows }: Scene,
  { upstream, banks, simStore, onEvent }: Surroundings,
  process: Process,
): RatesHandler {
  const onRejection = (): void => violate('I1', 'a promise given to waitUntil rejects')
  return create((now) => process.runtime(now), {
    providers: {
      latest: createExchangeRateApiProvider({ url: `https://open.er-api.com/${SECRET}` }),
      history: [
        createFrankfurterProvider({ url: `https://api.frankfurter.dev/${SECRET}` }),
        ...banks.providers(),
      ],
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
