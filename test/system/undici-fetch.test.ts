import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'

import { MockAgent } from 'undici'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { createUndiciFetch } from '../../src/undici.ts'
import type { UndiciFetchOptions } from '../../src/undici.ts'
import { createExchangeRateApiProvider, createRatesHandler } from '../../src/index.ts'
import type { RatesEvent } from '../../src/index.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { OPENSSL_IS_MISSING, makeCertificate } from './certificate.ts'
import { upstreams } from './commands.ts'
import { listen, requireProgram, run, temporaryFolder } from './processes.ts'
import { openProxy } from './proxy.ts'
import { findBun } from './runtimes.ts'
import { freePort, listenOnFreePort } from './sockets.ts'

const PROXY_VARIABLES = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY']
const NAMES = [...PROXY_VARIABLES, ...PROXY_VARIABLES.map((name) => name.toLowerCase())]

/** Must not appear anywhere, also not encoded for a header. */
const PASSWORD = 'geheim'
const SECRET: RegExp = new RegExp(`${PASSWORD}|${btoa(`user:${PASSWORD}`)}`)

const now = Date.UTC(2026, 10, 20, 18)
const range = { start: '2021-11-06', end: '2026-11-20' }
const LATEST = '/v6/latest/USD'
const HISTORY = `/v1/${range.start}..${range.end}`

beforeEach(() => {
  for (const name of NAMES) vi.stubEnv(name, undefined)
  return () => vi.unstubAllEnvs()
})

const upstream = upstreams(openErApiPayload({ now: Date.now() }))

/** Starts a server that accepts connections and never responds; `sockets` are its open connections. */
async function openSilence() {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    socket.resume()
  })
  const port = await listenOnFreePort(server)
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { host: `127.0.0.1:${port}`, sockets }
}

/** Requests latest rates from `root`; returns the status and the reason of a failure. */
async function requestLatest(root: string, fetch: typeof globalThis.fetch) {
  const events: RatesEvent[] = []
  const handler = createRatesHandler({
    fetch,
    providers: { latest: createExchangeRateApiProvider({ url: root }) },
    onEvent: (event) => events.push(event),
  })
  const response = await handler(new Request('http://localhost/api/v1/latest'))
  expect((await response.text()) + inspect(events, { depth: 20 })).not.toMatch(SECRET)
  const failures = events.filter((event) => event.type === 'upstream_failed')
  return [response.status, ...failures.slice(0, 1).map(({ reason }) => reason)]
}

async function requestThrough(root: string, options?: UndiciFetchOptions) {
  return requestLatest(root, await createUndiciFetch(options))
}

it('gets both data sets from their hosts, compressed or not, and follows no redirect itself', async () => {
  const network = new MockAgent()
  network.disableNetConnect()
  onTestFinished(() => network.close())
  const fetch = await createUndiciFetch({ dispatcher: network })
  const hosts = ['https://open.er-api.com', 'https://www.exchangerate-api.com']
  const [first, second] = hosts.map((host) => network.get(host).intercept({ path: LATEST }))
  first?.reply(301, '', { headers: { location: `${hosts[1]}${LATEST}` } })
  const headers = { 'content-encoding': 'gzip' }
  second?.reply(200, gzipSync(openErApiPayload({ now })), { headers })
  network
    .get('https://api.frankfurter.dev')
    .intercept({ path: HISTORY })
    .reply(200, frankfurterPayload({ ...range, now }))
  const { rates } = createRatesHandler({ fetch, now: () => now })
  expect(Object.keys((await rates.latest()).rates)).toHaveLength(166)
  expect((await rates.history({ from: 'USD', to: 'JPY' })).points.length).toBeGreaterThan(20)
  network.assertNoPendingInterceptors()
  const leaving = network.get('https://open.er-api.com').intercept({ path: LATEST })
  leaving.reply(301, '', { headers: { location: `https://evil.example${LATEST}` } })
  const refused = await requestLatest('https://open.er-api.com', fetch)
  expect(refused).toEqual([502, expect.stringMatching(/\bredirect.*\btrusted\b/)])
})

