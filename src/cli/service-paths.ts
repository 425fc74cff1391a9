import { loadOnce } from '../async.ts'
import { toFetchStyle } from '../http/response.ts'
import type { Answer, FetchHandler } from '../../adapters/server.ts'
import type { RatesHandler, RawRequest, RawResponse } from '../index.ts'
import type { Health } from '../monitoring/index.ts'
import type { ConfiguredHandler } from './config.ts'

export interface ServedHandler {
  (request: Request): Promise<Response>
  answer(request: RawRequest): RawResponse | Promise<RawResponse>
}

type Respond = (request: RawRequest) => Response | Promise<Response>

export interface OtherPaths {
  paths?: Readonly<Record<string, Respond>> | undefined
  /** The page at `/`, where the handler has none. */
  index?: Respond | undefined
}

export function isRatesHandler(
  handler: ConfiguredHandler,
): handler is ConfiguredHandler & RatesHandler {
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

/** The probes need no key; after `drain()`, `/readyz` responds with 503. They are loaded on their first request. */
export function mountServicePaths(
  handler: ConfiguredHandler,
  { paths = {}, index }: OtherPaths,
): { mounted: FetchHandler; drain(): void } {
  let isDraining = false
  const loadHealth = loadOnce(async () => {
    const { createHealth } = await import('../monitoring/index.ts')
    return createHealth(isRatesHandler(handler) ? handler : UNKNOWN)
  })
  async function probe(read: (health: Health) => Response): Promise<Response> {
    const health = await loadHealth()
    if (isDraining) health.drain()
    return read(health)
  }

  const all = new Map<string | undefined, Respond>([
    ['/healthz', () => probe((loaded) => loaded.live())],
    ['/readyz', () => probe((loaded) => loaded.ready())],
    ...Object.entries(paths),
  ])
  /** Responds for a handler without `answer()`. */
  async function respond(request: Request, info?: unknown): Promise<Response> {
    const raw = { method: request.method, target: request.url, header: () => undefined }
    const own = all.get(pathOf(raw))
    return own ? own(raw) : handler(request, info)
  }

  function withAnswer(answer: Answer): ServedHandler {
    async function answerAll(request: RawRequest): Promise<RawResponse> {
      const path = pathOf(request)
      const own = all.get(path)
      if (own) return toRaw(own, request)
      const response = await answer(request)
      // With an empty base path, the explorer has this path.
      return path === '/' && index && !response.matched ? toRaw(index, request) : response
    }
    return Object.assign(toFetchStyle(answerAll), { answer: answerAll })
  }

  const mounted = handler.answer ? withAnswer(handler.answer) : respond
  return { mounted, drain: () => void (isDraining = true) }
}

/** Returns the path of a `GET` or `HEAD`; undefined for other methods. */
function pathOf(request: RawRequest): string | undefined {
  try {
    const { method, target } = request
    if (method !== 'GET' && method !== 'HEAD') return undefined
    const local = target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '')
    const end = local.indexOf('?')
    return end === -1 ? local : local.slice(0, end)
  } catch {
    // The handler responds to unreadable requests.
    return undefined
  }
}

async function toRaw(respond: Respond, request: RawRequest): Promise<RawResponse> {
  const response = await respond(request)
  const body = await response.text()
  const length = new TextEncoder().encode(body).length
  const headers: RawResponse['headers'] = [...response.headers, ['content-length', String(length)]]
  // Not a path of the API: access logs do not contain it.
  return {
    status: response.status,
    headers,
    body: request.method === 'HEAD' ? null : body,
    matched: false,
  }
}
