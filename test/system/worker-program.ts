// A user's Worker with the store that `STORE` names: `toWorker` for the cron trigger and `/api/…`, and a handler in the
// global scope for `/global/api/…`. `/made` returns the number of handlers that `toWorker` has created, `/events` their
// events, `/stored` the data sets in the store, `/contract` the outcome of the store contract, and `/later` advances
// the clock by more than a day.
import { env, waitUntil } from 'cloudflare:workers'

import { createRatesHandler } from 'ratesmith'
import type { CacheStore, RatesHandler } from 'ratesmith'
import { toWorker } from 'ratesmith/cloudflare'
import type { WorkerContext } from 'ratesmith/cloudflare'
import { createCacheApiStore } from 'ratesmith/stores/cache-api'
import { createKvStore } from 'ratesmith/stores/cloudflare-kv'
import type { KvNamespace } from 'ratesmith/stores/cloudflare-kv'
import { createUpstashStore } from 'ratesmith/stores/upstash'
import { storeContract } from 'ratesmith/testing'

interface Env {
  RATES: KvNamespace
  STORE: string
  /** The attempt to create the handler that fails: `1` is the first. */
  BROKEN?: string
}

/** A time after which rates are due, whenever they were loaded, in ms. */
const LATER = 26 * 3_600_000

const STORES: Record<string, (namespace: KvNamespace) => CacheStore> = {
  kv: (namespace) => createKvStore(namespace, { prefix: 'app:' }),
  cache: () => createCacheApiStore(),
  upstash: () => createUpstashStore({ url: 'https://database.invalid', token: 'AX8sASQgN2M5' }),
}

const events: string[] = []
let offset = 0
let made = 0

const storeOf = ({ STORE, RATES }: Env): CacheStore => STORES[STORE]?.(RATES) ?? new Map()

function createHandler(given: Env, basePath = '/api'): RatesHandler {
  return createRatesHandler({
    basePath,
    store: storeOf(given),
    waitUntil,
    now: () => Date.now() + offset,
    onEvent(event) {
      events.push('dataSet' in event ? `${event.dataSet} ${event.type}` : event.type)
    },
  })
}

// A Worker must not start timers or send requests in the global scope.
const globalHandler = createHandler(Object(env), '/global/api')

const worker = toWorker((given: Env) => {
  made += 1
  if (given.BROKEN === String(made)) throw new Error('secret of the operator')
  return createHandler(given)
})

const PAGES: Record<string, (store: CacheStore) => unknown> = {
  '/made': () => made,
  '/events': () => events,
  '/later': () => (offset += LATER),
  async '/stored'(store) {
    const names = ['latest', 'history']
    const texts = await Promise.all(names.map(async (name) => store.get(`rates:v1:${name}`)))
    return names.filter((_, index) => typeof texts[index] === 'string')
  },
  async '/contract'(store) {
    const failed: string[] = []
    const cases = storeContract(() => store)
    for (const { name, run } of cases) {
      await run().catch((error: Error) => failed.push(`${name}: ${error.message}`))
    }
    return { cases: cases.length, failed }
  },
}

export default {
  ...worker,
  async fetch(request: Request, given: Env, context: WorkerContext): Promise<Response> {
    const { pathname } = new URL(request.url)
    const page = PAGES[pathname]
    if (page) return Response.json(await page(storeOf(given)))
    if (pathname.startsWith('/global/')) return globalHandler(request)
    return worker.fetch(request, given, context)
  },
}
