import { mkdirSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'

import { beforeEach, describe, expect, it } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import type { RatesHandlerOptions } from 'ratesmith'
import { toNodeHandler } from 'ratesmith/node'
import { fakeProviders } from 'ratesmith/testing'

import { rootOf, serve } from './commands.ts'
import { NGINX, documentedConfiguration, openCache, replace, startNginx } from './nginx.ts'
import { listen, requireProgram, temporaryFolder } from './processes.ts'
import { BUN } from './runtimes.ts'

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
  { cookie: 'session=1', authorization: 'Bearer token' },
  { 'user-agent': 'curl/8', 'accept-language': 'de' },
  { 'cache-control': 'no-cache', pragma: 'no-cache' },
  { 'if-modified-since': 'Fri, 20 Nov 1998 15:00:00 GMT' },
]

function lasting({ headers }: { headers: Headers }): [string, string][] {
  return [...headers].filter(([name]) => !/^(date|(x-)?cache-status)$/.test(name))
}

const now = (): number => Date.UTC(2026, 10, 20, 18)
const market = fakeProviders({ now })
const withoutData = {
  ...market.latest,
  fetchLatest: () => Promise.reject(new Error('no data')),
}
const APPS = {
  good: { providers: market },
  republished: { providers: fakeProviders({ seed: 2, now }) },
  withoutData: { providers: { latest: withoutData } },
} satisfies Record<string, RatesHandlerOptions>

/** Starts an app behind nginx with the documented configuration, changed by `change`; both end with the test. */
async function startProxiedApp(change = (configuration: string): string => configuration) {
  const requests: { method: string; target: string; ifNoneMatch: string | null }[] = []
  let listener: RequestListener
  const become = (name: keyof typeof APPS): void => {
    listener = toNodeHandler(createRatesHandler({ ...APPS[name], now }))
  }
  become('good')
  const app = await listen((request, response) => {
    const { method = '', url: target = '', headers } = request
    requests.push({ method, target, ifNoneMatch: headers['if-none-match'] ?? null })
    listener(request, response)
  })
  const folder = temporaryFolder()
  const cache = join(folder, 'cache')
  const configuration = replace(
    documentedConfiguration('docs/api.md'),
    '/var/cache/ratesmith',
    cache,
  )
  const url = await startNginx(
    change(replace(configuration, 'http://127.0.0.1:8787', app.url)),
    folder,
  )
  const { kept, makeOlder, unfinished } = openCache(cache)
  return {
    requests,
    become,
    hang: (): void => void (listener = () => {}),
    kill: app.close,
    /** Sends a request through nginx; `from` is its cache status. A response may arrive before it is stored. */
    async send(target: string, init?: RequestInit) {
      const response = await fetch(url + target, init)
      const { status, headers } = response
      const body = await response.text()
      await expect.poll(unfinished, { timeout: 20_000, interval: 10 }).toEqual([])
      return { status, from: headers.get('x-cache-status'), headers, body }
    },
    kept,
    makeOlder,
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
  it('is served once more while nginx refreshes it', async () => {
    const { send, requests, become, makeOlder } = await startProxiedApp()
    const { body: old } = await send(LATEST)
    become('republished')
    makeOlder(A_MOMENT_LATE)
    expect(await send(LATEST)).toMatchObject({ status: 200, from: 'STALE', body: old })
    const next = async (): Promise<string> => (await send(LATEST)).body
    await expect.poll(next, { timeout: 20_000 }).not.toBe(old)
    expect(await send(LATEST)).toMatchObject({ status: 200, from: 'HIT' })
    expect(requests).toHaveLength(2)
  })

  it('is renewed by a 304 of the app', async () => {
    const { send, requests, kept, makeOlder } = await startProxiedApp()
    const { body, headers } = await send(LATEST)
    makeOlder(HOURS_LATE)
    expect(await send(LATEST)).toMatchObject({ status: 200, from: 'REVALIDATED', body })
    expect(requests).toMatchObject([{ ifNoneMatch: null }, { ifNoneMatch: headers.get('etag') }])
    expect(kept()).toEqual([MINUTE])
    expect(await send(LATEST)).toMatchObject({ status: 200, from: 'HIT', body })
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

  it.each([
    ['a newer 200', 'republished', 200],
    ['a 502 of the app', 'withoutData', 502],
  ] as const)('is replaced after hours by %s', async (_, cause, status) => {
    const { send, requests, become, makeOlder } = await startProxiedApp()
    const { body: old } = await send(LATEST)
    become(cause)
    makeOlder(HOURS_LATE)
    const seen = await send(LATEST)
    expect(seen).toMatchObject({ status, from: 'EXPIRED' })
    expect(seen.body).not.toBe(old)
    expect(requests).toHaveLength(2)
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
    let configuration = documentedConfiguration('docs/api.md', 'upstream ')
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