describe('a proxy', () => {
  // serve.test.ts covers the other variables.
  it('in HTTP_PROXY gets plain calls, with its credentials', async () => {
    const { url } = await listen(upstream)
    const proxy = await openProxy()
    vi.stubEnv('HTTP_PROXY', `http://user:${PASSWORD}@${proxy.host}`)
    expect(await requestThrough(url)).toEqual([200])
    expect(proxy.requests).toEqual([`GET ${url}${LATEST}`])
    expect(proxy.credentials).toEqual([`Basic ${btoa(`user:${PASSWORD}`)}`])
  })

  it('of the environment is ignored if proxy is a URL, or false', async () => {
    const { url } = await listen(upstream)
    const [inEnvironment, own] = [await openProxy(), await openProxy()]
    vi.stubEnv('HTTP_PROXY', `http://${inEnvironment.host}`)
    for (const proxy of [`http://${own.host}`, false] as const) {
      expect(await requestThrough(url, { proxy })).toEqual([200])
    }
    expect([inEnvironment.requests, own.requests.length]).toEqual([[], 1])
  })

  it.skipIf(OPENSSL_IS_MISSING)(
    'opens tunnels for https, and trusts the certificates that Node trusts',
    async () => {
      const hosts = ['DNS:open.er-api.com', 'DNS:api.frankfurter.dev']
      const { key, cert } = makeCertificate(temporaryFolder(), 'upstream', hosts)
      const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, upstream)
      const tunnelPort = await listenOnFreePort(server)
      onTestFinished(() => void server.close())
      const proxy = await openProxy({ tunnelPort })
      const env = { HTTPS_PROXY: `http://${proxy.host}` }
      const program = ['test/system/undici-program.ts']
      const trusting = { ...env, NODE_EXTRA_CA_CERTS: cert }
      const { stdout, stderr } = await run(process.execPath, program, { env: trusting })
      expect(stderr).toBe('')
      expect(JSON.parse(stdout)).toEqual({
        statuses: [200, 200],
        outcomes: ['latest loaded', 'history loaded'],
      })
      expect(proxy.requests).toEqual([
        'CONNECT open.er-api.com:443',
        'CONNECT api.frankfurter.dev:443',
      ])
      const untrusting = await run(process.execPath, program, { env })
      expect(JSON.parse(untrusting.stdout)).toEqual({
        statuses: [502, 502],
        outcomes: [
          expect.stringMatching(/^latest failed: .*\bopen\.er-api\.com\b.*\bcertificate\b/),
          expect.stringMatching(/^history failed: .*\bapi\.frankfurter\.dev\b.*\bcertificate\b/),
        ],
      })
    },
  )

  it.each(['http', 'https'])(
    'that is down, refuses or does not respond causes a 502, with an upstream of %s',
    async (scheme) => {
      const [refusing, silent] = [await openProxy({ status: 407 }), await openSilence()]
      const attempt = (host: string, timeouts = {}) =>
        requestThrough(`${scheme}://upstream.example`, {
          proxy: `http://user:${PASSWORD}@${host}`,
          timeouts,
        })
      const down = await attempt(`127.0.0.1:${await freePort()}`)
      expect(down).toEqual([502, expect.stringContaining('ECONNREFUSED')])
      expect(await attempt(refusing.host)).toEqual([502, expect.stringContaining('407')])
      expect(refusing.requests).toHaveLength(1)
      const outcome = attempt(silent.host, { headers: 100 })
      await expect.poll(() => silent.sockets.size).toBe(1)
      expect(await outcome).toEqual([502, expect.stringMatching(/UND_ERR_HEADERS_TIMEOUT/)])
      await expect.poll(() => silent.sockets.size).toBe(0)
    },
  )
})

