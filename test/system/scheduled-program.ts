// A Worker that a cron trigger keeps fresh, made as a user would. `/made` tells how often its handler was made, `/stored`
// whether both data sets are in the store, and `/later` sets the clock on by more than a day.
import { waitUntil } from 'cloudflare:workers'
import { createRatesHandler } from 'ratesmith'
import { toWorker } from 'ratesmith/cloudflare'
import type { WorkerContext } from 'ratesmith/cloudflare'
import { createCacheApiStore } from 'ratesmith/stores/cache-api'
import { createKvStore } from 'ratesmith/stores/cloudflare-kv'
import type { KvNamespace } from 'ratesmith/stores/cloudflare-kv'

interface Env {
  RATES: KvNamespace
  STORE: string
  /** Which attempts to make the handler fail: `1` is the first. */
  BROKEN?: string
}

/** After this long, in ms, rates are due wherever in the day they were loaded. */
const LATER = 26 * 3_600_000

let offset = 0
let made = 0

const storeOf = ({ RATES, STORE }: Env) =>
  STORE === 'kv' ? createKvStore(RATES) : createCacheApiStore()

const worker = toWorker((env: Env) => {
  made += 1
  if (env.BROKEN === String(made)) throw new Error('secret of the operator')
  return createRatesHandler({ store: storeOf(env), waitUntil, now: () => Date.now() + offset })
})

async function isStored(env: Env): Promise<boolean> {
  const keys = ['rates:v1:latest', 'rates:v1:history']
  const texts = await Promise.all(keys.map(async (key) => storeOf(env).get(key)))
  return texts.every((text) => typeof text === 'string')
}

export default {
  ...worker,
  async fetch(request: Request, env: Env, context: WorkerContext): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/made') return Response.json(made)
    if (pathname === '/stored') return Response.json(await isStored(env))
    if (pathname === '/later') return Response.json((offset += LATER))
    return worker.fetch(request, env, context)
  },
}
