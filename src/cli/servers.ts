import { promisify } from 'node:util'

import { serve } from '../../adapters/node.ts'
import type { FetchHandler, RunningServer, ServeOptions } from '../../adapters/node.ts'
import { LARGE_BODY_BYTES } from '../compression/encodings.ts'
import type { Codecs } from '../compression/encodings.ts'
import { withCompression } from '../compression/with-compression.ts'
import type { RatesHandler, RawRequest, RawResponse } from '../index.ts'
import type { Metrics } from '../monitoring/index.ts'
import { platform } from './context.ts'
import type { CommandContext } from './context.ts'
import type { IndexOptions } from './index-page.ts'
import { SERVICES, needsMonitoring } from './serve-flags.ts'
import type { ServeFlags } from './serve-flags.ts'
import { createServicePaths } from './service-paths.ts'
import type { ServedHandler } from './service-paths.ts'
import type { Tls } from './tls.ts'

/** Validates the flags about metrics and access logs; resolves to a function that adds them, if one is on. */
export async function prepareMonitoring(flags: ServeFlags): Promise<Monitor | undefined> {
  if (!needsMonitoring(flags)) return undefined
  const { openMetrics, readMonitoring, withLog } = await import('./monitoring.ts')
  const settings = readMonitoring(flags)
  return {
    metricsPort: settings.metricsPort,
    openMetrics: (handler) => openMetrics(handler, settings),
    withLog: (handler, context) => withLog(handler, settings, context),
  }
}

interface Monitor {
  metricsPort: number | undefined
  openMetrics(handler: RatesHandler): Metrics | undefined
  withLog(handler: ServedHandler, context: CommandContext): FetchHandler
}

interface Parts {
  flags: ServeFlags
  tls: Tls | undefined
  monitoring: Monitor | undefined
  context: CommandContext
}

/**
 * Starts the server, and that of the metrics if they have their own port.
 *
 * @throws {Error} with a message for the operator if one cannot listen
 */
export async function openServers(
  handler: RatesHandler,
  { flags, tls, monitoring, context }: Parts,
): Promise<RunningServer> {
  const { host, port, compress } = flags
  const metrics = monitoring?.openMetrics(handler)
  const paths = metrics && {
    '/metrics': () => metrics.fetch(new Request('http://localhost/')),
  }
  const servicePaths = createServicePaths(handler)
  const index = async (request: RawRequest): Promise<Response> =>
    (await import('./index-page.ts')).indexPage(request, indexOf(flags))
  const metricsPort = monitoring?.metricsPort
  const isShared = metricsPort === undefined
  const mounted = servicePaths.mount(handler, { index, paths: isShared ? paths : {} })
  const compressed = compress ? withCompression(mounted, codecs) : mounted
  const served = monitoring?.withLog(compressed, context) ?? compressed
  const metricsServer = isShared
    ? undefined
    : await listen(servicePaths.mount({ answer: notFound }, { paths }), {
        port: metricsPort,
        host,
        flag: '--metrics-port',
      })
  try {
    const server = await listen(served, { port, host, tls, flag: '--port' })
    return {
      url: server.url,
      async stop() {
        servicePaths.drain()
        await server.stop()
        // Its probes respond until now; the process ends next.
        void metricsServer?.stop()
        metrics?.close()
      },
    }
  } catch (error) {
    await metricsServer?.stop()
    throw error
  }
}

function indexOf({ basePath, explorer, compat, access }: ServeFlags): IndexOptions {
  const { plans, anonymous = 'refuse' } = access
  return {
    basePath,
    explorer,
    services: compat.map((name) => ({ name, example: SERVICES[name].example })),
    needsKey: plans.length > 0 && anonymous === 'refuse',
  }
}

async function notFound(): Promise<RawResponse> {
  return { status: 404, headers: [['cache-control', 'no-store']], body: null, matched: false }
}

interface Adapter {
  serve(handler: FetchHandler, options: ServeOptions): Promise<RunningServer>
}

const ADAPTERS: Record<typeof platform, () => Adapter | Promise<Adapter>> = {
  node: () => ({ serve }),
  bun: () => import('../../adapters/bun.ts'),
  deno: () => import('../../adapters/deno.ts'),
}

interface Listening {
  port: number
  host: string
  tls?: Tls | undefined
  /** The flag that sets the port. */
  flag: string
}

async function listen(
  handler: FetchHandler,
  { port, host: hostname, tls, flag }: Listening,
): Promise<RunningServer> {
  const adapter = await ADAPTERS[platform]()
  return adapter.serve(handler, { port, hostname, tls }).catch((error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'EADDRINUSE'
        ? `port ${port} on ${hostname} is already in use; choose another with ${flag}`
        : `cannot listen on ${hostname}, port ${port}: ${error.message}`
    throw new Error(reason, { cause: error })
  })
}

/** Codecs for bodies that are compressed once and sent often, while the first client waits. They load zlib on first use. */
export const codecs: Codecs = {
  br: async (body) => {
    const { brotliCompress, constants } = await import('node:zlib')
    const params = { [constants.BROTLI_PARAM_QUALITY]: 5 }
    return trimmed(await promisify(brotliCompress)(body, { params }))
  },
  gzip: async (body) => {
    const { gzip } = await import('node:zlib')
    // Level 1 takes a third of the time; the body is a few percent larger.
    const level = body.length > LARGE_BODY_BYTES ? 1 : 6
    return trimmed(await promisify(gzip)(body, { level }))
  },
}

function trimmed(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  // zlib returns a view of a larger buffer, which would stay in memory.
  return new Uint8Array(bytes)
}