describe('limits', () => {
  it('apply to connecting, and to a stalled body', async () => {
    const { host, sockets } = await openSilence()
    const timeouts = { connect: 100 }
    const outcome = requestThrough(`https://${host}`, { proxy: false, timeouts })
    await expect.poll(() => sockets.size).toBe(1)
    expect(await outcome).toEqual([502, expect.stringMatching(/UND_ERR_CONNECT_TIMEOUT/)])
    const { url } = await listen((_, response) => void response.write('{"result":'))
    const stalled = await requestThrough(url, { proxy: false, timeouts: { body: 100 } })
    expect(stalled).toEqual([502, expect.stringContaining('UND_ERR_BODY_TIMEOUT')])
  })

  it('apply to the number of connections', async () => {
    const sockets = new Set<Socket>()
    const waiting: (() => void)[] = []
    const { url } = await listen((request, response) => {
      sockets.add(request.socket)
      waiting.push(() => response.end('done'))
      // At most two requests arrive at a time, and both are needed to continue.
      if (waiting.length === 2) for (const respond of waiting.splice(0)) respond()
    })
    const fetch = await createUndiciFetch({ proxy: false, connections: 2 })
    const responses = Array.from({ length: 6 }, async () => (await fetch(url)).text())
    expect(await Promise.all(responses)).toEqual(Array(6).fill('done'))
    expect(sockets.size).toBe(2)
  })
})

describe('the function', () => {
  it('accepts the arguments of fetch, including a Request of Node', async () => {
    const { url } = await listen((request, response) => {
      const parts = [request.method, request.headers['x-name']]
      request.on('data', (part: Buffer) => parts.push(part.toString()))
      request.on('end', () => response.end(JSON.stringify(parts)))
    })
    const fetch = await createUndiciFetch({ proxy: false })
    const init = { method: 'POST', headers: { 'x-name': 'one' }, body: 'text' }
    const responses = [
      fetch(url, init),
      fetch(new URL(url), init),
      fetch(new Request(url, init)),
      fetch(new Request(url, init), { headers: { 'x-name': 'two' } }),
    ]
    const bodies = responses.map(async (outcome) => (await outcome).json())
    const one = ['POST', 'one', 'text']
    expect(await Promise.all(bodies)).toEqual([one, one, one, ['POST', 'two', 'text']])
  })

  it('throws on Bun, where undici would bypass every proxy', async ({ skip }) => {
    const bun = findBun() ?? ''
    requireProgram('Bun', bun, skip)
    const stderr = expect.stringMatching(/\bundici\b.*\bBun\b/)
    expect(await run(bun, ['test/system/undici-program.ts'])).toMatchObject({ code: 1, stderr })
  })

  it('aborts a call by its signal', async () => {
    const { host, sockets } = await openSilence()
    const fetch = await createUndiciFetch({ proxy: false })
    const controller = new AbortController()
    const call = fetch(`http://${host}`, controller)
    await expect.poll(() => sockets.size).toBe(1)
    controller.abort(new Error('enough'))
    await expect(call).rejects.toThrow('enough')
    await expect.poll(() => sockets.size).toBe(0)
  })

  it.each<[RegExp, object]>([
    [/^proxy must be .*\bURL\b/, { proxy: `http://user:${PASSWORD}@` }],
    [/^proxy must be .*\bURL\b/, { proxy: `user:${PASSWORD}@localhost:3128` }],
    [/^proxy must be .*\bURL\b/, { proxy: '' }],
    [/^proxy must be .*\bURL\b/, { proxy: true }],
    [/^connections must be .*\b1\b.*\b0$/, { connections: 0 }],
    [/^timeouts must be .*\bobject\b/, { timeouts: 5_000 }],
    [/^timeouts\.connect must be .*\bInfinity$/, { timeouts: { connect: Infinity } }],
    [/^timeouts\.headers must be .*\b0\.5$/, { timeouts: { headers: 0.5 } }],
    [/^timeouts\.body must be .*\b0\b.*\b5s\b/, { timeouts: { body: '5s' } }],
    [/^dispatcher must .*\bdispatch\b/, { dispatcher: {} }],
    [/^dispatcher (?!.*\bdispatch\b)/, { dispatcher: new MockAgent(), proxy: false }],
  ])('throws for invalid options: %s', async (message, options) => {
    const error: unknown = await createUndiciFetch(options).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(TypeError)
    expect(Object(error).message).toMatch(message)
    expect(inspect(error, { depth: 20 })).not.toMatch(SECRET)
  })
})
