import { onTestFinished, vi } from 'vitest'

import { createRatesClient } from '../../src/client/index.ts'
import type { RatesClientOptions } from '../../src/client/index.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { settled } from '../virtual-runtime.ts'

export const NOW: number = Date.UTC(2026, 10, 20, 18)

export const PAIR = { from: 'USD', to: 'EUR' } as const

const now = (): number => NOW

export const handler: RatesHandler = createRatesHandler({ providers: fakeProviders({ now }), now })

/** Creates a client of `respond` whose time passes only in `advance`; `timers` counts pending timers. */
export function clientOf(
  respond: (request: Request) => Response | Promise<Response>,
  options: Partial<RatesClientOptions> = {},
) {
  vi.useFakeTimers({ now: NOW, toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const requests: Request[] = []
  const client = createRatesClient({
    baseUrl: 'http://localhost/api',
    fetch(request) {
      requests.push(request)
      return respond(request)
    },
    ...options,
  })
  const advance = async (duration: number) => {
    await settled()
    await vi.advanceTimersByTimeAsync(duration)
    await settled()
  }
  const tags = () => requests.map(({ headers }) => headers.get('if-none-match'))
  return { client, requests, tags, advance, timers: () => vi.getTimerCount() }
}

/** Returns a function that returns `responses` in order, then repeats the last one. */
export function inTurn(...responses: (() => Response)[]): () => Response {
  const left = [...responses]
  return () => {
    const [next] = left.length > 1 ? left.splice(0, 1) : left
    if (!next) throw new Error('inTurn() needs a response')
    return next()
  }
}

export function badGateway(retryAfter?: string): () => Response {
  const error = { code: 'provider_unavailable', message: 'No rates' }
  const headers: HeadersInit = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
  return () => Response.json({ error }, { status: 502, headers })
}

/** Returns the fields of a conversion that a client checks. */
export function conversion(rate = 2): Response {
  return Response.json({ rate, result: rate }, { headers: { etag: `"${rate}"` } })
}

export async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error('it resolved'),
    (reason: unknown) => reason,
  )
}
