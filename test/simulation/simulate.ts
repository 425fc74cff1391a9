import { createHandlerOn, createRatesHandler } from '../../src/handler.ts'
import type { RatesEvent } from '../../src/index.ts'
import { createBank } from '../fixtures/bank.ts'
import { DAY, MINUTE, SECOND } from '../virtual-runtime.ts'
import { Violation, createWatches } from './invariants/watches.ts'
import type { Violate } from './invariants/watches.ts'
import { createBankClients } from './world/bank-clients.ts'
import { createBanks } from './world/banks.ts'
import { createClients } from './world/clients.ts'
import { createFleet, drawSettings } from './world/fleet.ts'
import type { CreateHandler, Scene, Settings } from './world/fleet.ts'
import { createEventLoop } from './world/machine.ts'
import type { EventLoop, Process } from './world/machine.ts'
import { createNemesis, scheduleMishaps } from './world/nemesis.ts'
import { createRandom, hash } from './world/random.ts'
import { createSimStore } from './world/store.ts'
import { createLatestFeed, createReferenceRates } from './world/truth.ts'
import { createUpstream } from './world/upstream.ts'

interface Simulation {
  seed: number
  days: number
  settings?: Partial<Settings>
  plant?: (create: CreateHandler) => CreateHandler
  print?: ((line: string) => void) | undefined
}

export type Report = Awaited<ReturnType<typeof simulate>>

const UNHANDLED = ['unhandledRejection', 'uncaughtException'] as const

/**
 * Runs the real handler in virtual time, and checks the invariants after every event.
 *
 * @throws {Violation} the first one; its message contains the virtual time and the command that reproduces it
 */
export async function simulate(simulation: Simulation) {
  const { seed, days, print, plant = (create) => create } = simulation
  const random = createRandom(`seed ${seed}`)
  const settings = { ...drawSettings(random, days), ...simulation.settings }
  const loop = createEventLoop()
  const trace = createTrace(print)
  const violation = (invariant: string, message: string): Violation => {
    const when = `seed ${seed}, ${toClock(loop.now())}`
    const faults = simulation.settings?.faultNames
    const only = faults ? ` --faults '${faults.source}'` : ''
    const again = `npm run simulate -- --seed ${seed} --days ${days}${only} --trace`
    return new Violation(invariant, `${message} (${when}); to reproduce: ${again}`)
  }
  const violate: Violate = (invariant, message) => loop.fail(violation(invariant, message))
  const onUnhandled = (error: unknown): void => violate('I1', `not handled: ${stackOf(error)}`)
  await loadAll()
  const restore = listenAlone(onUnhandled)
  const { stackTraceLimit } = Error
  // Most simulated requests fail, and stack traces would take most of the time.
  Error.stackTraceLimit = print ? 10 : 0
  try {
    const create = plant(createHandlerOn)
    const world = createWorld({ ...settings, loop, random, create, trace, violate })
    await live(world, loop, settings.duration)
    return {
      digest: trace.digest(),
      events: loop.count(),
      requests: world.clients.count(),
      upstreamCalls: world.upstream.calls(),
      injected: world.nemesis.injected,
    }
  } catch (error) {
    throw error instanceof Violation ? error : violation('I1', `an exception: ${stackOf(error)}`)
  } finally {
    Error.stackTraceLimit = stackTraceLimit
    restore()
  }
}

/** Loads the modules that a handler imports lazily: virtual time does not wait for an `import()`. */
async function loadAll(): Promise<void> {
  const now = (): number => Date.UTC(2026, 0, 3)
  const history = createBank({ codes: ['USD'], now })
  const handler = createRatesHandler({ providers: { history }, now })
  for (const path of ['status', 'history?from=EUR&to=USD', 'latest?base=EUR&date=2026-01-02']) {
    await handler.answer({ method: 'GET', target: `/api/v1/${path}`, header: () => null })
  }
  await handler.rates.convertMany([{ from: 'EUR', to: 'USD', date: '2026-01-02' }])
  handler.close()
}

