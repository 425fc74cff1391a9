import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders, RequestOptions } from 'node:http'
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

function forged(index: number): Record<string, string> {
  const address = `203.0.113.${index}`
  const others = ['cf-connecting-ip', 'true-client-ip', 'x-client-ip', 'x-real-ip']
  return {
    forwarded: `for=${address};proto=https`,
    'x-forwarded-for': index % 2 === 0 ? address : `${address}, 192.0.2.${index}`,
    ...Object.fromEntries(others.map((name) => [name, address])),
  }
}

type Send = (headers: OutgoingHttpHeaders, target?: string) => Promise<number>

function openClient(options: RequestOptions): Send {
  const agent = new Agent({ keepAlive: true })
  onTestFinished(() => agent.destroy())
  return async (headers, target = LATEST) => {
    const sent = request({ ...options, agent, path: target, headers }).end()
    const [response]: [IncomingMessage] = Object(await once(sent, 'response'))
    await once(response.resume(), 'end')
    return response.statusCode ?? 0
  }
}

function openHttp2({ port, localAddress }: RequestOptions): Send {
  const session = connect(`http://127.0.0.1:${port}`, Object({ localAddress }))
  onTestFinished(() => session.destroy())
  return async (headers, target = LATEST) => {
    const stream = session.request({ ':path': target, ...headers })
    const [received] = await once(stream.resume().end(), 'response')
    await once(stream, 'end')
    return received[':status']
  }
}

/** Returns the statuses of forged requests. */
async function sendForged(send: Send): Promise<number[]> {
  const statuses: number[] = []
  for (let index = 0; index < 2 * QUOTA; index += 1) statuses.push(await send(forged(index)))
  return statuses
}

const SHARED = [...Array(QUOTA).fill(200), ...Array(QUOTA).fill(429)]

async function startProgram(settings: AddressSettings, [, runtime, ...flags]: Runtime) {
  const program = 'test/system/address-program.ts'
  const { firstLine, kill } = startChild({ program, settings, runtime, flags })
  onTestFinished(kill)
  const { port }: { port: number } = JSON.parse(await firstLine)
  return port
}

describe('the address of a client', () => {
  it.for<[mount: AddressSettings['mount'], runtime?: Runtime, needs?: string]>([
    ['serveNode'],
    ['fetchStyleOnNode'],
    ['http2'],
    ['fetchStyleOverHttp2'],
    ['express5'],
    ['fastify', NODE, 'fastify'],
    ['hono', NODE, 'hono'],
    ['h3', NODE, 'h3'],
    ['koa', NODE, 'koa'],
    ['elysia', BUN, 'elysia'],
    ['serveBun', BUN],
    ['bunItself', BUN],
    ['serveDeno', DENO],
    ['denoItself', DENO],
  ])('is that of its connection on %s', async ([mount, runtime = NODE, needs], { skip }) => {
    requireProgram(runtime[0], runtime[1], skip)
    if (needs) requireProgram(needs, findPackage(needs) ?? needs, skip)
    const port = await startProgram({ mount, quota: QUOTA }, runtime)
    const open = /http2/i.test(mount) ? openHttp2 : openClient
    const send = open({ host: '127.0.0.1', port })
    expect(await sendForged(send)).toEqual(SHARED)
    // A compat route counts with the same limit.
    expect(await send(forged(1), '/api/compat/v1/latest')).toBe(429)
    // Only Linux has a second address of the loopback interface without configuration.
    if (process.platform !== 'linux') return
    const other = open({ host: '127.0.0.1', port, localAddress: '127.0.0.2' })
    expect(await sendForged(other)).toEqual(SHARED)
  })

  it('is unknown at a Unix socket, unless a trusted proxy adds it', async () => {
    const open = async (settings: Pick<AddressSettings, 'quota' | 'options'>): Promise<Send> => {
      const path = join(temporaryFolder(), 'socket')
      await startProgram({ mount: 'unixSocket', path, ...settings }, NODE)
      return openClient({ socketPath: path })
    }
    expect(await sendForged(await open({ quota: QUOTA }))).toEqual(SHARED)
    const send = await open({ quota: 1, options: { trustedProxies: 1 } })
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
    // The edge replaces this header.
    const from = (address: string): Send => {
      return (headers, target) => send({ ...headers, 'cf-connecting-ip': address }, target)
    }
    for (const address of ['192.0.2.1', '2001:db8::1']) {
      expect(await sendForged(from(address))).toEqual(SHARED)
    }
    // The same /64.
    expect(await from('2001:db8::ffff:1')({})).toBe(429)
    expect(await sendForged((headers) => send(headers, `/global${LATEST}`))).toEqual(SHARED)
  })
})
