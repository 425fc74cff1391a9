import type { Endpoint } from '../http/endpoint.ts'

/** An endpoint that few ask: `load` gets it when it is first asked, and again if that failed, so that nobody else has it. */
export function lazyEndpoint(load: () => Promise<Endpoint>): Endpoint {
  let loaded: Promise<Endpoint> | undefined
  return async (query, waiter) => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined
      throw error
    })
    return (await loaded)(query, waiter)
  }
}
