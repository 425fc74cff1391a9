import { beforeAll, describe, expect, it } from 'vitest'

import { mountContract } from '../../src/testing/index.ts'
import { startChild } from '../system/child.ts'
import { BUN, DENO, NODE, findBun, findDeno, findWorkerd } from '../system/runtimes.ts'
import type { Runtime } from '../system/runtimes.ts'
import { COMPATIBILITY_DATE, Miniflare, bundleWorker } from '../system/workerd.ts'
import type { Mount } from './host-program.ts'

/** A process: the names of the ways in which it serves the handler, what starts it with their URLs, and what ends it. */
interface Host {
  names: string[]
  isInstalled: boolean
  start(): Promise<{ urls: string[]; stop(): Promise<void> }>
}

function host(mounts: Partial<Record<Mount, string>>, runtime: Runtime, isInstalled = true): Host {
  const [, program, ...flags] = runtime
  return {
    names: Object.values(mounts),
    isInstalled,
    async start() {
      const settings = Object.keys(mounts)
      const child = startChild({
        program: 'test/smoke/host-program.ts',
        settings,
        runtime: program,
        flags,
      })
      return { urls: JSON.parse(await child.firstLine), stop: child.kill }
    },
  }
}

const WORKERD: Host = {
  names: ['toWorker() in workerd'],
  isInstalled: findWorkerd() !== undefined,
  async start() {
    const simulator = new Miniflare({
      cf: false,
      modules: true,
      script: await bundleWorker('test/smoke/worker-program.ts'),
      compatibilityDate: COMPATIBILITY_DATE,
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    })
    const { origin } = await simulator.unsafeGetDirectURL()
    return { urls: [origin], stop: () => simulator.dispose() }
  },
}

const HOSTS: Host[] = [
  host(
    {
      serveNode: 'serve() on Node',
      http: 'toNodeHandler() in node:http',
      express: 'toExpressHandler() in Express 5',
    },
    NODE,
  ),
  host({ serveBun: 'serve() on Bun' }, BUN, findBun() !== undefined),
  host({ serveDeno: 'serve() on Deno' }, DENO, findDeno() !== undefined),
  WORKERD,
]

describe.each(HOSTS)('a process', ({ names, isInstalled, start }) => {
  let urls: string[] = []
  beforeAll(async () => {
    if (!isInstalled) return undefined
    const { stop, ...started } = await start()
    urls = started.urls
    return stop
  })

  const reason = isInstalled ? '' : ' (skipped: not installed, see `npm run tools`)'
  describe.skipIf(!isInstalled).each(names)(`%s${reason}`, (name) => {
    const cases = mountContract(() => ({ url: `${urls[names.indexOf(name)]}/api` }))
    it.each(cases)('$name', async ({ run }) => {
      await expect(run()).resolves.toBeUndefined()
    })
  })
})
