import type { Runtime } from '../runtime.ts'
import type { Exchange } from './exchange.ts'
import { requireBody } from './response.ts'
import type { ClientResponse, FieldOf } from './response.ts'
import type { CallOptions } from './target.ts'

interface ClientRequest<Body> extends CallOptions {
  /** The path after `/v1/`. */
  endpoint: string
  /** Parameters; undefined ones are not sent. */
  query?: Query
  /** A field that identifies a valid body. */
  field: FieldOf<Body>
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>

/** Sends one request; resolves to the body of its response, or rejects with a `RatesError`. */
export type Call = <Body>(request: ClientRequest<Body>) => Promise<Body>

/** Settings of `createCall()`. */
export interface CallSettings {
  /** URL of the mount, without a trailing slash. */
  root: string
  exchange: Exchange
  /** Number of retries after a 502, or a 503 with `Retry-After`. */
  retries: number
  startTimer: Runtime['startTimer']
}

/** Responses with a longer `Retry-After` are not retried. */
const MAX_RETRY_AFTER_SECONDS = 10

/** Creates a call that retries after a 502, or a 503 with `Retry-After`: after that delay, or else after 1 s, 2 s and so on. */
export function createCall({ root, exchange, retries, startTimer }: CallSettings): Call {
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

  return async ({ endpoint, query = {}, field, signal }) => {
    const url = `${root}/v1/${endpoint}${toSearch(query)}`
    for (let tries = 1; ; tries += 1) {
      signal?.throwIfAborted()
      const response = await exchange(url, signal)
      const { retryAfter = tries } = response
      if (!isRetried(response) || tries > retries || retryAfter > MAX_RETRY_AFTER_SECONDS) {
        return requireBody(response, field, root)
      }
      await sleep(retryAfter, signal)
    }
  }
}

/** A 503 without `Retry-After` comes from a gateway; an overloaded service sends `Retry-After`. */
function isRetried({ status, retryAfter }: ClientResponse): boolean {
  return status === 502 || (status === 503 && retryAfter !== undefined)
}

function toSearch(query: Query): string {
  const sent = Object.entries(query).filter(([, value]) => value !== undefined)
  const search = new URLSearchParams(sent.map(([name, value]) => [name, String(value)]))
  return sent.length > 0 ? `?${search}` : ''
}
