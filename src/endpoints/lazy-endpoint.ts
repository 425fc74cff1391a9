import type { Endpoint } from '../http/endpoint.ts'
import { createOnce } from './once.ts'

/** An endpoint that few ask: `load` gets it when it is first asked, so that nobody else has to have it. */
export function lazyEndpoint(load: () => Promise<Endpoint>): Endpoint {
  const loadOnce = createOnce(load)
  return async (query, waiter) => (await loadOnce())(query, waiter)
}
