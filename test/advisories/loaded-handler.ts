import { withCompression } from '../../src/compression/with-compression.ts'
import type { CompressedHandler } from '../../src/compression/with-compression.ts'
import { createHandlerOn } from '../../src/handler.ts'
import type { RatesHandler, RatesHandlerOptions } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW, ask } from '../catalogue/catalogue.ts'
import type { Question, Reply } from '../catalogue/catalogue.ts'
import { virtualRuntime } from '../virtual-runtime.ts'

/** One synthetic market for all handlers of a file, as to make a market takes longer than to read it. */
const market = fakeProviders({ now: () => NOW })

/** Creates a handler without data on a machine whose time stands still at `start`. */
export function createStillHandler(options: RatesHandlerOptions, start = NOW): RatesHandler {
  const runtime = virtualRuntime(start)
  return createHandlerOn(() => runtime, { now: runtime.now, ...options })
}

/**
 * Creates a handler of the synthetic market that has its data, on a machine whose time stands still: two of them with the
 * same options give the same answers.
 */
export async function loadedHandler(options: RatesHandlerOptions = {}): Promise<RatesHandler> {
  const handler = createStillHandler({ providers: market, ...options })
  await handler.refresh()
  return handler
}

/** `handler` with compression, whose codecs make one byte of every body. */
export function compress(handler: RatesHandler): CompressedHandler {
  const codec = async (): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(1)
  return withCompression(handler, { br: codec, gzip: codec })
}

/** Providers of both data sets that do what `work` does. */
export function providersThat(work: () => Promise<never>): RatesHandlerOptions['providers'] {
  const { latest, history } = market
  return {
    latest: { ...latest, fetchLatest: work },
    history: { ...history, fetchHistory: work },
  }
}

type Ask = (handler: RatesHandler, target: string, headers?: Question['headers']) => Promise<Reply>

/** Returns the answer, as data, to GET `target`. */
export const get: Ask = (handler, target, headers) =>
  ask(handler, { method: 'GET', target, headers }, 'answer')

/** Returns the response to GET `target`. */
export const fetchFrom: Ask = (handler, target, headers) =>
  ask(handler, { method: 'GET', target, headers })
