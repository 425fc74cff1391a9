import { createClientOn } from '../../src/client/client.ts'
import type { RatesClient, RatesClientOptions } from '../../src/client/index.ts'
import { virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

export const NOW: number = Date.UTC(2026, 10, 20, 18)

/** A client on a virtual machine, and what it has asked for. */
export interface Asking {
  client: RatesClient
  runtime: VirtualRuntime
  requests: Request[]
}

/** A client of whatever `answer` is; the last argument has the other options. */
export function clientOf(
  answer: (request: Request) => Response | Promise<Response>,
  options: Partial<RatesClientOptions> = {},
): Asking {
  const runtime = virtualRuntime(NOW)
  const requests: Request[] = []
  const client = createClientOn(runtime, {
    baseUrl: 'http://localhost/api',
    fetch(request) {
      requests.push(request)
      return answer(request)
    },
    ...options,
  })
  return { client, runtime, requests }
}

/** What answers with `responses`, one after another, and with the last one from then on. */
export function inTurn(...responses: (() => Response)[]): () => Response {
  const left = [...responses]
  return () => {
    const [next] = left.length > 1 ? left.splice(0, 1) : left
    if (!next) throw new Error('there is no response')
    return next()
  }
}

/** The refusal of a service that has no rates. */
export function badGateway(retryAfter?: string): () => Response {
  const error = { code: 'provider_unavailable', message: 'No rates' }
  const headers: HeadersInit = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
  return () => Response.json({ error }, { status: 502, headers })
}

/** A conversion record, as far as a client looks at it. */
export function conversion(rate = 2): Response {
  return Response.json({ rate, result: rate }, { headers: { etag: `"${rate}"` } })
}

/** What `promise` rejects with. */
export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error('it resolved'),
    (reason: unknown) => reason,
  )
}
