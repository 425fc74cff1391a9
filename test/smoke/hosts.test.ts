import { existsSync } from 'node:fs'

import { beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { mountContract } from '../../src/testing/index.ts'
import { startChild } from '../system/child.ts'
import { BUN, DENO, NODE, findWorkerd } from '../system/runtimes.ts'
import type { Runtime } from '../system/runtimes.ts'
import { COMPATIBILITY_DATE, Miniflare, bundleWorker } from '../system/workerd.ts'
import type { Mount } from './host-program.ts'

/** The program of a host, which may not be installed, and its start function. */
type Host = [program: string, start: () => Promise<{ url: string; stop: () => Promise<void> }>]

function host(mount: Mount, [, runtime, ...flags]: Runtime): Host {
  const program = 'test/smoke/host-program.ts'
  const start = async () => {
    const child = startChild({ program, settings: mount, runtime, flags })
    return { url: JSON.parse(await child.firstLine), stop: child.kill }
  }
  return [runtime, start]
}

async function startWorkerd() {
  const simulator = new Miniflare({
    cf: false,
    modules: true,
    script: await bundleWorker('test/smoke/worker-program.ts'),
    compatibilityDate: COMPATIBILITY_DATE,
    unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
  })
  const { origin: url } = await simulator.unsafeGetDirectURL()
  return { url, stop: () => simulator.dispose() }
}

describe.each<[title: string, ...Host]>([
  ['serve() on Node', ...host('serveNode', NODE)],
  ['toNodeHandler() in node:http', ...host('http', NODE)],
  ['toExpressHandler() in Express 5', ...host('express', NODE)],
  ['serve() on Bun', ...host('serveBun', BUN)],
  ['serve() on Deno', ...host('serveDeno', DENO)],
  ['toWorker() in workerd', findWorkerd() ?? '', startWorkerd],
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
