import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders, RequestListener } from 'node:http'
import { join } from 'node:path'

import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import type { ProxyOptions, RatesHandlerOptions } from 'ratesmith'
import { createAccess, createKey } from 'ratesmith/access'
import { toNodeHandler } from 'ratesmith/node'
import { failingProvider, fakeProviders } from 'ratesmith/testing'

import { rootOf, serve } from './commands.ts'
import { NGINX, documentedConfiguration, openCache, replace, startNginx } from './nginx.ts'
import { listen, requireProgram, temporaryFolder } from './processes.ts'
import { BUN } from './runtimes.ts'

const PAGE = 'docs/run-it.md'
const LATEST = '/api/v1/latest?symbols=EUR'
const HISTORY = '/api/v1/history?from=USD&to=EUR'
const CONVERT = '/api/v1/convert?from=USD&to=EUR'
const MINUTE = { maxAge: 60, staleWhileRevalidate: 60, staleIfError: 86_400 }
const HOUR = { maxAge: 3_600, staleWhileRevalidate: 3_600, staleIfError: 604_800 }
const A_MOMENT_LATE = 90
const HOURS_LATE = 10_000
const DAYS_LATE = 200_000

const CLIENTS: Record<string, string>[] = [
  { 'accept-encoding': 'gzip' },
  { 'accept-encoding': 'br, zstd, identity;q=0' },
  { origin: 'https://one.example' },
  { origin: 'null' },
  { accept: 'text/html' },
  { cookie: 'session=1' },
  { 'user-agent': 'curl/8', 'accept-language': 'de' },
  { 'cache-control': 'no-cache', pragma: 'no-cache' },
  { 'if-modified-since': 'Fri, 20 Nov 1998 15:00:00 GMT' },
]

function lasting({ headers }: { headers: Headers }): [string, string][] {
  return [...headers].filter(([name]) => !/^(date|(x-)?cache-status)$/.test(name))
}

const now = (): number => Date.UTC(2026, 10, 20, 18)
const market = fakeProviders({ now })
const APPS = {
  good: market,
  republished: fakeProviders({ seed: 2, now }),
  withoutData: { latest: failingProvider('unreachable') },
} satisfies Record<string, RatesHandlerOptions['providers']>

/** Starts nginx in front of `app` with the documented configuration, changed by `change`; it ends with the test. */
async function startProxy(app: string, change = (text: string): string => text) {
  const folder = temporaryFolder()
  const cache = join(folder, 'cache')
  const located = replace(documentedConfiguration(PAGE), '/var/cache/ratesmith', cache)
  const url = await startNginx(change(replace(located, 'http://127.0.0.1:8787', app)), folder)
  return { url, cache: openCache(cache) }
}

/** Starts an app behind nginx with the documented configuration, changed by `change`; both end with the test. */
async function startProxiedApp(change?: (text: string) => string) {
  const requests: { method: string; target: string; ifNoneMatch: string | null }[] = []
  let listener: RequestListener
  const become = (name: keyof typeof APPS): void => {
    listener = toNodeHandler(createRatesHandler({ providers: APPS[name], now }))
  }
  become('good')
  const app = await listen((request, response) => {
    const { method = '', url: target = '', headers } = request
    requests.push({ method, target, ifNoneMatch: headers['if-none-match'] ?? null })
    listener(request, response)
  })
  const { url, cache } = await startProxy(app.url, change)
  return {
    ...cache,
    requests,
    become,
    hang: (): void => void (listener = () => {}),
    kill: app.close,
    /** Sends a request through nginx; `from` is its cache status. A response may arrive before it is stored. */
    async send(target: string, init?: RequestInit) {
      const response = await fetch(url + target, init)
      const { status, headers } = response
      const body = await response.text()
      await expect.poll(cache.unfinished, { timeout: 20_000, interval: 10 }).toEqual([])
      return { status, from: headers.get('x-cache-status'), headers, body }
    },
  }
}

beforeEach(({ skip }) => requireProgram('nginx', NGINX, skip))