/** Replaces all listeners for unhandled failures until the returned function is called. */
function listenAlone(listener: (error: unknown) => void): () => void {
  const rejected = process.listeners('unhandledRejection')
  const thrown = process.listeners('uncaughtException')
  for (const event of UNHANDLED) process.removeAllListeners(event).on(event, listener)
  return () => {
    for (const event of UNHANDLED) process.removeAllListeners(event)
    for (const each of rejected) process.on('unhandledRejection', each)
    for (const each of thrown) process.on('uncaughtException', each)
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? String(error.stack) : String(error)
}

function detailOf(event: RatesEvent): string {
  if (event.type === 'refresh_scheduled') return `${event.dataSet} ${event.at}`
  return 'dataSet' in event ? event.dataSet : ''
}

function createWorld(scene: Scene) {
  const { loop, trace } = scene
  const part = (name: string): Scene => ({ ...scene, random: scene.random.fork(name) })
  const nemesis = createNemesis(part('nemesis'))
  const truth = {
    feed: createLatestFeed(part('feed')),
    referenceRates: createReferenceRates(part('reference rates')),
  }
  const banks = createBanks(part('banks'), nemesis.note)
  const simStore = createSimStore(part('store'), nemesis, () => watches.upstream)
  const watches = createWatches({ ...scene, ...truth }, simStore)
  const upstream = createUpstream(
    { ...part('upstream'), ...truth },
    nemesis,
    watches.upstream,
    banks,
  )
  const fleet = createFleet(part('fleet'), {
    upstream,
    banks,
    simStore,
    onEvent(process, event) {
      trace.record(loop.now(), process.host, event.type, detailOf(event))
      const isOfBank = 'provider' in event && banks.named(event.provider) !== undefined
      if (!isOfBank) watches.upstream.onEvent(process, event)
    },
  })
  scheduleMishaps(part('mishaps'), { fleet, simStore, nemesis, onDrained: watches.bounds.drained })
  const clients = createClients({ ...part('clients'), ...truth }, fleet, watches)
  createBankClients(part('bank clients'), { banks, fleet, simStore }, clients, watches.responses)
  return { fleet, clients, upstream, nemesis, watches }
}

async function live(world: ReturnType<typeof createWorld>, loop: EventLoop, duration: number) {
  const { fleet, clients, watches } = world
  const processes = (): Process[] => fleet.servers.flatMap((server) => server?.process ?? [])
  const sweep = (): void => {
    watches.sweep(processes(), clients.pending())
    loop.after(10 * MINUTE, sweep)
  }
  sweep()
  // The first request may find a refresh due, the second one the lease of another process, the third one its result.
  for (const before of [5, 3, 1]) loop.after(duration - before * MINUTE, clients.sendToAll)
  loop.after(duration, () => {
    watches.end(processes())
    fleet.close()
  })
  loop.after(duration + 3 * SECOND, () => processes().forEach(watches.bounds.drained))
  await loop.run(duration + 4 * SECOND)
}

/** Reduces all events to a digest, which is the same for two runs of one seed. */
export type Trace = ReturnType<typeof createTrace>

function createTrace(print?: (line: string) => void) {
  const names = new Map<string, number>()
  let state = 0x9e3779b9

  function mix(value: number): void {
    state = Math.imul(state ^ value, 0x01000193)
    state ^= state >>> 15
  }

  function nameOf(text: string): number {
    let name = names.get(text)
    if (name === undefined) names.set(text, (name = hash(text)))
    return name
  }

  return {
    /** Records that `what` happened to process `who` at `time` (ms of virtual time). `unseen` is not printed. */
    record(time: number, who: number, what: string, detail: string | number, unseen?: string) {
      mix(Math.floor(time * 16))
      mix(Math.floor(time / 65_536))
      mix(who)
      mix(nameOf(what))
      mix(typeof detail === 'number' ? detail : nameOf(detail))
      if (unseen !== undefined) mix(hash(unseen))
      print?.(`${toClock(time)} process ${who} ${what} ${detail}`)
    },
    digest: () => (state >>> 0).toString(16).padStart(8, '0'),
  }
}

function toClock(time: number): string {
  const day = Math.floor(time / DAY)
  return `day ${day} ${new Date(time - day * DAY).toISOString().slice(11, 23)}`
}
