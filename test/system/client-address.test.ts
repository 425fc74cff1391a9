import { Agent, request } from 'node:http'
import type { OutgoingHttpHeaders, RequestOptions } from 'node:http'
import { connect } from 'node:http2'
import { join } from 'node:path'

import { describe, expect, it, onTestFinished } from 'vitest'

import type { AddressSettings } from './address-program.ts'
import { startChild } from './child.ts'
import { requireProgram, temporaryFolder } from './processes.ts'
import { BUN, DENO, NODE, findPackage, findWorkerd } from './runtimes.ts'
import type { Runtime } from './runtimes.ts'
import { portIn } from './sockets.ts'
import { startWorker } from './workerd.ts'

const QUOTA = 5
const LATEST = '/api/v1/latest'
const COMPAT = '/api/compat/v1/latest'

/** The second address of the loopback interface, which only Linux has without configuration. */
const SECOND = process.platform === 'linux' ? '127.0.0.2' : undefined

function forged(index: number): Record<string, string> {
  const address = `203.${index % 7}.${(index >> 8) % 256}.${index % 256}`
  return {
    forwarded: `for=${address};proto=https`,
    'x-forwarded-for': index % 2 === 0 ? address : `${address}, 192.0.2.${index % 256}`,
    'cf-connecting-ip': address,
    'true-client-ip': address,
    'x-client-ip': address,
    'x-real-ip': address,
  }
}

type Send = (headers: OutgoingHttpHeaders, target?: string) => Promise<number>

/** Opens an HTTP/1 client over a few keep-alive connections. */
function openClient(options: RequestOptions): Send {
  const agent = new Agent({ keepAlive: true, maxSockets: 10 })
  onTestFinished(() => agent.destroy())
  return (headers, target = LATEST) =>
    new Promise((resolve, reject) => {
      const sent = request({ ...options, agent, path: target, headers }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode ?? 0))
      })
      sent.once('error', reject).end()
    })
}

function openHttp2({ port, localAddress }: RequestOptions): Send {
  const session = connect(`http://127.0.0.1:${port}`, Object({ localAddress }))
  onTestFinished(() => session.destroy())
  return (headers, target = LATEST) =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':path': target, ...headers })
      let status = 0
      stream.once('response', (received) => (status = received[':status'] ?? 0))
      stream
        .once('error', reject)
        .once('end', () => resolve(status))
        .resume()
        .end()
    })
}

/** Sends forged requests, a few at a time, and returns the number of responses by status. */
async function countForged(send: Send, count: number) {
  const counts: Record<number, number> = {}
  let next = 0
  async function sendAll(): Promise<void> {
    while (next < count) {
      const status = await send(forged(next++))
      counts[status] = (counts[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: 8 }, sendAll))
  return counts
}

async function startProgram(settings: AddressSettings, [, runtime, ...flags]: Runtime) {
  const program = 'test/system/address-program.ts'
  const { firstLine, kill } = startChild({ program, settings, runtime, flags })
  onTestFinished(kill)
  const { port }: { port: number } = JSON.parse(await firstLine)
  return port
}

interface Host {
  mount: AddressSettings['mount']
  runtime?: Runtime
  /** Package that must be installed (default none). */
  needs?: string
  open?: (options: RequestOptions) => Send
  count?: number
}

const HOSTS: Host[] = [
  { mount: 'serveNode', count: 10_000 },
  { mount: 'fetchStyleOnNode' },
  { mount: 'http2', open: openHttp2 },
  { mount: 'fetchStyleOverHttp2', open: openHttp2 },
  { mount: 'express5' },
  { mount: 'fastify', needs: 'fastify' },
  { mount: 'hono', needs: 'hono' },
  { mount: 'h3', needs: 'h3' },
  { mount: 'koa', needs: 'koa' },
  { mount: 'elysia', needs: 'elysia', runtime: BUN },
  { mount: 'serveBun', runtime: BUN, count: 10_000 },
  { mount: 'bunItself', runtime: BUN },
  { mount: 'serveDeno', runtime: DENO, count: 10_000 },
  { mount: 'denoItself', runtime: DENO },
]

describe('the address of a client', () => {
  it.for(HOSTS)('is that of its connection on $mount', async (host, { skip }) => {
    const { mount, runtime = NODE, needs, open = openClient, count = 500 } = host
    requireProgram(runtime[0], runtime[1], skip)
    if (needs) requireProgram(needs, findPackage(needs) ?? needs, skip)
    const port = await startProgram({ mount, quota: QUOTA }, runtime)
    const send = open({ host: '127.0.0.1', port })
    expect(await countForged(send, count)).toEqual({ 200: QUOTA, 429: count - QUOTA })
    // A compat route counts with the same limit.
    expect(await send(forged(1), COMPAT)).toBe(429)
    if (!SECOND) return
    const other = open({ host: '127.0.0.1', port, localAddress: SECOND })
    expect(await other({}, COMPAT)).toBe(200)
    expect(await countForged(other, QUOTA)).toEqual({ 200: QUOTA - 1, 429: 1 })
  })

  it('is unknown at a Unix socket', async () => {
    const path = join(temporaryFolder(), 'socket')
    await startProgram({ mount: 'unixSocket', path, quota: QUOTA }, NODE)
    const send = openClient({ socketPath: path })
    expect(await countForged(send, 20)).toEqual({ 200: QUOTA, 429: 20 - QUOTA })
  })

  it('is added by a proxy at a Unix socket, whose number is trusted', async () => {
    const path = join(temporaryFolder(), 'socket')
    const options = { trustedProxies: 1 }
    await startProgram({ mount: 'unixSocket', path, quota: 1, options }, NODE)
    const send = openClient({ socketPath: path })
    const statuses = []
    for (const client of ['192.0.2.1', '192.0.2.2', '203.0.113.7, 192.0.2.1']) {
      statuses.push(await send({ 'x-forwarded-for': client }))
    }
    expect(statuses).toEqual([200, 200, 429])
  })

  it('is that of Cloudflare’s edge in a Worker, and unknown without toWorker()', async ({
    skip,
  }) => {
    requireProgram('workerd', findWorkerd() ?? 'workerd', skip)
    const { url, stop } = await startWorker('test/system/address-worker-program.ts')
    onTestFinished(stop)
    const send = openClient({ host: '127.0.0.1', port: portIn(url) })
    const from =
      (address: string): Send =>
      // The edge replaces this header.
      (headers, target) =>
        send({ ...headers, 'cf-connecting-ip': address }, target)
    for (const address of ['192.0.2.1', '2001:db8::1']) {
      expect(await countForged(from(address), 500)).toEqual({ 200: QUOTA, 429: 500 - QUOTA })
    }
    // The same /64.
    expect(await from('2001:db8::ffff:1')({})).toBe(429)
    const globally: Send = (headers) => send(headers, `/global${LATEST}`)
    expect(await countForged(globally, 100)).toEqual({ 200: QUOTA, 429: 100 - QUOTA })
  })
})