describe('nginx with the documented configuration', () => {
  it('stores every 200 for as long as its Cache-Control allows', async () => {
    const { send, requests, kept, makeOlder } = await startProxiedApp()
    const targets = [LATEST, CONVERT, '/api/rates', HISTORY]
    for (const target of targets) {
      const { body } = await send(target)
      makeOlder(30)
      expect(await send(target), target).toMatchObject({ status: 200, from: 'HIT', body })
    }
    expect(requests.map(({ target }) => target)).toEqual(targets)
    const byAge = kept().sort((one, other) => one.maxAge - other.maxAge)
    expect(byAge).toEqual([MINUTE, MINUTE, MINUTE, HOUR])
  })

  it('stores one response for all clients, regardless of their headers', async () => {
    const { send, requests, kept } = await startProxiedApp()
    const plain = await send(LATEST)
    expect(plain.headers.get('vary')).toBeNull()
    // With HTTP/1.0, Node marks the end of a response by closing the connection, so a truncated response would seem
    // complete.
    expect(plain.headers.get('content-length')).toBe(String(plain.body.length))
    for (const [index, headers] of CLIENTS.entries()) {
      const first = await send(`${LATEST}&_client=${index}`, { headers })
      const later = await send(LATEST, { headers })
      for (const [seen, from] of [[first, 'MISS'] as const, [later, 'HIT'] as const]) {
        expect(seen).toMatchObject({ status: 200, from, body: plain.body })
        expect(lasting(seen)).toEqual(lasting(plain))
      }
    }
    expect(requests).toHaveLength(1 + CLIENTS.length)
    expect(kept()).toHaveLength(1 + CLIENTS.length)
  })
})

describe('a stale response', () => {
  it('is renewed by a 304 of the app, and served once more while nginx refreshes it', async () => {
    const { send, requests, become, kept, makeOlder } = await startProxiedApp()
    const { body: old, headers } = await send(LATEST)
    makeOlder(HOURS_LATE)
    expect(await send(LATEST)).toMatchObject({ status: 200, from: 'REVALIDATED', body: old })
    expect(requests).toMatchObject([{ ifNoneMatch: null }, { ifNoneMatch: headers.get('etag') }])
    expect(kept()).toEqual([MINUTE])
    expect(await send(LATEST)).toMatchObject({ status: 200, from: 'HIT', body: old })
    become('republished')
    makeOlder(A_MOMENT_LATE)
    expect(await send(LATEST)).toMatchObject({ status: 200, from: 'STALE', body: old })
    const next = async (): Promise<string> => (await send(LATEST)).body
    await expect.poll(next, { timeout: 20_000 }).not.toBe(old)
    expect(await send(LATEST)).toMatchObject({ status: 200, from: 'HIT' })
    expect(requests).toHaveLength(3)
  })

  it('is served for a day while the app is down, and not longer', async () => {
    const { kill, send, makeOlder } = await startProxiedApp()
    const { body } = await send(LATEST)
    await kill()
    for (const seconds of [A_MOMENT_LATE, HOURS_LATE]) {
      makeOlder(seconds)
      const seen = await send(LATEST)
      expect(seen).toMatchObject({ status: 200, from: 'STALE', body })
      expect(seen.headers.get('access-control-allow-origin')).toBe('*')
    }
    makeOlder(DAYS_LATE)
    const gone = await send(LATEST)
    expect(gone).toMatchObject({ status: 502, body: expect.stringContaining('<html>') })
    expect(gone.headers.get('access-control-allow-origin')).toBeNull()
  })

  it('is replaced after hours by a newer 200, and by a 502 of the app', async () => {
    const { send, requests, become, makeOlder } = await startProxiedApp()
    const bodies = [(await send(LATEST)).body]
    for (const [cause, status] of [
      ['republished', 200],
      ['withoutData', 502],
    ] as const) {
      become(cause)
      makeOlder(HOURS_LATE)
      const seen = await send(LATEST)
      expect(seen).toMatchObject({ status, from: 'EXPIRED' })
      bodies.push(seen.body)
    }
    expect([new Set(bodies).size, requests.length]).toEqual([3, 3])
  })

  it.each([
    // nginx waits for the app longer than this test.
    ['immediately, within a minute', '600s', A_MOMENT_LATE],
    ['after a timeout, later than that', '1s', HOURS_LATE],
  ])('is served while the app hangs: %s', async (_, timeout, seconds) => {
    const limit = (text: string): string => replace(text, '10s', timeout)
    const { hang, send, makeOlder } = await startProxiedApp(limit)
    const { body } = await send(LATEST)
    hang()
    makeOlder(seconds)
    expect(await send(LATEST)).toMatchObject({ status: 200, from: 'STALE', body })
  })
})

describe('nginx in front of two servers on Bun', () => {
  const [name, bun] = BUN
  beforeEach(({ skip }) => requireProgram(name, bun, skip))

  it('refuses unknown methods, to which Bun does not respond', async () => {
    let configuration = documentedConfiguration(PAGE, 'upstream ')
    for (const port of ['8787', '8788']) {
      const root = await rootOf(serve(['--demo'], {}, BUN))
      configuration = replace(configuration, `127.0.0.1:${port}`, new URL(root).host)
    }
    const url = await startNginx(configuration, temporaryFolder())
    const statusOf = async (method: string): Promise<number> =>
      (await fetch(`${url}/api/v1/status`, { method })).status
    expect(await statusOf('GET')).toBe(200)
    expect(await statusOf('FOO')).toBe(405)
    expect(await statusOf('GET')).toBe(200)
  })
})

