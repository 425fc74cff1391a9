import type { Runtime } from '../runtime.ts'
import type { Exchange } from './exchange.ts'
import type { CallOptions } from './target.ts'
import { requireBody } from './response.ts'
import type { FieldOf, ClientResponse } from './response.ts'

/** A question to one endpoint, which is answered with an `Outcome`. */
interface ClientRequest<Outcome> extends CallOptions {
  /** Where to ask, behind `/v1/`. */
  endpoint: string
  /** Parameters; what is undefined is not sent. */
  query?: Query
  /** A field by which an `Outcome` is known. */
  mark: FieldOf<Outcome>
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** Asks one question; resolves to what answers it, or rejects with a `RatesError`. */
export type Call = <Outcome>(question: ClientRequest<Outcome>) => Promise<Outcome>

/** Where and how a client asks. */
export interface CallSettings {
  /** URL of the mount, without a slash at its end. */
  root: string
  exchange: Exchange
  /** How often to ask again after a 502, or a 503 with `Retry-After`. */
  retries: number
  startTimer: Runtime['startTimer']
}

/** For how many seconds an answer is waited for; a service that wants more time is not asked again. */
const MAX_RETRY_AFTER_SECONDS = 10

/** A call that asks again after a 502, or a 503 with `Retry-After`: when the answer says to, or after as many seconds as it has asked before. */
export function createCall({ root, exchange, retries, startTimer }: CallSettings): Call {
  /** Resolves after so many seconds, or when `signal` aborts. */
  function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        stop()
        signal?.removeEventListener('abort', end)
        resolve()
      }
      const stop = startTimer(end, seconds * 1_000)
      signal?.addEventListener('abort', end)
    })
  }

  return async ({ endpoint, query = {}, mark, signal }) => {
    const url = `${root}/v1/${endpoint}${toSearch(query)}`
    for (let tries = 1; ; tries += 1) {
      signal?.throwIfAborted()
      const reply = await exchange(url, signal)
      const { retryAfter = tries } = reply
      if (!isRetried(reply) || tries > retries || retryAfter > MAX_RETRY_AFTER_SECONDS) {
        return requireBody(reply, mark, root)
      }
      await sleep(retryAfter, signal)
    }
  }
}

/** Gateways answer with 503, too, but only a service that is overloaded says when to come back. */
function isRetried({ status, retryAfter }: ClientResponse): boolean {
  return status === 502 || (status === 503 && retryAfter !== undefined)
}

function toSearch(query: Query): string {
  const sent = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(sent.map(([name, value]) => [name, String(value)]))
  return sent.length > 0 ? `?${search}` : ''
}
