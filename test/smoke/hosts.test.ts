import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'

import express from 'express'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { toExpressHandler } from '../../adapters/express.ts'
import { toNodeHandler } from '../../adapters/node.ts'
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { mountContract } from '../conformance/mount-contract.ts'
import { startChild } from '../system/child.ts'
import { BUN, DENO, NODE, findWorkerd } from '../system/runtimes.ts'
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