const CLIENTS_AT = ['127.0.0.11', '127.0.0.12', '127.0.0.13', '127.0.0.14']

/** One plan for each key: its quota shows to which key a response belongs. */
const KEYS = await Promise.all(
  [1, 2, 3].map(async (index) => ({ ...(await createKey()), id: `key-${index}`, quota: index })),
)
const FREE = 900_000
const QUOTA = 1_000_000

/** Starts an app with keys behind nginx with the documented configuration, changed by `change`. */
async function startKeyed(
  { quota = FREE, ...proxies }: ProxyOptions & { quota?: number },
  change?: (configuration: string) => string,
) {
  const plans = KEYS.map((key) => [key.id, `${QUOTA + key.quota}/day`])
  const access = createAccess({
    anonymous: 'free',
    plans: { free: `${quota}/day`, ...Object.fromEntries(plans) },
    keys: {
      find(hash) {
        const id = KEYS.find((key) => key.hash === hash)?.id
        return id === undefined ? undefined : { id, plan: id }
      },
    },
    queryParameters: ['access_key'],
  })
  const handler = createRatesHandler({ providers: market, now, access, ...proxies })
  await handler.refresh()
  const app = await listen(toNodeHandler(handler))
  const { url, cache } = await startProxy(app.url, change)
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  onTestFinished(() => agent.destroy())
  const send = (target: string, headers: OutgoingHttpHeaders, localAddress = '127.0.0.1') =>
    new Promise<IncomingMessage>((resolve, reject) => {
      // nginx ends a connection after its own 412, without an announcement (RFC 9112 §9.5).
      const options = { localAddress, headers, agent: headers['if-match'] ? false : agent }
      const sent = request(url + target, options, (response) => {
        response.resume().once('end', () => resolve(response))
      })
      sent.once('error', reject).end()
    })
  return { send, cache }
}

