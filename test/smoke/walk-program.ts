// Prints the source files whose functions run for one warm conversion on Node, and for one refresh of both data sets, and
// those that are loaded after all endpoints with rates.
import { createServer } from 'node:http'
import { Session } from 'node:inspector/promises'

import { toNodeHandler } from '../../adapters/node.ts'
import { createRatesHandler } from '../../src/index.ts'
import { listenOnFreePort } from '../system/sockets.ts'
import { good } from '../fixtures/feed.ts'
import { FEEDS as LATEST_FEEDS } from '../fixtures/feeds/exchange-rate-api.ts'
import { FEEDS as HISTORY_FEEDS } from '../fixtures/feeds/frankfurter.ts'

const SOURCE = /\/((?:src|adapters)\/[^?]*\.ts)$/
const PATH = '/api/v1/convert?from=USD&to=EUR&amount=100'

const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** Returns the files with a function that runs during `work`. */
async function filesOf(work: () => Promise<unknown>): Promise<string[]> {
  // Each call resets the counts.
  await session.post('Profiler.takePreciseCoverage')
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  const ran = result.filter(({ functions }) => functions.some(({ ranges }) => ranges[0]?.count))
  return ran.flatMap(({ url }) => SOURCE.exec(url)?.[1] ?? []).sort()
}

const now = Date.now()

// Made before, because the synthetic payloads use functions of the sources.
const bodies = new Map<string, string>()
async function record(url: string): Promise<Response> {
  const feeds = Object.values({ ...LATEST_FEEDS, ...HISTORY_FEEDS })
  const feed = feeds.find(({ root }) => url.startsWith(root))
  if (!feed) throw new Error(`no feed at ${url}`)
  const body = await (feed.respond?.(url, now) ?? good(feed, undefined, now)).text()
  bodies.set(url, body)
  return new Response(body)
}
const urlOf = (input: RequestInfo | URL): string => new Request(input).url
await createRatesHandler({ now: () => now, fetch: (input) => record(urlOf(input)) }).refresh()

let clock = now - 3_600_000
const handler = createRatesHandler({
  now: () => clock,
  fetch: async (input) =>
    clock < now ? new Response('', { status: 503 }) : new Response(bodies.get(urlOf(input))),
  store: new Map(),
})
// The first one makes both sources. It fails, or there would be nothing to refresh.
await handler.refresh()
clock = now
const refresh = await filesOf(() => handler.refresh())

const server = createServer(toNodeHandler(handler))
const url = `http://127.0.0.1:${await listenOnFreePort(server)}${PATH}`
const convert = async (amount = ''): Promise<unknown> => (await fetch(url + amount)).json()
// A repeated response is cached at its second request.
await convert()
await convert()
const again = await filesOf(convert)
const first = await filesOf(() => convert('0'))
const computed = first.filter((file) => !again.includes(file))
const files = { convert: again, computed, refresh }

const origin = url.slice(0, -PATH.length)
const targets = [
  'latest',
  `latest?date=${new Date(now - 30 * 86_400_000).toISOString().slice(0, 10)}`,
  'history?from=USD&to=EUR',
  'currencies',
  'status',
]
for (const target of targets) await (await fetch(`${origin}/api/v1/${target}`)).arrayBuffer()
const loaded = new Set<string>()
session.on('Debugger.scriptParsed', ({ params }) => {
  for (const file of SOURCE.exec(params.url)?.slice(1) ?? []) loaded.add(file)
})
await session.post('Debugger.enable')
process.stdout.write(`${JSON.stringify({ ...files, loaded: [...loaded].sort() })}\n`)

server.close()
server.closeAllConnections()
handler.close()
