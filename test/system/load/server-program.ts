// Runs a server with a Redis store: prints `{ url }`, and responds to `GET /report` with a `ServerReport`.
import { createServer } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapSpaceStatistics } from 'node:v8'

import { Redis } from 'ioredis'
import { createClient } from 'redis'

import { toNodeHandler } from '../../../adapters/node.ts'
import { systemRuntime } from '../../../src/async.ts'
import { createHandlerOn } from '../../../src/handler.ts'
import { createExchangeRateApiProvider, createFrankfurterProvider } from '../../../src/index.ts'
import type {
  CacheStore,
  LatestProvider,
  RatesEvent,
  RatesHandlerOptions,
} from '../../../src/index.ts'
import { createRedisStore } from '../../../src/stores/redis.ts'
import type { RedisClient } from '../../../src/stores/redis.ts'
import { fakeProviders } from '../../../src/testing/index.ts'
import { reportToParent, settingsFromParent } from '../child.ts'
import { collectGarbage } from '../collect-garbage.ts'
import { listenOnFreePort } from '../sockets.ts'
import { START, createPublicationClock } from './loopback-upstream.ts'
import type { ClientName, ServerReport, ServerSettings } from './servers.ts'

const CONNECT: Record<ClientName, (url: string) => Promise<RedisClient>> = {
  ioredis: async (url) => new Redis(url).on('error', () => {}),
  redis: (url) =>
    createClient({ url })
      .on('error', () => {})
      .connect(),
}

const RESOLUTION = 5

const settings: ServerSettings = JSON.parse(settingsFromParent())
const clock = createPublicationClock(settings.clock)
const delay = monitorEventLoopDelay({ resolution: RESOLUTION })
const counts = {
  calls: { latest: 0, history: 0 },
  storeFailures: { get: 0, set: 0, claim: 0 },
  refused: 0,
}
const unhandled: string[] = []
for (const name of ['unhandledRejection', 'uncaughtException']) {
  process.on(name, (error: unknown) => unhandled.push(`${name}: ${String(error)}`))
}

const handler = createHandlerOn(
  (now) => ({ ...systemRuntime(now), ...(settings.sleeps ? { monotonic: clock.monotonic } : {}) }),
  { now: clock.now, store: await connectStore(), providers: providers(), onEvent: count },
)
const listener = toNodeHandler(handler)
const server = createServer((request, response) => {
  if (request.url === '/report') response.end(JSON.stringify(report()))
  else listener(request, response)
})
const port = await listenOnFreePort(server)
delay.enable()
reportToParent({ url: `http://127.0.0.1:${port}` })

async function connectStore(): Promise<CacheStore> {
  const { speed = 1 } = settings.clock
  const store = createRedisStore(await CONNECT[settings.client](settings.redis))
  // Redis runs in real time: it gets times to live in real time, and leases of one period only.
  const toReal = (at: number): number => Date.now() + (at - clock.now()) / speed
  return {
    get: store.get,
    set: (key, value, expiresAt) => store.set(key, value, toReal(expiresAt)),
    claim: (key, expiresAt) => store.claim(`${key}:${clock.period()}`, toReal(expiresAt)),
  }
}

function providers(): NonNullable<RatesHandlerOptions['providers']> {
  const { upstream: url } = settings
  if (url !== undefined) {
    return {
      latest: createExchangeRateApiProvider({ url }),
      history: createFrankfurterProvider({ url }),
    }
  }
  const { latest, history } = fakeProviders({ now: () => START })
  const fetchLatest: LatestProvider['fetchLatest'] = async (context) => {
    const now = context.now()
    return { ...(await latest.fetchLatest(context)), updatedAt: now, nextUpdateAt: now + 1 }
  }
  return { history, latest: { attribution: latest.attribution, fetchLatest } }
}

function count(event: RatesEvent): void {
  if (event.type === 'upstream_request') counts.calls[event.dataSet] += 1
  if (event.type === 'store_failed') counts.storeFailures[event.operation] += 1
  if (event.type === 'rates_rejected' && event.origin === 'store') counts.refused += 1
  if (event.type === 'internal_error') unhandled.push(`internal_error: ${String(event.error)}`)
}

function report(): ServerReport {
  collectGarbage()
  const heap = getHeapSpaceStatistics()
    .filter(({ space_name: name }) => !/code|trusted/.test(name))
    .reduce((total, { space_used_size: used }) => total + used, 0)
  const handles: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo().sort()) {
    handles[kind] = (handles[kind] ?? 0) + 1
  }
  // The histogram contains the time between two samples.
  const loopDelay = Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION)
  delay.reset()
  return { ...counts, unhandled, heap, rss: process.memoryUsage.rss(), handles, loopDelay }
}
