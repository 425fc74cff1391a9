import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'

import express from 'express'
import { beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

import { toWorker } from '../../adapters/cloudflare.ts'
import { toExpressHandler } from '../../adapters/express.ts'
import { toNodeHandler } from '../../adapters/node.ts'
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { mountContract } from '../conformance/mount-contract.ts'
import { startChild } from '../system/child.ts'
import { BUN, DENO, NODE, RUNTIMES, findWorkerd } from '../system/runtimes.ts'
import type { Runtime } from '../system/runtimes.ts'
import { listenOnFreePort } from '../system/sockets.ts'
import { startWorker } from '../system/workerd.ts'

/** The program of a host, which may not be installed, and its start function. */
type Host = [program: string, start: () => Promise<{ url: string; stop: () => unknown }>]

function adapter(settings: string, [, runtime, ...flags]: Runtime): Host {
  const program = 'test/smoke/host-program.ts'
  const start = async () => {
    const child = startChild({ program, settings, runtime, flags })
    return { url: JSON.parse(await child.firstLine), stop: child.kill }
  }
  return [runtime, start]
}

function listener(create: (rates: ReturnType<typeof createRatesHandler>) => RequestListener): Host {
  const start = async () => {
    const server = createServer(create(createRatesHandler({ providers: fakeProviders() })))
    const port = await listenOnFreePort(server)
    return { url: `http://127.0.0.1:${port}`, stop: () => void server.close() }
  }
  return [process.execPath, start]
}

describe.each<[title: string, ...Host]>([
  ['serve() on Node', ...adapter('node', NODE)],
  ['toNodeHandler() in node:http', ...listener((rates) => toNodeHandler(rates))],
  [
    'toExpressHandler() in Express 5',
    ...listener((rates) => express().use(toExpressHandler(rates))),
  ],
  ['serve() on Bun', ...adapter('bun', BUN)],
  ['serve() on Deno', ...adapter('deno', DENO)],
  ['toWorker() in workerd', findWorkerd() ?? '', () => startWorker('test/smoke/worker-program.ts')],
])('%s', (_, program, start) => {
  let url = ''
  beforeAll(async () => {
    if (!existsSync(program)) return undefined
    const started = await start()
    url = started.url
    return started.stop
  })
  beforeEach(({ skip }) => skip(!existsSync(program), 'not installed, see `npm run tools`'))

  it.each(mountContract(() => ({ url: `${url}/api` })))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})

describe('toWorker() in this process', () => {
  const context = { waitUntil: vi.fn<(promise: Promise<unknown>) => void>() }
  const rates = createRatesHandler({ providers: fakeProviders() })
  const worker = toWorker(() => rates)
  const fetchFrom = (request: Request) => worker.fetch(request, {}, context)
  const mount = { url: 'http://localhost/api', fetch: fetchFrom }

  it.each(mountContract(() => mount))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })

  it('creates one handler with the bindings of the first event, and refreshes it', async () => {
    const created: unknown[] = []
    const clients: unknown[] = []
    const refresh = vi.fn<() => Promise<void>>(async () => undefined)
    const own = toWorker((env) => {
      created.push(env)
      if (created.length === 1) throw new Error('secret')
      const handle = (_: Request, info?: unknown) => {
        clients.push(info)
        return new Response('own')
      }
      return Object.assign(handle, { refresh })
    })
    const headers = { 'cf-connecting-ip': '192.0.2.1' }
    const send = (init?: RequestInit) => own.fetch(new Request(mount.url, init), 'env', context)
    const failed = await send()
    expect([failed.status, failed.headers.get('cache-control'), await failed.text()]).toEqual([
      500,
      'no-store',
      '',
    ])
    await expect(context.waitUntil.mock.lastCall?.[0]).rejects.toThrow('secret')
    expect(await (await send({ headers })).text()).toBe('own')
    await send()
    await own.scheduled({}, 'later')
    expect(clients).toEqual([{ client: '192.0.2.1' }, { client: undefined }])
    expect([created, refresh.mock.calls]).toEqual([['env', 'env'], [[]]])
  })
})

it.for(RUNTIMES)(
  'serve() on %s listens on this machine only, hides failures, prefers answer() and stops after 10 s',
  async ([name, runtime, ...flags], { skip }) => {
    skip(!existsSync(runtime), 'not installed, see `npm run tools`')
    const program = 'test/smoke/stop-program.ts'
    const child = startChild({ program, settings: name.toLowerCase(), runtime, flags })
    onTestFinished(child.kill)
    const failed = { status: 500, cacheControl: 'no-store', body: '' }
    const paths = ['/throws', '/says-nothing', '/says-text', '/was-read']
    expect(JSON.parse(await child.firstLine)).toEqual({
      hostname: '127.0.0.1',
      failures: Object.fromEntries(paths.map((path) => [path, failed])),
      called: 'answer',
      hasWaited: true,
    })
  },
)
