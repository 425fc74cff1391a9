import { withCompression } from '../../src/cli/compression.ts'
import { createHandlerOn } from '../../src/handler.ts'
import type { RatesHandler, RatesHandlerOptions } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW, send } from '../catalogue/catalogue.ts'
import type { RequestData, ResponseData } from '../catalogue/catalogue.ts'
import { virtualRuntime } from '../virtual-runtime.ts'

/** One synthetic market for all handlers of a file, because creating a market is slow. */
const market = fakeProviders({ now: () => NOW })

/** Creates a handler without data, with a clock that stands still at `start`. */
export function createStillHandler(options: RatesHandlerOptions, start = NOW): RatesHandler {
  const runtime = virtualRuntime(start)
  const quotes = { secrets: ['a secret of at least thirty-two bytes'] }
  return createHandlerOn(() => runtime, { now: runtime.now, quotes, ...options })
}

/**
 * Creates a handler with the data of the synthetic market and a clock that stands still: handlers with the same options
 * return equal responses.
 */
export async function loadedHandler(options: RatesHandlerOptions = {}): Promise<RatesHandler> {
  const handler = createStillHandler({ providers: market, ...options })
  await handler.refresh()
  return handler
}

export function compress(handler: RatesHandler): ReturnType<typeof withCompression> {
  const codec = async (): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(1)
  return withCompression(handler, { br: codec, gzip: codec })
}

export function providersThat(work: () => Promise<never>): RatesHandlerOptions['providers'] {
  const { latest, history } = market
  return {
    latest: { ...latest, fetchLatest: work },
    history: { ...history, fetchHistory: work },
  }
}

type Ask = (
  handler: RatesHandler,
  target: string,
  headers?: RequestData['headers'],
) => Promise<ResponseData>

export const get: Ask = async (handler, target, headers) =>
  withoutId(await send(handler, { method: 'GET', target, headers }, 'answer'))

export const fetchFrom: Ask = async (handler, target, headers) =>
  withoutId(await send(handler, { method: 'GET', target, headers }))

/** Quotes differ in their ids alone. */
export function withoutId(response: ResponseData): ResponseData {
  const body = response.body.replace(/"jti":.*"quote":"[^"]*"/, '"quote":""')
  return { ...response, body }
}
