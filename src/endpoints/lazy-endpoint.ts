import type { Endpoint } from '../http/endpoint.ts'

/** Creates an endpoint whose code `load` imports on the first request; retries a failed import on the next request. */
export function lazyEndpoint(load: () => Promise<Endpoint>): Endpoint {
  let loaded: Promise<Endpoint> | undefined
  return async (query, request) => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return (await loaded)(query, request)
  }
}
