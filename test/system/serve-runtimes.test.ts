import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { Agent, get, request } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import { afterAll, expect, it } from 'vitest'

import {
  createExchangeRateApiProvider,
  createFrankfurterProvider,
  createRatesHandler,
} from '../../src/index.ts'
import { createFileStore } from '../../src/stores/file.ts'
import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { CLI, keptFiles, rootOf, serve, serveForSuite, upstreams } from './commands.ts'
import { writeConfig } from './config-file.ts'
import { describeRuntimes, listen, run, temporaryFolder } from './processes.ts'

const TARGETS = [
  '/api/v1/latest?base=EUR',
  '/api/v1/convert?from=USD&to=JPY&amount=0.1',
  '/api/v1/history?from=IDR&to=EUR&period=5Y',
  '/api/rates?base=GBP',
  '/api/convert?from=ISK&to=USD&amount=12.5',
]

const PLAIN = writeConfig(
  'export default { explorer: false }\nexport const server = { compress: false }',
  'config.mjs',
  afterAll,
)

const LARGE = '/api/v1/latest?base=EUR'

async function send(url: string, headers: OutgoingHttpHeaders = {}) {
  const outgoing = request(url, { headers, agent: false }).end()
  const [response]: IncomingMessage[] = await once(outgoing, 'response')
  if (!response) throw new Error('no response')
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) }
}

