import { join } from 'node:path'

import { startChild } from '../system/child.ts'
import { ROOT } from '../system/root.ts'
import { BUN, DENO, NODE } from '../system/runtimes.ts'
import type { Runtime } from '../system/runtimes.ts'
import { COMPATIBILITY_DATE, Miniflare, bundleWorker } from '../system/workerd.ts'
import { openHttp2 } from './exchange.ts'
import type { Client } from './exchange.ts'
import type { HostSettings } from './host-program.ts'

/** A way to serve the handler. */
export interface Host {
  name: string
  /** The program that runs it, which may be missing. */
  program: string
  /** Which requests reach the handler: all, those below its base path, or those for its own paths alone. */
  scope: 'all' | 'below' | 'own'
  /** What stands before the paths of the service (default nothing). */
  prefix?: string
  /** How it is asked (default over HTTP/1.1). */
  openClient?: (port: number) => Client
  start(): Promise<Listening>
}

/** A host that listens. */
export interface Listening {
  port: number
  stop(): Promise<void>
}

/** The handler served by the runtime's adapter, or mounted in a framework, in a process of its own. */
function host(
  name: string,
  mount: HostSettings['mount'],
  [, runtime, ...flags]: Runtime,
  more: Pick<Host, 'prefix' | 'openClient'> & Partial<Pick<Host, 'scope'>> = {},
): Host {
  const { prefix = '', scope = 'all' } = more
  return {
    ...more,
    name,
    program: runtime,
    scope,
    async start() {
      const settings: HostSettings = { mount, basePath: `${prefix}/api` }
      const program = 'test/conformance/host-program.ts'
      const { firstLine, kill } = startChild({ program, settings, runtime, flags })
      const { port }: { port: number } = JSON.parse(await firstLine)
      return { port, stop: kill }
    },
  }
}

const WORKERD: Host = {
  name: 'workerd',
  program: join(ROOT, 'node_modules/.bin/workerd'),
  scope: 'all',
  async start() {
    const simulator = new Miniflare({
      cf: false,
      modules: true,
      script: await bundleWorker('test/conformance/worker-program.ts'),
      compatibilityDate: COMPATIBILITY_DATE,
      // Past the simulated edge, which compresses what goes through it.
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
    })
    const { port } = await simulator.unsafeGetDirectURL()
    return { port: Number(port), stop: () => simulator.dispose() }
  },
}

/** Every way to serve the handler over HTTP that is shown to users. */
export const HOSTS: readonly Host[] = [
  host('Node', 'serveNode', NODE),
  host('Node 22', 'serveNode', otherNode(22)),
  host('Node 26', 'serveNode', otherNode(26)),
  host('Node over @whatwg-node/server', 'fetchStyleOnNode', NODE),
  host('Node over HTTP/2', 'http2', NODE, { openClient: openHttp2 }),
  host('Node over both', 'fetchStyleOverHttp2', NODE, { openClient: openHttp2 }),
  host('Express 4', 'express4', NODE, { scope: 'own' }),
  host('Express 5', 'express5', NODE, { scope: 'own' }),
  host('Express 5 below a prefix', 'express5Prefix', NODE, { scope: 'own', prefix: '/fx' }),
  host('Bun', 'serveBun', BUN),
  host('Deno', 'serveDeno', DENO),
  WORKERD,
  host('Hono', 'hono', NODE, { scope: 'below' }),
  host('H3', 'h3', NODE, { scope: 'below' }),
  host('Elysia', 'elysia', BUN, { scope: 'below' }),
  host('Fastify', 'fastify', NODE, { scope: 'own' }),
  host('Koa', 'koa', NODE, { scope: 'below' }),
]

/** A Node beside the one that runs this; `.ci/run` installs them. */
function otherNode(major: number): Runtime {
  return [`Node ${major}`, join(ROOT, `.runtimes/node_modules/node-${major}/bin/node`)]
}
