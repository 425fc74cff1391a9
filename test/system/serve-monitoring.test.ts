import { expect, it } from 'vitest'

import { openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { rootOf, serve, startUpstreams, upstreams } from './commands.ts'
import { describeRuntimes } from './processes.ts'
import { freePort } from './sockets.ts'

const CONVERT = '/api/v1/convert?from=USD&to=EUR'

async function statusOf(url: string): Promise<number> {
  return (await fetch(url)).status
}

/** Starts upstreams that respond after `release`. */
async function startHangingUpstreams() {
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const { env } = await startUpstreams(
    upstreams(openErApiPayload({ now: Date.now() }), () => promise),
  )
  return { env, release }
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

  it('has a page at / with links that work, as HTML for browsers, else as text', async () => {
    const root = await rootOf(serve(['--demo', '--compat', 'frankfurter'], {}, runtime))
    const html = await fetch(root, { headers: { accept: 'text/html,*/*;q=0.8' } })
    expect(html.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(html.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src/)
    expect(html.headers.get('vary')).toContain('Accept')
    const page = await html.text()
    expect(page).toContain('<!doctype html>')
    const text = await (await fetch(root)).text()
    const paths = Array.from(text.matchAll(/^(\/\S*) /gm), ([, path = '']) => path)
    const links = Array.from(page.matchAll(/href="([^"]+)"/g), ([, path = '']) => path)
    expect(links.map((link) => link.replaceAll('&#38;', '&'))).toEqual(paths)
    expect(paths.length).toBeGreaterThan(6)
    for (const path of paths) expect(await statusOf(root + path), path).toBe(200)
    const head = await fetch(root, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await fetch(root, { method: 'POST' })).status).toBe(404)
    for (const path of ['/metrics', '/healthz/', '/other']) {
      expect(await statusOf(root + path), path).toBe(404)
    }
  })

  it('serves metrics at /metrics, or with probes on a port for them', async () => {
    const root = await rootOf(serve(['--demo', '--metrics'], {}, runtime))
    expect(await statusOf(root + CONVERT)).toBe(200)
    const metrics = await fetch(`${root}/metrics`)
    expect(metrics.headers.get('content-type')).toMatch(/^application\/openmetrics-text/)
    expect(await metrics.text()).toMatch(/\/v1\/convert[^]*\n# EOF\n$/)
    const port = await freePort()
    const own = await rootOf(serve(['--demo', '--metrics-port', String(port)], {}, runtime))
    expect(await statusOf(own + CONVERT)).toBe(200)
    expect(await statusOf(`${own}/metrics`)).toBe(404)
    const inside = `http://127.0.0.1:${port}`
    expect(await (await fetch(`${inside}/metrics`)).text()).toContain('/v1/convert')
    expect(await statusOf(`${inside}/healthz`)).toBe(200)
    for (const path of ['/', CONVERT]) expect(await statusOf(inside + path), path).toBe(404)
  })

  it('logs each response as JSON, without key and address', async () => {
    const key = `rsk_${'a'.repeat(36)}`
    const running = serve(['--demo', '--access-log', 'json'], {}, runtime)
    const root = await rootOf(running)
    const response = await fetch(`${root}${CONVERT}&access_key=${key}`, {
      headers: { authorization: `Bearer ${key}`, 'x-request-id': 'from-the-proxy' },
    })
    expect(response.status).toBe(200)
    await fetch(`${root}/healthz`)
    await fetch(`${root}/api/v1/status`)
    await running.written(/v1\/status.*\n[^]*v1\/status/)
    await running.end()
    const lines = running.stdout.split('\n').filter((line) => line.startsWith('{'))
    expect(lines).toHaveLength(2)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      id: 'from-the-proxy',
      path: '/api/v1/convert',
      query: 'from=USD&to=EUR&access_key=REDACTED',
    })
    expect(lines.join('')).not.toMatch(/127\.0\.0\.1|rsk_a/)
  })
})

it('gives the page way to the explorer with an empty base path', async () => {
  const root = await rootOf(serve(['--demo', '--base-path', '']))
  expect(await (await fetch(root)).text()).toContain('<title>')
  expect(await statusOf(`${root}/healthz`)).toBe(200)
  const plain = await rootOf(serve(['--demo', '--base-path', '', '--no-explorer']))
  expect(await (await fetch(plain)).text()).toContain('/v1/latest')
})

it('is not ready while it finishes its responses', async () => {
  const { env, release } = await startHangingUpstreams()
  const port = await freePort()
  const running = serve(['--metrics-port', String(port)], env)
  const pending = fetch(`${await rootOf(running)}/api/rates`)
  const probe = async (): Promise<string> => {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`)
    return `${response.status} ${await response.text()}`
  }
  expect(await probe()).toMatch(/^503 .*loading/)
  running.process.kill('SIGTERM')
  await expect.poll(probe).toMatch(/^503 .*draining/)
  release()
  expect((await pending).status).toBe(200)
  expect(await running.exited).toBe(0)
})

it('exits with 1 and one line if the port for metrics is in use', async () => {
  const port = new URL(await rootOf(serve(['--demo']))).port
  const running = serve(['--demo', '--metrics-port', port])
  expect(await running.exited).toBe(1)
  expect(running.stderr).toMatch(/^ratesmith: port \d+ [^\n]*--metrics-port\n$/)
  expect(running.stdout).toBe('')
  const taken = serve(['--demo', '--port', port, '--metrics-port', '0'])
  expect(await taken.exited).toBe(1)
  expect(taken.stderr).toMatch(/^ratesmith: port \d+ [^\n]*--port\n$/)
})
