import { Agent, request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'

import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { createAccess, createKey } from '../../src/access/index.ts'
import { withCompression } from '../../src/cli/compression.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { ProxyOptions } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { toNodeHandler } from '../../adapters/node.ts'
import { wholeNumbersFrom } from '../access/fleet.ts'
import { NGINX, documentedConfiguration, openCache, replace, startNginx } from './nginx.ts'
import { listen, requireProgram, temporaryFolder } from './processes.ts'
import { portIn } from './sockets.ts'

const PAGE = 'docs/public-api.md'

/** Addresses of the loopback interface, which only Linux has without configuration. */
const CLIENTS = ['127.0.0.11', '127.0.0.12', '127.0.0.13', '127.0.0.14']

/** One plan for each key: its quota shows to which key a response belongs. */
const KEYS = await Promise.all(
  [1, 2, 3].map(async (index) => ({
    ...(await createKey()),
    id: `key-${index}`,
    quota: 1_000_000 + index,
  })),
)

const now = (): number => Date.UTC(2026, 10, 20, 18)
const providers = fakeProviders({ now })

const codecs: Parameters<typeof withCompression>[1] = {
  br: async (body) => new Uint8Array(await promisify(brotliCompress)(body)),
  gzip: async (body) => new Uint8Array(await promisify(gzip)(body)),
}

/** Starts an app with a plan for each key and one for anonymous clients; it ends with the test. */
async function startApp(quota: number, proxies: ProxyOptions) {
  const plans = KEYS.map(({ id, quota: own }) => [id, `${own}/day`])
  const access = createAccess({
    anonymous: 'free',
    plans: { free: `${quota}/day`, ...Object.fromEntries(plans) },
    keys: {
      find: (hash) => KEYS.map(({ id }) => ({ id, plan: id })).find(byHash(hash)),
    },
    queryParameters: ['access_key'],
  })
  const handler = createRatesHandler({ providers, now, access, ...proxies })
  await handler.refresh()
  return listen(toNodeHandler(withCompression(handler, codecs)))
}

function byHash(hash: string) {
  return (_: unknown, index: number): boolean => KEYS[index]?.hash === hash
}

interface Sent {
  target: string
  method?: string
  headers?: Record<string, string>
  /** Address of the client (default `127.0.0.1`). */
  from?: string
}

interface Received {
  status: number
  headers: IncomingHttpHeaders
}

/** Opens clients of a server with keep-alive connections, one agent for each address. */
function openClients(url: string): (sent: Sent) => Promise<Received> {
  const agents = new Map<string, Agent>()
  onTestFinished(() => agents.forEach((agent) => agent.destroy()))
  return ({ target, method = 'GET', headers = {}, from = '127.0.0.1' }) => {
    const agent = agents.get(from) ?? new Agent({ keepAlive: true, maxSockets: 4 })
    agents.set(from, agent)
    const options = { host: '127.0.0.1', port: portIn(url), localAddress: from, method, headers }
    const sendOver = (over: Agent | false): Promise<Received> =>
      new Promise((resolve, reject) => {
        const outgoing = request({ ...options, path: target, agent: over }, (response) => {
          const received = { status: response.statusCode ?? 0, headers: response.headers }
          response.resume().once('end', () => resolve(received))
        })
        outgoing.once('error', reject).end()
      })
    // nginx ends a connection after its own 412, without an announcement (RFC 9112 §9.5).
    return sendOver(agent).catch(() => sendOver(false))
  }
}

/** Runs `send` for each item, a few at a time. */
async function forEach<Item>(items: readonly Item[], send: (item: Item) => Promise<void>) {
  const queue = items.values()
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (const item of queue) await send(item)
    }),
  )
}

const TARGETS = [
  '/api/v1/latest',
  '/api/v1/latest?base=EUR',
  '/api/v1/latest?symbols=EUR,GBP',
  '/api/v1/convert?from=USD&to=EUR',
  '/api/v1/convert?from=USD&to=EUR,GBP,JPY',
  '/api/v1/history?from=USD&to=EUR',
  '/api/v1/currencies',
  '/api/v1/openapi.json',
  '/api/v1/status',
  '/api/v1/latest?base=zzz',
  '/api/v1/nothing',
  '/api/rates',
]

/** A request, and the quota of its key: undefined without one, and null for a wrong one. */
interface Mixed extends Sent {
  quota: number | null | undefined
}