describeRuntimes('ratesmith serve', (runtime) => {
  const [, program, ...parameters] = runtime
  const demo = serveForSuite([], runtime)
  const plain = serveForSuite([PLAIN], runtime)

  /** Starts a server with a pending request, which waits for its upstream until `release` is called. */
  async function startPendingRequest() {
    const requested = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const gate = (): Promise<void> => {
      requested.resolve()
      return released.promise
    }
    const { url } = await listen(upstreams(openErApiPayload({ now: Date.now() }), gate))
    const running = serve([], { RATESMITH_LATEST_URL: url }, runtime)
    const root = await rootOf(running)
    const pending = fetch(`${root}/api/rates`)
    // Not every test awaits it.
    pending.catch(() => undefined)
    await requested.promise
    return { running, root, pending, release: released.resolve }
  }

  async function expectNoConnections(root: string): Promise<void> {
    const isRefused = (): Promise<boolean> =>
      fetch(root)
        .then(() => false)
        .catch(() => true)
    await expect.poll(isRefused, { timeout: 20_000 }).toBe(true)
  }

  it('serves all endpoints like a handler with the same upstreams', async () => {
    const { url } = await listen(upstreams(openErApiPayload({ now: Date.now() })))
    const env = { RATESMITH_LATEST_URL: url, RATESMITH_HISTORY_URL: `${url}/` }
    const running = serve([], env, runtime)
    const root = await rootOf(running)
    const providers = {
      latest: createExchangeRateApiProvider({ url }),
      history: createFrankfurterProvider({ url }),
    }
    const inProcess = createRatesHandler({ providers })
    for (const target of TARGETS) {
      const response = await fetch(root + target, { headers: { 'accept-encoding': 'identity' } })
      const expected = await inProcess(new Request(`http://localhost${target}`))
      expect(response.status, target).toBe(200)
      expect(response.headers.get('etag')).toBe(expected.headers.get('etag'))
      expect(await response.text()).toBe(await expected.text())
    }
    expect(running.stderr).not.toMatch(/"level":"(warn|error)"/)
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('finishes its response on %s', async (signal) => {
    const { running, root, pending, release } = await startPendingRequest()
    running.process.kill(signal)
    await expectNoConnections(root)
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
    await expectNoConnections(root)
    running.process.kill('SIGINT')
    await expect(pending).rejects.toThrow(TypeError)
    expect(await running.exited).not.toBe(0)
  })

  it('serves and stops with a named pipe instead of a store file', async () => {
    const folder = temporaryFolder()
    await createFileStore(folder).set('rates:v1:latest', '', Infinity)
    const path = join(folder, keptFiles(folder)[0] ?? '')
    rmSync(path)
    execFileSync('mkfifo', [path])
    const { url } = await listen(upstreams(openErApiPayload({ now: Date.now() })))
    const running = serve(['--store', folder], { RATESMITH_LATEST_URL: url }, runtime)
    expect((await fetch(`${await rootOf(running)}/api/rates`)).status).toBe(200)
    const stoppedAt = performance.now()
    expect(await running.end()).toBe(0)
    expect(performance.now() - stoppedAt).toBeLessThan(10_000)
  })

  it('stops while a client keeps its connection open', async () => {
    const running = serve(['--demo'], {}, runtime)
    const root = await rootOf(running)
    const agent = new Agent({ keepAlive: true })
    await new Promise((resolve) => {
      get(`${root}/api/rates`, { agent }, (response) => response.resume().on('end', resolve))
    })
    expect(await running.end()).toBe(0)
    agent.destroy()
  })

  it.each([
    ['another program', async () => (await listen(() => {})).url],
    ['another ratesmith', async () => demo.root],
  ])('exits with 1 and one line for a port in use by %s', async (_, start) => {
    const { port } = new URL(await start())
    const args = [...parameters, CLI, 'serve', '--demo', '--port', port]
    const line = new RegExp(`^ratesmith: [^\\n]*\\b${port}\\b[^\\n]*--port\\b[^\\n]*\\n$`)
    expect(await run(program, args)).toMatchObject({ code: 1, stderr: expect.stringMatching(line) })
  })

  it('compresses a large response with the coding that the client accepts', async () => {
    const uncoded = await send(demo.root + LARGE)
    expect(uncoded.headers['content-encoding']).toBeUndefined()
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync }
    for (const [encoding, decode] of Object.entries(decoders)) {
      const { status, headers, body } = await send(demo.root + LARGE, {
        'accept-encoding': encoding,
      })
      expect(status).toBe(200)
      expect(headers).toMatchObject({
        'content-encoding': encoding,
        vary: 'Accept-Encoding',
        etag: `W/${uncoded.headers.etag}`,
        'content-length': String(body.byteLength),
      })
      expect(body.byteLength).toBeLessThan(uncoded.body.byteLength)
      expect(decode(body).equals(uncoded.body)).toBe(true)
    }
  })

  it('compresses nothing with compress: false', async () => {
    const { headers, body } = await send(plain.root + LARGE, { 'accept-encoding': 'br, gzip' })
    expect(headers['content-encoding']).toBeUndefined()
    expect(headers.vary).toBeUndefined()
    expect(JSON.parse(body.toString())).toMatchObject({ base: 'EUR' })
  })

  it('serves the explorer compressed, and not at all with explorer: false', async () => {
    for (const path of ['/api', '/api/']) {
      const headers = { 'accept-encoding': 'br, gzip' }
      const response = await fetch(demo.root + path, { headers })
      expect(response.headers.get('content-encoding')).toMatch(/^(?:br|gzip)$/)
      expect(await response.text()).toContain('<title>')
    }
    expect((await fetch(`${plain.root}/api`)).status).toBe(404)
    const explorerUrl = /http:\S+\/api\/(?=\s)/
    expect(demo.stdout).toMatch(explorerUrl)
    expect(plain.stdout).not.toMatch(explorerUrl)
  })

  it('accepts an IPv6 address in brackets', async () => {
    const root = await rootOf(serve(['--demo', '--host', '[::1]'], {}, runtime))
    expect(root).toMatch(/^http:\/\/\[::1\]:\d+$/)
    expect((await fetch(`${root}/api/v1/latest`)).status).toBe(200)
  })

  it('exits with 1 and one line for an address of another machine', async () => {
    const args = [...parameters, CLI, 'serve', '--demo', '--port', '0', '--host', '192.0.2.1']
    const line = /^ratesmith: [^\n]*192\.0\.2\.1\b[^\n]+\n$/
    expect(await run(program, args)).toMatchObject({ code: 1, stderr: expect.stringMatching(line) })
  })
})

// Other runtimes do not wait for their threads at the end.
it.each(['SIGTERM', 'SIGINT'] as const)(
  'ends by %s on Node while its disk hangs',
  async (signal) => {
    const folder = temporaryFolder()
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', [pipe])
    // Like a network file system that is gone, where even stat() never returns.
    const hanging = `import fs from 'node:fs/promises'
    import { syncBuiltinESMExports } from 'node:module'
    fs.stat = () => fs.open(${JSON.stringify(pipe)})
    syncBuiltinESMExports()`
    writeFileSync(join(folder, 'hanging.mjs'), hanging)
    const { url } = await listen(upstreams(openErApiPayload({ now: Date.now() })))
    const NODE_OPTIONS = `--import=${join(folder, 'hanging.mjs')}`
    const running = serve(['--store', folder], { RATESMITH_LATEST_URL: url, NODE_OPTIONS })
    expect((await fetch(`${await rootOf(running)}/api/rates`)).status).toBe(200)
    const stoppedAt = performance.now()
    expect([await running.end(signal), running.process.signalCode]).toEqual([null, signal])
    expect(performance.now() - stoppedAt).toBeLessThan(10_000)
  },
)
