import { serve } from '../../adapters/node.ts'
import type { FetchHandler, RunningServer, ServeOptions } from '../../adapters/node.ts'
import { splitTarget, toFetchStyle } from '../core.ts'
import type { RatesHandler, RawRequest, RawResponse, ServerOptions } from '../index.ts'
import { createHealth, createMetrics, withAccessLog, withRequestIds } from '../monitoring/index.ts'
import type { AnsweringHandler } from '../monitoring/index.ts'
import { withCompression } from './compression.ts'
import type { ConfiguredHandler } from './config.ts'
import { platform } from './context.ts'
import type { CommandContext } from './context.ts'
import { UsageError } from './usage.ts'

interface Listening {
  port: number
  host: string
  server: ServerOptions
  /** Where `/` leads, if the handler has no such path. */
  home: string | undefined
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
  { port, host, server: options, home, file }: Listening,
  context: CommandContext,
): Promise<RunningServer> {
  const { tls, metrics: hasMetrics = false, accessLog = false } = options
  const isOurs = isRatesHandler(handler)
  if (!isOurs && (hasMetrics || accessLog)) {
    const name = hasMetrics ? 'metrics' : 'accessLog'
    throw new UsageError(`${file}: server.${name} needs a handler of createRatesHandler()`)
  }
  const health = createHealth(isOurs ? handler : UNKNOWN)
  const metrics = isOurs && hasMetrics ? createMetrics(handler) : undefined
  const paths: Paths = new Map([
    ['/healthz', health.live],
    ['/readyz', health.ready],
  ])
  if (metrics) paths.set('/metrics', () => metrics.fetch(new Request('http://localhost/')))
  const { answer, keyRules, proxies } = handler
  const served = answer
    ? wrapped({ answer: answerAll(answer, paths, home), keyRules, proxies }, options, context)
    : (request: Request, info: unknown) => {
        const { method, url: target } = request
        return paths.get(pathOf({ method, target }))?.() ?? handler(request, info)
      }
  const server = await listen(served, { port, hostname: host, tls })
  return {
    url: server.url,
    async stop() {
      health.drain()
      await server.stop()
      metrics?.close()
    },
  }
}

function isRatesHandler(handler: ConfiguredHandler): handler is ConfiguredHandler & RatesHandler {
  const { answer, inspect, refresh, subscribe } = handler
  return [answer, inspect, refresh, subscribe].every((member) => typeof member === 'function')
}

/** For a handler with unknown data: it is always ready. */
const UNKNOWN: Pick<RatesHandler, 'inspect' | 'refresh'> = {
  inspect: () => ({
    status: { ready: true, latest: null, history: null },
    responseCacheBytes: 0,
    waiting: 0,
  }),
  async refresh() {},
}

/** Responses outside of the handler: they need no key. */
type Paths = Map<string | undefined, () => Response | Promise<Response>>

/** Adds `paths`, and a redirect from `/` where the handler has no such path: with an empty base path, the explorer is there. */
function answerAll(
  answer: RatesHandler['answer'],
  paths: Paths,
  home: string | undefined,
): RatesHandler['answer'] {
  return async (request) => {
    const path = pathOf(request)
    const own = paths.get(path)
    if (own) return toRaw(await own(), request)
    const response = await answer(request)
    if (path !== '/' || home === undefined || response.matched) return response
    const headers = { location: home, 'cache-control': 'no-cache' }
    return toRaw(new Response(`See ${home}\n`, { status: 302, headers }), request)
  }
}

/** Returns the path of a `GET` or `HEAD`; undefined for other methods. */
function pathOf(request: Pick<RawRequest, 'method' | 'target'>): string | undefined {
  try {
    return /^(?:GET|HEAD)$/.test(request.method) ? splitTarget(request.target).path : undefined
  } catch {
    // The handler responds to unreadable requests.
    return undefined
  }
}

async function toRaw(response: Response, { method }: RawRequest): Promise<RawResponse> {
  const body = await response.text()
  return {
    status: response.status,
    headers: [...response.headers, ['content-length', String(Buffer.byteLength(body))]],
    body: method === 'HEAD' ? null : body,
    // Not a path of the API: access logs do not contain it.
    matched: false,
  }
}

function wrapped(
  { answer, keyRules, proxies }: AnsweringHandler,
  { accessLog = false, compress = true }: ServerOptions,
  { stdout, now }: CommandContext,
): FetchHandler {
  const sent = compress
    ? withCompression({ answer })
    : Object.assign(toFetchStyle(answer), { answer })
  if (!accessLog) return sent
  const write = (line: string): void => void stdout.write(`${line}\n`)
  const { clients } = accessLog === true ? { clients: false } : accessLog
  return withRequestIds(
    withAccessLog({ answer: sent.answer, keyRules, proxies }, { write, clients, now }),
  )
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
