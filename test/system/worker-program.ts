// A Worker with a handler over each of three stores, made as a user would. Below `/kv/`, `/cache/` and `/upstash/`:
// `api/…` is answered by the handler, `events` with what it told so far, `stored` with what its store has, `contract` with
// how the store did on trial, and `later` sets the clock on by more than a day.
import { env, waitUntil } from 'cloudflare:workers'
import { createRatesHandler } from 'ratesmith'
import type { CacheStore, LatestProvider, RatesHandler } from 'ratesmith'
import { createCacheApiStore } from 'ratesmith/stores/cache-api'
import { createKvStore } from 'ratesmith/stores/cloudflare-kv'
import { createUpstashStore } from 'ratesmith/stores/upstash'
import { fakeProviders, storeContract } from 'ratesmith/testing'

interface Room {
  /** How far its clock is ahead, in ms. */
  offset: number
  store: CacheStore
  handler: RatesHandler
  events: string[]
}

/** After this long, in ms, rates are due wherever in the day they were loaded. */
const LATER = 26 * 3_600_000

const DATABASE = { url: 'https://database.invalid', token: 'AX8sASQgN2M5' }

// All of this is made in the global scope, where a Worker may neither start timers nor ask anybody for anything.
const rooms = new Map([
  ['kv', openRoom('kv', createKvStore(env.RATES, { prefix: 'app:' }))],
  ['cache', openRoom('cache', createCacheApiStore())],
  ['upstash', openRoom('upstash', createUpstashStore(DATABASE))],
])

function openRoom(name: string, store: CacheStore): Room {
  const { latest, history } = fakeProviders()
  const room: Omit<Room, 'handler'> = { store, offset: 0, events: [] }
  const handler = createRatesHandler({
    basePath: `/${name}/api`,
    store,
    waitUntil,
    now: () => Date.now() + room.offset,
    providers: { latest: slow(latest), history },
    onEvent(event) {
      room.events.push('dataSet' in event ? `${event.dataSet} ${event.type}` : event.type)
    },
  })
  return Object.assign(room, { handler })
}

/** The same rates, 100 ms later: long enough for a question to be answered meanwhile. */
function slow(provider: LatestProvider): LatestProvider {
  return {
    attribution: provider.attribution,
    async fetchLatest(context) {
      await new Promise((resolve) => {
        setTimeout(resolve, 100)
      })
      return provider.fetchLatest(context)
    },
  }
}

async function tryOut(store: CacheStore): Promise<{ cases: number; failed: string[] }> {
  const failed: string[] = []
  const cases = storeContract(() => store)
  for (const { name, run } of cases) {
    await run().catch((error: Error) => failed.push(`${name}: ${error.message}`))
  }
  return { cases: cases.length, failed }
}

async function namesOfStored(store: CacheStore): Promise<string[]> {
  const names = ['latest', 'history']
  const texts = await Promise.all(names.map(async (name) => store.get(`rates:v1:${name}`)))
  return names.filter((_, index) => typeof texts[index] === 'string')
}

export default {
  async fetch(request: Request): Promise<Response> {
    const [, name = '', page] = new URL(request.url).pathname.split('/')
    const room = rooms.get(name)
    if (!room) return new Response('Not found', { status: 404 })
    if (page === 'contract') return Response.json(await tryOut(room.store))
    if (page === 'events') return Response.json(room.events)
    if (page === 'stored') return Response.json(await namesOfStored(room.store))
    if (page === 'later') return Response.json((room.offset += LATER))
    return room.handler(request)
  },
}
