import { loadOnce } from '../async.ts'
import { toFetchStyle } from '../http/response.ts'
import type { RatesHandler, RawRequest, RawResponse } from '../index.ts'
import type { Health } from '../monitoring/index.ts'

/** A handler for the adapters. */
export interface ServedHandler {
  (request: Request): Promise<Response>
  answer(request: RawRequest): RawResponse | Promise<RawResponse>
}

/** Creates the response to a `GET`. */
type Respond = (request: RawRequest) => Response | Promise<Response>

/** The paths of a server besides its probes. */
interface OtherPaths {
  /** Responses by path. */
  paths?: Readonly<Record<string, Respond>> | undefined
  /** The page at `/`, where the handler has none. */
  index?: Respond | undefined
}

/** What a server has outside the API. */
export interface ServicePaths {
  /** Returns `handler` with the probes `/healthz` and `/readyz`, and `others`. */
  mount(handler: Pick<ServedHandler, 'answer'>, others?: OtherPaths): ServedHandler
  /** Makes `/readyz` respond with 503 from now on. */
  drain(): void
}

/**
 * Creates the paths of `ratesmith serve` outside the API. They are free, and need no key. The probes are loaded on their
 * first request.
 */
export function createServicePaths(handler: RatesHandler): ServicePaths {
  let isDraining = false
  const loadHealth = loadOnce(async () => {
    const { createHealth } = await import('../monitoring/health.ts')
    return createHealth(handler)
  })
  async function probe(read: (health: Health) => Response): Promise<Response> {
    const health = await loadHealth()
    if (isDraining) health.drain()
    return read(health)
  }

  const probes: Record<string, Respond> = {
    '/healthz': () => probe((loaded) => loaded.live()),
    '/readyz': () => probe((loaded) => loaded.ready()),
  }
  return {
    mount({ answer }, { paths = {}, index } = {}) {
      const all = new Map(Object.entries({ ...probes, ...paths }))
      const answerAll = async (request: RawRequest): Promise<RawResponse> => {
        const path = pathOf(request)
        const respond = path === undefined ? undefined : all.get(path)
        if (respond) return toRaw(respond, request)
        const response = await answer(request)
        // With an empty base path, the explorer has this path.
        return path === '/' && index && !response.matched ? toRaw(index, request) : response
      }
      return Object.assign(toFetchStyle(answerAll), { answer: answerAll })
    },
    drain: () => void (isDraining = true),
  }
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
