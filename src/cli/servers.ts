import { serve } from '../../adapters/node.ts'
import type { FetchHandler, RunningServer, ServeOptions } from '../../adapters/node.ts'
import type { RawRequest, ServerOptions } from '../index.ts'
import { withCompression } from './compression.ts'
import type { ConfiguredHandler } from './config.ts'
import type { IndexOptions } from './index-page.ts'
import { platform } from './context.ts'
import type { CommandContext } from './context.ts'
import { isRatesHandler, mountServicePaths } from './service-paths.ts'
import type { ServedHandler } from './service-paths.ts'
import { UsageError } from './usage.ts'

interface Listening {
  port: number
  host: string
  server: ServerOptions
  index: IndexOptions | undefined
  file: string | undefined
}

/**
 * Starts the server of `handler`.
 *
 * @throws {UsageError} if an option needs a handler of `createRatesHandler`
 * @throws {Error} with a message for the operator if it cannot listen
 */
export async function openServer(
  handler: ConfiguredHandler,
  { port, host, server: options, index: about, file }: Listening,
  context: CommandContext,
): Promise<RunningServer> {
  const { tls, metrics: hasMetrics = false, accessLog = false, compress = true } = options
  const isOurs = isRatesHandler(handler)
  if (!isOurs && (hasMetrics || accessLog)) {
    const name = hasMetrics ? 'metrics' : 'accessLog'
    throw new UsageError(`${file}: server.${name} needs a handler of createRatesHandler()`)
  }
  const isMonitored = isOurs && (hasMetrics || accessLog)
  const monitoring = isMonitored ? await import('../monitoring/index.ts') : undefined
  const metrics = isOurs && hasMetrics ? monitoring?.createMetrics(handler) : undefined
  const paths = metrics && {
    '/metrics': () => metrics.fetch(new Request('http://localhost/')),
  }
  const index =
    about &&
    (async (request: RawRequest): Promise<Response> =>
      (await import('./index-page.ts')).indexPage(request, about))
  const { mounted, drain } = mountServicePaths(handler, { index, paths })
  let served: FetchHandler = mounted
  if (isAnswering(mounted)) {
    const sent = compress ? withCompression(mounted) : mounted
    served = sent
    if (accessLog && monitoring) {
      const write = (line: string): void => void context.stdout.write(`${line}\n`)
      const { clients } = accessLog === true ? { clients: false } : accessLog
      const { keyRules, proxies } = handler
      const logged = { answer: sent.answer, keyRules, proxies }
      served = monitoring.withRequestIds(
        monitoring.withAccessLog(logged, { write, clients, now: context.now }),
      )
    }
  }
  const server = await listen(served, { port, hostname: host, tls })
  return {
    url: server.url,
    async stop() {
      drain()
      await server.stop()
      metrics?.close()
    },
  }
}

function isAnswering(handler: FetchHandler): handler is ServedHandler {
  return handler.answer !== undefined
}

interface Adapter {
  serve(handler: FetchHandler, options: ServeOptions): Promise<RunningServer>
}

const ADAPTERS: Record<typeof platform, () => Adapter | Promise<Adapter>> = {
  node: () => ({ serve }),
  bun: () => import('../../adapters/bun.ts'),
  deno: () => import('../../adapters/deno.ts'),
}

async function listen(handler: FetchHandler, options: ServeOptions): Promise<RunningServer> {
  const { port, hostname } = options
  const adapter = await ADAPTERS[platform]()
  return adapter.serve(handler, options).catch((error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'EADDRINUSE'
        ? `port ${port} on ${hostname} is already in use; choose another with --port`
        : `cannot listen on ${hostname}, port ${port}: ${error.message}`
    throw new Error(reason, { cause: error })
  })
}
