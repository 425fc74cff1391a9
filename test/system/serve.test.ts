// What depends on the runtime, with the built command. test/smoke/serve.test.ts has the rest.
import { execFileSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { get as getSecurely } from 'node:https'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { buffer, text as textOf } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'

import { createFileStore } from '../../src/stores/file.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { OPENSSL_IS_MISSING, makeCertificate } from './certificate.ts'
import {
  CLI,
  expectRefused,
  installAlone,
  piped,
  rootOf,
  serve,
  serveCommand,
  serveForSuite,
  startUpstreams,
  upstreams,
} from './commands.ts'
import { writeConfig } from './config-file.ts'
import {
  describeRuntimes,
  launch,
  requireProgram,
  run,
  start,
  temporaryFolder,
} from './processes.ts'
import { openProxy } from './proxy.ts'
import { REDIS_IS_MISSING, sendToRedis, startRedis } from './redis-server.ts'
import { DENO, ROOT, RUNTIMES } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'
import { freePort, listenOnFreePort, openSocket, portIn } from './sockets.ts'

const WITHIN = { timeout: 30_000 }
const LATEST = '/api/v1/latest?base=EUR'
const VARIABLES = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']

/** Removes the machine's proxy variables, so that only those of a test count. */
const BARE: NodeJS.ProcessEnv = Object.fromEntries(
  VARIABLES.flatMap((name) => [name, name.toLowerCase()]).map((name) => [name, undefined]),
)

async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  return (await fetch(url, { headers })).status
}

function isRefused(url: string): Promise<boolean> {
  const response = fetch(url, { signal: AbortSignal.timeout(1_000) })
  return response.then(() => false).catch(() => true)
}

async function send(url: string, coding: string, agent: Agent | false = false) {
  const outgoing = request(url, { headers: { 'accept-encoding': coding }, agent }).end()
  const [response]: [IncomingMessage] = Object(await once(outgoing, 'response'))
  const { headers, statusCode: status } = response
  return { status, headers, body: await buffer(response) }
}

/** Serves over HTTPS, and resolves when it has closed the connections of stalled clients and stopped. */
async function tryStalledClients(runtime: Runtime, folder: string): Promise<number | null> {
  const { key, cert } = makeCertificate(folder, runtime[0], ['IP:127.0.0.1'])
  const config = join(folder, `${runtime[0]}.ts`)
  writeFileSync(
    config,
    `import { readFileSync } from 'node:fs'
    const [key, cert] = ['${key}', '${cert}'].map((path) => readFileSync(path, 'utf8'))
    export default {}
    export const server = { tls: { key, cert } }`,
  )
  const running = launch(...serveCommand([config, '--demo'], {}, runtime))
  ofStalled.push(running.process)
  const root = await rootOf(running)
  const ca = readFileSync(cert)
  const [response] = await once(getSecurely(root + LATEST, { ca }), 'response')
  expect(await textOf(response)).toContain('Synthetic')
  const openTrusted = async () => {
    const socket = connect({ port: portIn(root), host: '127.0.0.1', ca }).on('error', () => {})
    await once(socket, 'secureConnect')
    return socket
  }
  // Deno.serve has no such limit: put a proxy in front.
  const count = runtime === DENO ? 0 : 4
  const beginnings = ['', Buffer.from('16030100f8010000f40303', 'hex'), '', 'GET / HTTP/1.1\r\n']
  const closed = beginnings.slice(0, count).map(async (beginning, index) => {
    const socket = await (index < 2 ? openSocket(portIn(root)) : openTrusted())
    socket.write(beginning)
    if (!socket.closed) await once(socket.resume(), 'close')
  })
  await Promise.all(closed)
  return running.end()
}

// They stall for 10 s, during the other tests.
let stalled: Promise<(number | null)[]> | undefined
const ofStalled: ChildProcess[] = []
const folder = temporaryFolder(afterAll)
beforeAll(() => {
  const runtimes = RUNTIMES.filter(([, program]) => !OPENSSL_IS_MISSING && existsSync(program))
  stalled = Promise.all(runtimes.map(async (runtime) => tryStalledClients(runtime, folder)))
  stalled.catch(() => undefined)
  return () => ofStalled.forEach((child) => child.kill('SIGKILL'))
})