/** Returns requests with several keys, a wrong key and without a key, conditional or not, compressed or not. */
function mixedRequests(count: number, etags: readonly string[]): Mixed[] {
  const random = wholeNumbersFrom(12_345)
  const oneOf = <Item>(items: readonly Item[]): Item | undefined => items[random(items.length)]
  return Array.from({ length: count }, () => {
    const target = oneOf(TARGETS) ?? ''
    const headers: Record<string, string> = {}
    const method = oneOf(['GET', 'GET', 'GET', 'HEAD', 'OPTIONS']) ?? ''
    if (random(2) === 0) headers['accept-encoding'] = oneOf(['gzip', 'br', 'gzip, br']) ?? ''
    if (random(4) === 0) headers['if-none-match'] = oneOf(['*', ...etags]) ?? ''
    if (random(20) === 0) headers['if-match'] = oneOf(['*', '"other"']) ?? ''
    if (random(8) === 0) headers['cache-control'] = 'no-cache'
    if (random(8) === 0) headers['origin'] = 'https://app.example'
    const sent = { target, method, headers, from: oneOf(CLIENTS) ?? '' }
    return random(3) === 0 ? { ...sent, quota: undefined } : withKey(sent, random)
  })
}

function withKey(sent: Required<Sent>, random: (limit: number) => number): Mixed {
  const { target, headers } = sent
  const { key, quota } = KEYS[random(KEYS.length)] ?? { key: '', quota: 0 }
  switch (random(6)) {
    case 0:
      return { ...sent, headers: { ...headers, 'x-api-key': key }, quota }
    case 1:
      return {
        ...sent,
        target: `${target}${target.includes('?') ? '&' : '?'}access_key=${key}`,
        quota,
      }
    case 2: {
      const wrong = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`
      return { ...sent, headers: { ...headers, authorization: `Bearer ${wrong}` }, quota: null }
    }
    default:
      return { ...sent, headers: { ...headers, authorization: `Bearer ${key}` }, quota }
  }
}

const FREE = 900_000

/** Returns what is wrong with a response, if it belongs to another client than that of the request. */
function faultOf({ quota, target }: Mixed, { headers }: Received): string | undefined {
  const policy = String(headers['ratelimit-policy'] ?? '')
  const [, owner] = /;q=(\d+)/.exec(policy) ?? []
  // Anonymous clients get limits in errors only, which no cache stores.
  const allowed = typeof quota === 'number' ? [quota, FREE] : [FREE]
  if (owner !== undefined && !allowed.includes(Number(owner))) return `${target}: ${policy}`
  const isKeyed = /private/.test(headers['cache-control'] ?? '') || /api-key/i.test(vary(headers))
  if (isKeyed && typeof quota !== 'number') return `${target}: ${headers['cache-control']}`
  if (policy !== '' && /public/.test(headers['cache-control'] ?? '')) return 'public limits'
  return undefined
}

function vary(headers: IncomingHttpHeaders): string {
  return headers.vary ?? ''
}

beforeEach(({ skip }) => {
  requireProgram('nginx', NGINX, skip)
  skip(process.platform !== 'linux', 'the loopback interface has one address')
})

/** Starts an app behind nginx with a configuration of the documentation, changed by `change`. */
async function startProxied(
  { page = PAGE, quota = FREE, options = {} as ProxyOptions },
  change = (configuration: string): string => configuration,
) {
  const app = await startApp(quota, options)
  const folder = temporaryFolder()
  const cache = join(folder, 'cache')
  const located = replace(documentedConfiguration(page), '/var/cache/ratesmith', cache)
  const configuration = replace(located, 'http://127.0.0.1:8787', app.url)
  const url = await startNginx(change(configuration), folder)
  return { send: openClients(url), cache: openCache(cache) }
}

describe('nginx with a cache in front of keys', () => {
  it.each([
    ['the documented configuration for keys', PAGE, true],
    ['that for a public API without keys', 'docs/api.md', false],
  ])('gives no response of a key to another client, with %s', async (_, page, bypasses) => {
    const { send, cache } = await startProxied({ page })
    const seen = { hits: 0, keyed: 0, withHeader: 0, bypassed: 0, refused: 0, unchanged: 0 }
    const etags = new Set<string>()
    const faults: string[] = []
    for (const [round, seconds] of [0, 90, 10_000, 200_000].entries()) {
      // Responses expire, are revalidated and refreshed, also by requests with a key.
      await expect.poll(cache.unfinished).toEqual([])
      cache.makeOlder(seconds)
      const requests = mixedRequests(10_000, [...etags]).slice(round * 2_500, (round + 1) * 2_500)
      await forEach(requests, async (sent) => {
        const received = await send(sent)
        const { status, headers } = received
        const fault = faultOf(sent, received)
        if (fault) faults.push(fault)
        if (headers.etag) etags.add(headers.etag)
        const isHit = headers['x-cache-status'] === 'HIT'
        const hasLimits = headers['ratelimit-policy'] !== undefined
        if (isHit) seen.hits += 1
        if (status === 401) seen.refused += 1
        if (status === 304) seen.unchanged += 1
        if (typeof sent.quota === 'number' && hasLimits) seen.keyed += 1
        if (sent.headers?.['authorization'] || sent.headers?.['x-api-key']) {
          seen.withHeader += 1
          if (!isHit) seen.bypassed += 1
        }
      })
    }
    expect(faults).toEqual([])
    expect(Math.min(seen.hits, seen.keyed, seen.refused, seen.unchanged)).toBeGreaterThan(100)
    // Without a bypass, clients with a key get stored anonymous responses.
    expect(seen.bypassed === seen.withHeader).toBe(bypasses)
    const stored = cache.texts().join('\n')
    expect(stored).toMatch(/cache-control: public/i)
    expect(stored).not.toMatch(/\n(ratelimit|cache-control: private|vary: [^\n]*x-api-key)/i)
    for (const { key } of KEYS)
      expect(stored.replaceAll(`access_key=${key}`, '')).not.toContain(key)
  })
})

type Case = [name: string, options: ProxyOptions, change: (configuration: string) => string]

const append = (text: string): string => replace(text, '$remote_addr', '$proxy_add_x_forwarded_for')
const passForwarded = (text: string): string => replace(text, 'proxy_set_header Forwarded "";', '')

/** Sends 1,000 requests of each client with forged headers, and expects each to reach its own limit. */
async function expectOwnLimits(send: (sent: Sent) => Promise<Received>, quota: number) {
  const counts: Record<string, Record<number, number>> = {}
  const requests = Array.from({ length: 1_000 }, (_, index) =>
    CLIENTS.map((from): Sent => {
      const address = `203.0.${index % 256}.${from.slice(-1)}`
      const forwarded = index % 3 === 0 ? `for=${address}` : `for="${address}:80";by=", for=[::1]`
      const headers = { 'x-forwarded-for': `127.0.0.1, ${address}`, forwarded }
      // Each is a request of the app: no cache has its response.
      return {
        target: `/api/v1/convert?from=USD&to=EUR&amount=${index}${from.slice(-1)}`,
        headers,
        from,
      }
    }),
  ).flat()
  await forEach(requests, async (sent) => {
    const { status } = await send({ ...sent, headers: { ...sent.headers, 'x-real-ip': '::1' } })
    const own = (counts[sent.from ?? ''] ??= {})
    own[status] = (own[status] ?? 0) + 1
  })
  const expected = { 200: quota, 429: 1_000 - quota }
  expect(counts).toEqual(Object.fromEntries(CLIENTS.map((from) => [from, expected])))
}

describe('each client of a proxy has its own limit, regardless of forged headers', () => {
  const trustedProxies = ['127.0.0.1']
  const forwardedHeader = 'x-forwarded-for'

  it.each<Case>([
    ['as documented', { trustedProxies }, (text) => text],
    ['with the header named', { trustedProxies, forwardedHeader }, passForwarded],
    ['with appended addresses', { trustedProxies }, append],
    ['with a number of proxies', { trustedProxies: 1 }, append],
  ])('nginx %s', async (_, options, change) => {
    const { send } = await startProxied({ quota: 20, options }, change)
    await expectOwnLimits(send, 20)
  })

  it('and without trustedProxies, all share one limit', async () => {
    const { send } = await startProxied({ quota: 20 })
    const statuses: number[] = []
    for (let index = 0; index < 40; index += 1) {
      const from = CLIENTS[index % CLIENTS.length] ?? ''
      const target = `/api/v1/convert?from=USD&to=EUR&amount=${index}`
      statuses.push((await send({ target, from })).status)
    }
    expect(statuses).toEqual([...Array(20).fill(200), ...Array(20).fill(429)])
  })
})
