import type { RatesEvent } from '../../../src/events.ts'
import type { DataSet } from '../faults/upstream-fault.ts'
import type { Violate } from '../invariants/violation.ts'
import { createWatches } from '../invariants/watches.ts'
import type { Watches } from '../invariants/watches.ts'
import type { Trace } from '../trace.ts'
import { createClients } from './clients.ts'
import type { Clients } from './clients.ts'
import type { EventLoop } from './event-loop.ts'
import { createFleet } from './fleet.ts'
import type { CreateHandler, Fleet } from './fleet.ts'
import { createLatestFeed } from './latest-feed.ts'
import { scheduleMishaps } from './mishaps.ts'
import { createNemesis } from './nemesis.ts'
import type { Nemesis } from './nemesis.ts'
import type { Random } from './random.ts'
import { createReferenceRates } from './reference-rates.ts'
import type { Settings } from './settings.ts'
import { createSimStore } from './store.ts'
import { createUpstream } from './upstream.ts'
import type { Upstream } from './upstream.ts'

/** All that there is in one simulation. */
export interface World {
  fleet: Fleet
  clients: Clients
  upstream: Upstream
  nemesis: Nemesis
  watches: Watches
}

/** What a world is made from. */
export interface WorldOptions extends Settings {
  loop: EventLoop
  random: Random
  create: CreateHandler
  trace: Trace
  violate: Violate
}

function dataSetOf(key: string): DataSet {
  return key.endsWith('latest') ? 'latest' : 'history'
}

function detailOf(event: RatesEvent): string {
  if (event.type === 'refresh_scheduled') return `${event.dataSet} ${event.at}`
  return 'dataSet' in event ? event.dataSet : ''
}

/** A world in which everything is about to happen. */
export function createWorld(options: WorldOptions): World {
  const { loop, trace } = options
  const part = (name: string): WorldOptions => ({ ...options, random: options.random.fork(name) })
  const nemesis = createNemesis(part('nemesis'))
  const feed = createLatestFeed(part('feed'))
  const referenceRates = createReferenceRates(part('reference rates'))
  const store = createSimStore({
    ...part('store'),
    faultOf: (operation, { host }) => nemesis.storeFault(operation, host),
    onDelivery: (process, key, value) =>
      watches.upstream.onDelivery(process, dataSetOf(key), value),
    onClaim: (process, key, isGranted) =>
      watches.upstream.onClaim(process, dataSetOf(key), isGranted),
  })
  const truth = { feed, referenceRates }
  const watches = createWatches({ ...options, ...truth, simStore: store })
  const upstream = createUpstream({
    ...part('upstream'),
    ...truth,
    nemesis,
    watch: watches.upstream,
    trace: ({ host }, what, detail) => trace.record(loop.now(), host, what, detail),
  })
  const fleet = createFleet({
    ...part('fleet'),
    upstream,
    simStore: store,
    onEvent(process, event) {
      trace.record(loop.now(), process.host, event.type, detailOf(event))
      watches.upstream.onEvent(process, event)
    },
    onStart: (process) => trace.record(loop.now(), process.host, 'starts', ''),
  })
  scheduleMishaps({
    ...part('mishaps'),
    fleet,
    simStore: store,
    nemesis,
    onDrained: watches.bounds.drained,
  })
  const clients = createClients({
    ...part('clients'),
    fleet,
    feed,
    watch: watches.answers,
    bounds: watches.bounds,
    trace: ({ process, question }, { status, body }) =>
      trace.record(loop.now(), process.host, question.target, status, String(body)),
  })
  return { fleet, clients, upstream, nemesis, watches }
}