describeRuntimes('ratesmith serve', (runtime) => {
  const [name, program, ...parameters] = runtime
  const demo = serveForSuite([], runtime)
  const words = (...args: string[]): string[] => [...parameters, CLI, 'serve', ...args]

  /** Starts a server with a pending request, which waits for its upstream until `release` is called. */
  async function startPendingRequest() {
    const requested = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const gate = (): Promise<void> => (requested.resolve(), released.promise)
    const { env } = await startUpstreams(upstreams(openErApiPayload({ now: Date.now() }), gate))
    const running = serve([], env, runtime)
    const root = await rootOf(running)
    const pending = fetch(`${root}/api/rates`)
    // Not every test awaits it.
    pending.catch(() => undefined)
    await requested.promise
    return { running, root, pending, release: released.resolve }
  }

  it.each(['SIGTERM', 'SIGINT'] as const)('finishes its response on %s', async (signal) => {
    const { running, root, pending, release } = await startPendingRequest()
    running.process.kill(signal)
    await expect.poll(() => isRefused(root), WITHIN).toBe(true)
    release()
    const response = await pending
    expect(response.status).toBe(200)
    expect(Object.keys(Object(await response.json()).rates)).toHaveLength(166)
    expect(await running.exited).toBe(0)
    expect(running.stderr).not.toMatch(/"level":"(warn|error)"/)
  })

  it('ends immediately on a second signal, even a different one', async () => {
    const { running, root, pending } = await startPendingRequest()
    running.process.kill('SIGTERM')
    await expect.poll(() => isRefused(root), WITHIN).toBe(true)
    running.process.kill('SIGINT')
    await expect(pending).rejects.toThrow(TypeError)
    expect(await running.exited).not.toBe(0)
  })

  it('serves and stops with a named pipe as a store file, and a client that stays connected', async () => {
    const folder = temporaryFolder()
    await createFileStore(folder).set('rates:v1:latest', '', Infinity)
    const path = join(folder, readdirSync(folder)[0] ?? '')
    rmSync(path)
    execFileSync('mkfifo', [path])
    const { env } = await startUpstreams()
    const running = serve(['--store', folder], env, runtime)
    const root = await rootOf(running)
    const agent = new Agent({ keepAlive: true })
    expect((await send(`${root}/api/rates`, 'br', agent)).status).toBe(200)
    const stoppedAt = performance.now()
    expect(await running.end()).toBe(0)
    expect(performance.now() - stoppedAt).toBeLessThan(10_000)
    agent.destroy()
  })

  it('compresses a response with the coding that the client accepts', async () => {
    const uncoded = await send(demo.root + LATEST, 'identity')
    expect(uncoded.headers['content-encoding']).toBeUndefined()
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync }
    for (const [coding, decode] of Object.entries(decoders)) {
      const { headers, body } = await send(demo.root + LATEST, coding)
      expect(headers).toMatchObject({
        'content-encoding': coding,
        vary: 'Accept-Encoding',
        etag: `W/${uncoded.headers.etag}`,
        'content-length': String(body.byteLength),
      })
      expect(decode(body).equals(uncoded.body)).toBe(true)
    }
    expect(await (await fetch(demo.root)).text()).toContain('<title>')
  })

  it('exits with 1 and one line for a port in use', async () => {
    const port = String(portIn(demo.root))
    const line = new RegExp(`^ratesmith: [^\\n]*\\b${port}\\b[^\\n]*--port\\b[^\\n]*\\n$`)
    const ran = await run(program, words('--demo', '--port', port))
    expect(ran).toMatchObject({ code: 1, stderr: expect.stringMatching(line) })
  })

  it.each([
    ["import './missing.ts'", ['config.ts', 'missing']],
    ['export default {\n  cors: ,\n}', ['config.ts']],
    // The stacks of Bun have other lines. A timer does not keep the process open.
    [
      "setInterval(() => {}, 1_000)\nthrow new TypeError('first\\nsecond')",
      [name === 'Bun' ? 'config.ts' : 'config.ts:2: ', 'first; second'],
    ],
  ])('exits with 2 and one line for %s', async (text, facts) => {
    expectRefused(await run(program, words('--port', '0', writeConfig(text))), ...facts)
  })

  it('serves a config file with keys of the command, and logs no key', async () => {
    const file = join(temporaryFolder(), 'keys.json')
    const args = ['keys', 'create', '--keys', file, '--plan', 'pro', '--name', 'acme']
    const key = (await piped(runtime, args)).stdout.trim()
    const plans = "{ pro: '600/min, 100000/month' }"
    const config = writeConfig(`
      import { createAccess } from 'ratesmith/access'
      import { createFileKeyStore } from 'ratesmith/access/file'
      export default {
        access: createAccess({ keys: createFileKeyStore('${file}'), plans: ${plans} }),
      }
      export const server = { metrics: true, accessLog: true }`)
    const running = serve([config, '--demo'], {}, runtime)
    const url = (await rootOf(running)) + LATEST
    expect([await statusOf(url), await statusOf(url, { 'x-api-key': `${key}_` })]).toEqual([
      401, 401,
    ])
    const served = await fetch(`${url}&access_key=${key}`, { headers: { 'x-api-key': key } })
    expect(served.headers.get('ratelimit-policy')).toBe('"burst";q=600;w=60, "month";q=100000')
    expect(await (await fetch(new URL('/metrics', url))).text()).toContain('status="200"} 1\n')
    await running.written(/"status":200/)
    expect(await running.end()).toBe(0)
    expect(running.stderr).toContain('"event":"access_refused"')
    expect(running.stdout + running.stderr).not.toMatch(new RegExp(`${key}|127.0.0.1"`))
  })

  describe('behind a proxy', () => {
    async function requestThrough(env: NodeJS.ProcessEnv) {
      const running = serve([], { ...BARE, ...env }, runtime)
      const response = await fetch(`${await rootOf(running)}/api/rates`)
      return { status: response.status, all: (await response.text()) + running.stderr }
    }
    it('fetches http upstreams through it, but for hosts in NO_PROXY', async () => {
      const { host, requests } = await openProxy()
      const { env } = await startUpstreams()
      const proxies = { ...env, http_proxy: `http://${host}` }
      expect((await requestThrough({ ...proxies, NO_PROXY: '127.0.0.1' })).status).toBe(200)
      expect(requests).toEqual([])
      expect((await requestThrough(proxies)).status).toBe(200)
      expect(requests).toEqual([`GET ${env.RATESMITH_LATEST_URL}/v6/latest/USD`])
    })

    it('fetches https upstreams through it', async () => {
      const { host, requests } = await openProxy({ status: 403 })
      const upstream = `127.0.0.1:${await freePort()}`
      const env = { RATESMITH_LATEST_URL: `https://${upstream}`, HTTPS_PROXY: `http://${host}` }
      expect((await requestThrough(env)).status).toBe(502)
      expect(requests).toEqual([`CONNECT ${upstream}`])
    })

    it('prints no password of a proxy that is down', async () => {
      const HTTP_PROXY = `http://someone:hidden@127.0.0.1:${await freePort()}`
      const RATESMITH_LATEST_URL = 'http://127.0.0.1:9'
      const { status, all } = await requestThrough({ RATESMITH_LATEST_URL, HTTP_PROXY })
      expect([status, all.includes('"event":"upstream_failed"')]).toEqual([502, true])
      expect(all).not.toContain('hidden')
    })
  })

  describe('with Redis', () => {
    beforeEach(({ skip }) => skip(REDIS_IS_MISSING, 'redis-server is not installed'))

    const startOwnRedis = async (port?: number) => {
      const server = await startRedis(port)
      onTestFinished(server.kill)
      return server
    }

    it('shares one upstream call with other servers, and disconnects when it stops', async () => {
      const { env, calls } = await startUpstreams()
      const { port, url } = await startOwnRedis()
      const visit = async (args: string[], more: NodeJS.ProcessEnv) => {
        const running = serve(args, { ...env, ...more }, runtime)
        const body = await (await fetch(`${await rootOf(running)}/api/rates`)).text()
        await expect.poll(() => sendToRedis(port, 'EXISTS rates:v1:latest'), WITHIN).toBe(':1\r\n')
        expect(await running.end()).toBe(0)
        expect(running.stderr).not.toContain('"level":"error"')
        return { body, log: running.stderr }
      }
      const first = await visit(['--store', url], {})
      let second = first
      // The store has a time limit of 50 ms: on a busy machine, a server calls its upstream, and logs the reason.
      for (let tries = 0; tries < 20 && !second.log.includes('rates_restored'); tries += 1) {
        const callsBefore = calls.length
        second = await visit([], { RATESMITH_STORE: url })
        expect(calls.length === callsBefore || second.log.includes('store_failed')).toBe(true)
      }
      expect(second.body).toBe(first.body)
    })

    it('starts and serves without it, and uses it when it becomes available', async () => {
      const { env } = await startUpstreams()
      const port = await freePort()
      const running = serve(['--store', `redis://127.0.0.1:${port}`], env, runtime)
      const root = await rootOf(running)
      expect(await statusOf(`${root}/api/rates`)).toBe(200)
      expect(running.stderr).toMatch(
        /"event":"store_failed","reason":"[^"]*(ECONNREFUSED|onnection)/,
      )
      await startOwnRedis(port)
      // The first command of a client, before those of the server.
      const clients = (): Promise<string> => sendToRedis(port, 'CLIENT LIST')
      await expect.poll(clients, WITHIN).toMatch(/cmd=(info|hello) /)
      // Redis replied to that command before this request arrives at the server.
      await fetch(`${root}/api/rates`)
      expect(await statusOf(`${root}/api/v1/history?from=USD&to=EUR`)).toBe(200)
      await expect.poll(() => sendToRedis(port, 'EXISTS rates:v1:history'), WITHIN).toBe(':1\r\n')
      expect(await running.end()).toBe(0)
    })

    it('starts, serves and stops while it hangs, and logs no password', async () => {
      const { env } = await startUpstreams()
      const silent = createServer()
      const port = await listenOnFreePort(silent)
      onTestFinished(() => void silent.close())
      const running = serve(['--store', `redis://someone:hidden@127.0.0.1:${port}`], env, runtime)
      expect(await statusOf(`${await rootOf(running)}/api/rates`)).toBe(200)
      await expect.poll(() => running.stderr, WITHIN).toContain('"event":"store_failed"')
      expect(await running.end()).toBe(0)
      expect(running.stdout + running.stderr).not.toContain('hidden')
    })
  })
})