describe.skipIf(process.platform !== 'linux')('nginx in front of keys', () => {
  const TARGETS = [
    'latest',
    'latest?base=EUR',
    'history?from=USD&to=EUR',
    'currencies',
    'latest?base=zzz',
  ]

  it.each([
    ['as documented', true, undefined],
    ['without a bypass', false, (text: string) => text.replace(/proxy_cache_bypass .*/, '')],
  ] as const)('gives no response of a key to another client, %s', async (_, bypasses, change) => {
    const { send, cache } = await startKeyed({}, change)
    const seen = { hits: 0, keyed: 0, refused: 0, unchanged: 0, bypassed: new Set<boolean>() }
    const faults: string[] = []
    const etags = new Map<string, string>()
    const [first, second, third] = KEYS
    const wrong = first?.key.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const senders: [owner: number | undefined, query: string, headers: OutgoingHttpHeaders][] = [
      [undefined, '', {}],
      [first?.quota, '', { authorization: `Bearer ${first?.key}` }],
      [second?.quota, '', { 'x-api-key': second?.key }],
      [third?.quota, `access_key=${third?.key}`, {}],
      [undefined, '', { authorization: `Bearer ${wrong}` }],
    ]
    const variants = (etag = '*'): OutgoingHttpHeaders[] => [
      {},
      { 'if-none-match': etag, 'accept-encoding': 'gzip, br' },
      { 'cache-control': 'no-cache', origin: 'https://app.example' },
      { 'if-match': '"other"' },
    ]
    // Responses expire, are revalidated and refreshed, also by requests with a key.
    for (const seconds of [0, 90, 10_000, 200_000]) {
      await expect.poll(cache.unfinished).toEqual([])
      cache.makeOlder(seconds)
      for (const name of TARGETS) {
        for (const [index, headers] of variants(etags.get(name)).entries()) {
          // Another one begins each time.
          const order = [...senders.slice(index), ...senders.slice(0, index)]
          for (const [owner, query, own] of order) {
            const separator = query && (name.includes('?') ? '&' : '?')
            const target = `/api/v1/${name}${separator}${query}`
            const response = await send(target, { ...headers, ...own })
            const { etag, vary = '', 'cache-control': control = '' } = response.headers
            const policy = String(response.headers['ratelimit-policy'] ?? '')
            const [, quota] = /;q=(\d+)/.exec(policy) ?? []
            // Anonymous clients get limits in errors only, which no cache stores.
            const isOwn = [FREE, QUOTA + (owner ?? NaN)].includes(Number(quota ?? FREE))
            const isKeyed = /private/.test(control) || /api-key/i.test(vary)
            const isForAll = policy !== '' && control.includes('public')
            if (!isOwn || isForAll || (isKeyed && owner === undefined)) faults.push(target + policy)
            if (etag) etags.set(name, etag)
            const isHit = response.headers['x-cache-status'] === 'HIT'
            if (isHit) seen.hits += 1
            if (owner !== undefined && policy !== '') seen.keyed += 1
            if (response.statusCode === 401) seen.refused += 1
            if (response.statusCode === 304) seen.unchanged += 1
            if (own['authorization'] || own['x-api-key']) seen.bypassed.add(!isHit)
          }
        }
      }
    }
    expect(faults).toEqual([])
    const { bypassed, ...counts } = seen
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(5)
    // Without a bypass, clients with a key get stored anonymous responses.
    expect(bypassed.has(false)).toBe(!bypasses)
    const stored = cache.texts().join('\n')
    expect(stored).toMatch(/cache-control: public/i)
    expect(stored).not.toMatch(/\n(ratelimit|cache-control: private|vary: [^\n]*x-api-key)/i)
    for (const { key } of KEYS) {
      expect(stored.replaceAll(`access_key=${key}`, '')).not.toContain(key)
    }
  })

  const append = (text: string): string =>
    replace(text, '$remote_addr', '$proxy_add_x_forwarded_for')
  const pass = (text: string): string => replace(text, 'proxy_set_header Forwarded "";', '')
  const trustedProxies = ['127.0.0.1']

  it.each<[name: string, options: ProxyOptions, change?: (text: string) => string]>([
    ['as documented', { trustedProxies }],
    ['with the header named', { trustedProxies, forwardedHeader: 'x-forwarded-for' }, pass],
    ['with appended addresses', { trustedProxies }, append],
    ['with a number of proxies', { trustedProxies: 1 }, append],
  ])(
    '%s, gives each client its own limit, regardless of forged headers',
    async (_, options, change) => {
      const { send } = await startKeyed({ quota: 5, ...options }, change)
      for (const [client, from] of CLIENTS_AT.entries()) {
        const statuses: unknown[] = []
        for (let index = 0; index < 8; index += 1) {
          const address = `203.0.${index}.${client}`
          const forwarded = index % 2 ? `for=${address}` : `for="${address}:80";by=", for=[::1]`
          const forged = {
            'x-forwarded-for': `127.0.0.1, ${address}`,
            'x-real-ip': '::1',
            forwarded,
          }
          // Each is a request of the app: no cache has its response.
          const target = `/api/v1/convert?from=USD&to=EUR&amount=${client}${index}`
          statuses.push((await send(target, forged, from)).statusCode)
        }
        expect(statuses).toEqual([...Array(5).fill(200), ...Array(3).fill(429)])
      }
    },
  )

  it('without trustedProxies, gives all clients one limit', async () => {
    const { send } = await startKeyed({ quota: 5 })
    const statuses: unknown[] = []
    for (let index = 0; index < 10; index += 1) {
      const target = `/api/v1/convert?from=USD&to=EUR&amount=${index}`
      statuses.push((await send(target, {}, CLIENTS_AT[index % 4])).statusCode)
    }
    expect(statuses).toEqual([...Array(5).fill(200), ...Array(5).fill(429)])
  })
})

it('serves the files of an export for ever, and the index for a minute', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'rates/days'), { recursive: true })
  const files = ['index.json', 'latest.json', 'latest.1a2b3c4d.json', 'days/2026.1a2b3c4d.csv']
  for (const name of files) writeFileSync(join(folder, 'rates', name), 'text')
  const configuration = documentedConfiguration('docs/recipes/files-on-a-cdn.md', 'immutable')
  const url = await startNginx(replace(configuration, '/srv', folder), folder)
  const cached = files.map(async (name) => {
    const { headers } = await fetch(`${url}/rates/${name}`)
    return [headers.get('content-type'), headers.get('cache-control')]
  })
  expect(await Promise.all(cached)).toEqual([
    ['application/json', 'public, max-age=60'],
    ['application/json', 'public, max-age=60'],
    ['application/json', 'public, max-age=31536000, immutable'],
    ['text/csv', 'public, max-age=31536000, immutable'],
  ])
  const missing = await fetch(`${url}/rates/days/2026.deadbeef.csv`)
  expect([missing.status, missing.headers.get('cache-control')]).toEqual([404, null])
})
