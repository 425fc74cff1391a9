import { assertKnownOptions } from '../known-options.ts'
import type { StoreOptions } from '../known-options.ts'
import { createRedisStore } from './redis.ts'
import type { ClaimingStore } from './redis.ts'

export type { ClaimingStore } from './redis.ts'

/** Options of `createUpstashStore`. */
export interface UpstashStoreOptions extends StoreOptions {
  /** REST URL of the database, `UPSTASH_REDIS_REST_URL` (required). */
  url: string
  /** Token with write access, `UPSTASH_REDIS_REST_TOKEN` (required). */
  token: string
  /** Used for every request (default `globalThis.fetch`, looked up at each call). */
  fetch?: typeof fetch | undefined
}

/**
 * Creates a store in Upstash Redis, over HTTP. It sends only `GET` and `SET`. Error messages contain neither the URL nor
 * the token.
 *
 * @throws {TypeError} naming the invalid option
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createUpstashStore } from 'ratesmith/stores/upstash'
 *
 * const store = createUpstashStore({ url: 'https://database.example', token: 'AX8sASQg' })
 * const handler = createRatesHandler({ store })
 * ```
 */
export function createUpstashStore(options: UpstashStoreOptions): ClaimingStore {
  const { url, token, fetch, prefix, now } = options
  assertKnownOptions(options, { url, token, fetch, prefix, now })
  requireAddress(url)
  requireToken(token)
  if (fetch !== undefined && typeof fetch !== 'function') {
    throw new TypeError('fetch must be a function')
  }

  async function post(command: string[]): Promise<{ status: number; text: string }> {
    try {
      const response = await (fetch ?? globalThis.fetch)(url, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(command),
        // Some frameworks cache responses, also to a POST.
        cache: 'no-store',
        // A redirect could leak the token. (Workers do not support `error`.)
        redirect: 'manual',
      })
      return { status: response.status, text: await response.text() }
    } catch (cause) {
      throw new Error('request to Upstash failed', { cause })
    }
  }

  const send = async (command: string, args: string[]): Promise<unknown> =>
    readResult(await post([command, ...args]))
  return createRedisStore({ send }, { prefix, now })
}

function readResult({ status, text }: { status: number; text: string }): unknown {
  try {
    const body: unknown = JSON.parse(text)
    const isObject = typeof body === 'object' && body !== null
    const isResult = isObject && 'result' in body && !('error' in body)
    if (status === 200 && isResult) return body.result
  } catch (cause) {
    throw new Error(`Upstash returned HTTP ${status} with invalid JSON`, { cause })
  }
  throw new Error(`Upstash returned HTTP ${status} without a result`, { cause: text.slice(0, 200) })
}

/** This message and the next do not quote the value: it may be secret. */
function requireAddress(url: unknown): void {
  const address = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
  const isHttp = address?.protocol === 'https:' || address?.protocol === 'http:'
  if (isHttp && !address.username && !address.password) return
  throw new TypeError('url must be an http(s) URL without a user name or password')
}

function requireToken(token: unknown): void {
  // Otherwise the error of each call would quote a token that is invalid in a header.
  if (typeof token === 'string' && /^[!-~]+$/.test(token)) return
  throw new TypeError('token must be printable ASCII characters without spaces')
}