it('ends by a signal on Node while its disk hangs', async () => {
  // Other runtimes do not wait for their threads at the end.
  const folder = temporaryFolder()
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  // Like a network file system that is gone, where even stat() never returns.
  const hanging = `import fs from 'node:fs/promises'
    import { syncBuiltinESMExports } from 'node:module'
    fs.stat = () => fs.open(${JSON.stringify(pipe)})
    syncBuiltinESMExports()`
  writeFileSync(join(folder, 'hanging.mjs'), hanging)
  const { env } = await startUpstreams()
  const NODE_OPTIONS = `--import=${join(folder, 'hanging.mjs')}`
  const running = serve(['--store', folder], { ...env, NODE_OPTIONS })
  expect(await statusOf(`${await rootOf(running)}/api/rates`)).toBe(200)
  const stoppedAt = performance.now()
  expect([await running.end('SIGINT'), running.process.signalCode]).toEqual([null, 'SIGINT'])
  expect(performance.now() - stoppedAt).toBeLessThan(10_000)
})

it('continues when the reader of its log has exited', async () => {
  const running = serve([], { ...BARE, RATESMITH_LATEST_URL: 'http://127.0.0.1:9' })
  const root = await rootOf(running)
  running.process.stderr.destroy()
  for (let time = 0; time < 3; time += 1) expect(await statusOf(`${root}/api/rates`)).toBe(502)
  expect(running.process.exitCode).toBeNull()
})

