import { withTimeout } from '../../cache/with-timeout.ts'
import type { Runtime } from '../../runtime.ts'
import { createWait } from '../wait.ts'
import type { Wait } from '../wait.ts'

/** Answers a request of a provider as its upstream does, ranges of days and all. */
export type UpstreamFetch = (request: Request) => Response | Promise<Response>

/** One request of a provider. */
export interface Exchange {
  /** Aborts when the provider gives the request up, or its trial is over. */
  signal: AbortSignal
  /** What the upstream answers when all is well. */
  goodAnswer(): Promise<Response>
  wait: Wait
}

/** What becomes of a request. */
export type Behaviour = (exchange: Exchange) => Response | Promise<Response>

/** All goes well. */
export const HEALTHY: Behaviour = ({ goodAnswer }) => goodAnswer()

/** What a trial of a provider has in the place of a network. */
export interface Network {
  fetch: typeof fetch
  /** How many requests there were. */
  requests(): number
}

/** What a network is made from. */
export interface NetworkOptions {
  runtime: Runtime
  upstream: UpstreamFetch
  behaviour: Behaviour
  /** Aborts when the trial is over, so that nothing of it goes on. */
  over: AbortSignal
}

/** No request takes longer than this, in ms. */
const REQUEST_TIMEOUT_MS = 60_000

/** A network in which every request meets with `behaviour`, and ends with its signal as those of the platform do. */
export function createNetwork({ runtime, upstream, behaviour, over }: NetworkOptions): Network {
  // Held until the trial is over: Node forgets the abort of a request that nobody holds.
  const requests: Request[] = []
  const wait = createWait(runtime)
  return {
    requests: () => requests.length,
    async fetch(input, init) {
      // Whoever tries again for ever is to end with the trial, too.
      if (over.aborted) return new Promise(() => {})
      const request = new Request(input, init)
      requests.push(request)
      const signal = AbortSignal.any([request.signal, over])
      // A provider that asks again and again must not keep timers from firing.
      await wait(0)
      signal.throwIfAborted()
      const goodAnswer = async (): Promise<Response> => upstream(request)
      const answer = Promise.resolve(behaviour({ signal, goodAnswer, wait }))
      return withTimeout(runtime, REQUEST_TIMEOUT_MS, answer, signal)
    },
  }
}
