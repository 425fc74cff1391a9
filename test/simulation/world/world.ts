import type { DataSet } from '../../faults/fault.ts'
import type { RatesEvent } from '../../../src/index.ts'
import { createWatches } from '../invariants/watches.ts'
import type { Watches } from '../invariants/watches.ts'
import { createClients } from './clients.ts'
import type { Clients } from './clients.ts'
import { createFleet } from './fleet.ts'
import type { Fleet, Scene } from './fleet.ts'
import { createNemesis, scheduleMishaps } from './nemesis.ts'
import type { Nemesis } from './nemesis.ts'
import { createSimStore } from './store.ts'
import { createLatestFeed, createReferenceRates } from './truth.ts'
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

function dataSetOf(key: string): DataSet {
  return key.endsWith('latest') ? 'latest' : 'history'
}

function detailOf(event: RatesEvent): string {
  if (event.type === 'refresh_scheduled') return `${event.dataSet} ${event.at}`
  return 'dataSet' in event ? event.dataSet : ''
}

/** A world in which everything is about to happen. */
export function createWorld(scene: Scene): World {
  const { loop, trace } = scene
  const part = (name: string): Scene => ({ ...scene, random: scene.random.fork(name) })
  const nemesis = createNemesis(part('nemesis'))
  const truth = {
    feed: createLatestFeed(part('feed')),
    referenceRates: createReferenceRates(part('reference rates')),
  }
  const simStore = createSimStore(part('store'), {
    faultOf: (operation, { host }) => nemesis.storeFault(operation, host),
    onDelivery: (process, key, value) =>
      watches.upstream.onDelivery(process, dataSetOf(key), value),
    onClaim: (process, key, isGranted) =>
      watches.upstream.onClaim(process, dataSetOf(key), isGranted),
  })
  const watches = createWatches({ ...scene, ...truth }, simStore)
  const upstream = createUpstream({ ...part('upstream'), ...truth }, nemesis, watches.upstream)
  const fleet = createFleet(part('fleet'), {
    upstream,
    simStore,
    onEvent(process, event) {
      trace.record(loop.now(), process.host, event.type, detailOf(event))
      watches.upstream.onEvent(process, event)
    },
  })
  const { bounds, answers: watch } = watches
  scheduleMishaps(part('mishaps'), { fleet, simStore, nemesis, onDrained: bounds.drained })
  const clients = createClients({ ...part('clients'), ...truth }, { fleet, watch, bounds })
  return { fleet, clients, upstream, nemesis, watches }
}
