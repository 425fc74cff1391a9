import { expect, it } from 'vitest'

import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { rootOf, serve, startUpstreams, upstreams } from './commands.ts'
import { writeConfig } from './config-file.ts'
import { describeRuntimes } from './processes.ts'
import { openSocket, portIn } from './sockets.ts'

function writeServerConfig(server: string): string {
  return writeConfig(`export default {}\nexport const server = ${server}`)
}

function jsonLines(text: string): string[] {
  return text.split('\n').filter((line) => line.startsWith('{'))
}

const CONVERT = '/api/v1/convert?from=USD&to=EUR'

async function statusOf(url: string): Promise<number> {
  return (await fetch(url)).status
}

async function startHangingUpstreams() {
  const requested = Promise.withResolvers<void>()
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const gate = (): Promise<void> => (requested.resolve(), promise)
  const { env } = await startUpstreams(upstreams(openErApiPayload({ now: Date.now() }), gate))
  return { env, requested: requested.promise, release }
}

describeRuntimes('ratesmith serve', (runtime) => {
  it('is alive at once, and ready with rates only', async () => {
    const { env, release } = await startHangingUpstreams()
    const root = await rootOf(serve([], env, runtime))
    const ready = await fetch(`${root}/readyz`)
    expect([ready.status, ready.headers.get('cache-control')]).toEqual([503, 'no-store'])
    expect(await statusOf(`${root}/healthz?probe=1`)).toBe(200)
    expect(await statusOf(`${root}/readyz`)).toBe(503)
    release()
    // Without any other request.
    await expect.poll(() => statusOf(`${root}/readyz`)).toBe(200)
  })

  it('leads from / to the explorer, or without one to the list of endpoints', async () => {
    const root = await rootOf(serve(['--demo'], {}, runtime))
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await fetch(root, { method, redirect: 'manual' })
      expect([status, headers.get('location')]).toEqual([302, '/api/'])
    }
    expect(await (await fetch(root)).text()).toContain('<!doctype html>')
    expect((await fetch(root, { method: 'POST' })).status).toBe(404)
    for (const path of ['/metrics', '/healthz/', '/other']) {
      expect(await statusOf(root + path), path).toBe(404)
    }
    const plain = writeConfig('export default { explorer: false }')
    const other = await rootOf(serve([plain, '--demo', '--base-path', ''], {}, runtime))
    const { endpoints } = await (await fetch(other)).json()
    for (const name of ['latest', 'currencies', 'status']) {
      expect(await statusOf(other + endpoints[name]), name).toBe(200)
    }
  })

  it('logs each response as JSON, without key and address', async () => {
    const key = `rsk_${'a'.repeat(36)}`
    const running = serve([writeServerConfig('{ accessLog: true }'), '--demo'], {}, runtime)
    const root = await rootOf(running)
    const response = await fetch(`${root}${CONVERT}&access_key=${key}`, {
      headers: { authorization: `Bearer ${key}`, 'x-request-id': 'from-the-proxy' },
    })
    expect(response.status).toBe(200)
    await fetch(`${root}/healthz`)
    await fetch(`${root}/api/v1/status`)
    await running.written(/v1\/status.*\n[^]*v1\/status/)
    await running.end()
    const lines = jsonLines(running.stdout)
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(
      /"id":"from-the-proxy",.*"path":"\/api\/v1\/convert","query":"from=USD&to=EUR/,
    )
    expect(lines.join('')).not.toMatch(/127\.0\.0\.1|rsk_a/)
  })

  it('logs the addresses behind its proxies with clients: true, and no value of the parameters for keys', async () => {
    const config = `
import { createAccess } from 'ratesmith/access'
export default {
  trustedProxies: 1,
  access: createAccess({
    plans: { free: '60/min' },
    anonymous: 'free',
    keys: { find: () => undefined },
    queryParameters: ['session'],
  }),
}
export const server = { accessLog: { clients: true } }
`
    const running = serve([writeConfig(config), '--demo'], {}, runtime)
    const root = await rootOf(running)
    const headers = { 'x-forwarded-for': '192.0.2.7' }
    await fetch(`${root}${CONVERT}&session[]=secret`, { headers })
    await running.written(/v1\/convert/)
    await running.end()
    expect(jsonLines(running.stdout)).toEqual([
      expect.stringMatching(/"client":"192\.0\.2\.7",.*session\[\]=REDACTED"/),
    ])
  })
})

it('gives the page way to the explorer with an empty base path', async () => {
  const root = await rootOf(serve(['--demo', '--base-path', '']))
  expect(await (await fetch(root)).text()).toContain('<title>')
  expect(await statusOf(`${root}/healthz`)).toBe(200)
  const plain = await rootOf(
    serve([writeConfig('export default { explorer: false }'), '--demo', '--base-path', '']),
  )
  expect(await (await fetch(plain)).text()).toContain('/v1/latest')
})

it('is not ready while it finishes its responses', async () => {
  const { env, requested, release } = await startHangingUpstreams()
  const running = serve([], env)
  const root = await rootOf(running)
  const socket = await openSocket(portIn(root))
  let received = ''
  socket.on('data', (chunk) => (received += String(chunk)))
  socket.write('GET /api/rates HTTP/1.1\r\nhost: a\r\n\r\n')
  await requested
  running.process.kill('SIGTERM')
  const isRefused = (): Promise<boolean> =>
    statusOf(root).then(
      () => false,
      () => true,
    )
  await expect.poll(isRefused).toBe(true)
  socket.write('GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n')
  release()
  await expect.poll(() => received).toMatch(/^HTTP\/1.1 200 [^]*HTTP\/1.1 503 [^]*draining/)
  expect(await running.exited).toBe(0)
})
