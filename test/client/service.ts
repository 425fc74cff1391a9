import { onTestFinished, vi } from 'vitest'

import { createRatesClient } from '../../src/client/index.ts'
import type { RatesClient, RatesClientOptions } from '../../src/client/index.ts'
import { settled } from '../virtual-runtime.ts'

export const NOW: number = Date.UTC(2026, 10, 20, 18)

/** A client whose time passes only on request, and what it has asked for. */
export interface Asking {
  client: RatesClient
  requests: Request[]
  /** Lets `duration` ms pass. */
  advance(duration: number): Promise<unknown>
  /** How many timers are waiting. */
  timers(): number
}

/** A client of whatever `answer` is; the last argument has the other options. */
export function clientOf(
  answer: (request: Request) => Response | Promise<Response>,
  options: Partial<RatesClientOptions> = {},
): Asking {
  vi.useFakeTimers({ now: NOW, toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const requests: Request[] = []
  const client = createRatesClient({
    baseUrl: 'http://localhost/api',
    fetch(request) {
      requests.push(request)
      return answer(request)
    },
    ...options,
  })
  const advance = async (duration: number) => {
    await settled()
    await vi.advanceTimersByTimeAsync(duration)
    await settled()
  }
  return { client, requests, advance, timers: () => vi.getTimerCount() }
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
