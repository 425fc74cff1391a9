import { createHandlerOn } from '../../src/handler.ts'
import type { RatesHandler, RatesHandlerOptions } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW } from '../catalogue/catalogue.ts'
import { virtualRuntime } from '../virtual-runtime.ts'

/**
 * A handler of the synthetic market that has its data, on a machine whose time stands still: two of them with the same
 * options say the same.
 */
export async function loadedHandler(options: RatesHandlerOptions = {}): Promise<RatesHandler> {
  const runtime = virtualRuntime(NOW)
  const providers = fakeProviders({ now: runtime.now })
  const handler = createHandlerOn(() => runtime, { now: runtime.now, providers, ...options })
  await handler.refresh()
  return handler
}