it('listens again on Deno after more clients than file descriptors', async ({ skip }) => {
  const [name, program, ...flags] = DENO
  requireProgram(name, program, skip)
  const command = ['ulimit -n 100; exec "$0" "$@"', program, ...flags, CLI, 'serve', '--demo']
  const root = await rootOf(start('sh', ['-c', ...command, '--port', '0']))
  const sockets = await Promise.all(Array.from({ length: 200 }, () => openSocket(portIn(root))))
  await expect.poll(() => isRefused(root), WITHIN).toBe(true)
  for (const socket of sockets) socket.destroy()
  await expect.poll(() => isRefused(root), WITHIN).toBe(false)
  expect(await statusOf(root + LATEST)).toBe(200)
})

let installed: string | undefined
const alone = (): string => (installed ??= installAlone(folder))

it.each([
  [{ HTTPS_PROXY: 'http://127.0.0.1:9' }, [], ['HTTPS_PROXY', 'npm install undici']],
  [{}, ['--store', 'redis://127.0.0.1:9'], ['--store', 'npm install ioredis']],
])('exits with 2 and names the package to install: %j %j', async (env, args, facts) => {
  const surroundings = { env: { ...BARE, ...env } }
  expectRefused(await run(process.execPath, [alone(), 'serve', ...args], surroundings), ...facts)
})

