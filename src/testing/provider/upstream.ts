import { withTimeout } from '../../async.ts'
import type { Runtime } from '../../async.ts'
import { createWait } from '../wait.ts'
import type { Wait } from '../wait.ts'

/** Responds to requests of a provider like its healthy upstream, including requests for ranges of days. */
export type UpstreamFetch = (request: Request) => Response | Promise<Response>

/** A request of a provider. */
export interface Exchange {
  /** Aborts with the request, and at the end of the trial. */
  signal: AbortSignal
  /** Returns the response of the healthy upstream. */
  goodResponse(): Promise<Response>
  wait: Wait
}

/** Behaviour of an upstream. */
export type Behaviour = (exchange: Exchange) => Response | Promise<Response>

/** Behaviour of the healthy upstream. */
export const HEALTHY: Behaviour = ({ goodResponse }) => goodResponse()

/** A simulated network. */
export interface Network {
  fetch: typeof fetch
  /** Returns the number of requests. */
  requests(): number
}

/** Options of `createNetwork`. */
export interface NetworkOptions {
  runtime: Runtime
  upstream: UpstreamFetch
  behaviour: Behaviour
  /** Aborts at the end of the trial, to stop everything that still runs. */
  over: AbortSignal
}

const REQUEST_TIMEOUT_MS = 60_000

/** Creates a network with `behaviour`, whose requests end with their signals as with the platform's `fetch`. */
export function createNetwork({ runtime, upstream, behaviour, over }: NetworkOptions): Network {
  // Keeps references until the end of the trial: Node loses the abort of a garbage-collected request.
  const requests: Request[] = []
  const wait = createWait(runtime)
  return {
    requests: () => requests.length,
    async fetch(input, init) {
      // Stops providers that retry endlessly.
      if (over.aborted) return new Promise(() => {})
      const request = new Request(input, init)
      requests.push(request)
      const signal = AbortSignal.any([request.signal, over])
      // Lets timers fire while a provider retries without a delay.
      await wait(0)
      signal.throwIfAborted()
      const goodResponse = async (): Promise<Response> => upstream(request)
      const response = Promise.resolve(behaviour({ signal, goodResponse, wait }))
      return withTimeout(runtime, REQUEST_TIMEOUT_MS, response, signal)
    },
  }
}