it.each([
  [['--demo'], { HTTPS_PROXY: 'http://127.0.0.1:9' }],
  [[], { HTTP_PROXY: 'http://127.0.0.1:9' }],
])('starts without undici if no proxy is needed: %j %j', async (args, env) => {
  const flags = [alone(), 'serve', '--port', '0', ...args]
  const running = start(process.execPath, flags, { env: { ...BARE, ...env } })
  expect(await rootOf(running)).toMatch(/^http:/)
})

it('over HTTPS, disconnects clients that stall in the handshake or in the request headers', async ({
  skip,
}) => {
  skip(OPENSSL_IS_MISSING, 'openssl is not installed')
  expect(new Set(await stalled)).toEqual(new Set([0]))
})

describe('an example of a config file', () => {
  const example = (name: string): string => join(ROOT, 'examples', name)

  async function createKey(): Promise<{ file: string; key: string }> {
    const file = join(temporaryFolder(), 'keys.json')
    const args = ['keys', 'create', '--plan', 'pro', '--name', 'acme', '--keys', file]
    return { file, key: (await run(process.execPath, [CLI, ...args])).stdout.trim() }
  }

  it('serves a public API with keys behind a proxy, and does not start without their file', async () => {
    const { file, key } = await createKey()
    const config = example('serve-public.ts')
    const running = serve([config, '--demo'], { RATESMITH_KEYS: file })
    const root = await rootOf(running)
    const url = `${root}/api/v1/status`
    const keyed = await fetch(url, { headers: { 'x-api-key': key } })
    expect(keyed.headers.get('ratelimit-policy')).toBe('"burst";q=600;w=60, "month";q=100000')
    for (const client of ['192.0.2.1', '192.0.2.2']) {
      const all = Array.from({ length: 61 }, () => statusOf(url, { 'x-forwarded-for': client }))
      const statuses = await Promise.all(all)
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(60)
      expect(statuses).toContain(429)
    }
    expect(await (await fetch(`${root}/metrics`)).text()).toMatch(/ratesmith_limits_reached_total/)
    await running.end()
    expect(running.stdout).toMatch(/^\{.*"path":"\/api\/v1\/status","status":429,.*\}$/m)
    expect(running.stdout).not.toMatch(/192\.0\.2|are not limited|The terms of/)
    const env = { RATESMITH_KEYS: join(temporaryFolder(), 'none.json') }
    expectRefused(await run(process.execPath, [CLI, 'serve', config], { env }), 'none.json')
  })

  it('serves the paths of other services, and a new one', async () => {
    const root = await rootOf(serve([example('serve-compat.ts'), '--demo']))
    const bodyOf = async (path: string) => (await fetch(`${root}${path}`)).json()
    expect(await bodyOf('/v1/latest?symbols=USD')).toMatchObject({ amount: 1, base: 'EUR' })
    expect(await bodyOf('/latest?symbols=USD')).toMatchObject({ success: true, base: 'EUR' })
    expect(await bodyOf('/api/latest.json')).toMatchObject({ base: 'USD' })
    expect(await bodyOf('/price/EUR')).toEqual({ price: expect.stringMatching(/^\d+\.\d\d$/) })
    expect(await bodyOf('/price/XYZ')).toMatchObject({ error: { code: 'invalid_currency' } })
  })

  it.skipIf(REDIS_IS_MISSING)(
    'serves a fleet that shares rates and counters in Redis',
    async () => {
      const { file, key } = await createKey()
      const redis = await startRedis()
      onTestFinished(() => redis.kill())
      const { env, calls } = await startUpstreams()
      const own = { ...env, REDIS_URL: redis.url, RATESMITH_KEYS: file }
      const bodyOf = async (root: string): Promise<string> =>
        (await fetch(`${root}/api/v1/latest`, { headers: { 'x-api-key': key } })).text()
      const first = await rootOf(serve([example('serve-fleet.ts')], own))
      const body = await bodyOf(first)
      await expect.poll(() => statusOf(`${first}/readyz`)).toBe(200)
      const before = calls.length
      const running = serve([example('serve-fleet.ts')], own)
      const second = await rootOf(running)
      expect(await bodyOf(second)).toBe(body)
      // On a busy machine, the first read of the store may take longer than its 50 ms.
      expect(calls.length === before || running.stderr.includes('store_failed')).toBe(true)
      const statuses: number[] = []
      for (let time = 0; time < 40; time += 1) {
        for (const root of [first, second]) statuses.push(await statusOf(`${root}/api/v1/status`))
      }
      expect(statuses).toContain(429)
      expect(statuses.filter((status) => status === 200).length).toBeLessThan(75)
    },
  )
})
