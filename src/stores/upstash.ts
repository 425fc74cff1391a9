import { assertKnownOptions } from '../known-options.ts'
import { createCommandStore } from './redis-commands.ts'
import type { ClaimingStore } from './redis-commands.ts'
import type { StoreOptions } from './store-options.ts'

export type { ClaimingStore } from './redis-commands.ts'

/** Options of `createUpstashStore`. */
export interface UpstashStoreOptions extends StoreOptions {
  /** The REST address of the database (required), `UPSTASH_REDIS_REST_URL`. */
  url: string
  /** Its token, one that may write (required), `UPSTASH_REDIS_REST_TOKEN`. */
  token: string
  /** Used for every call (default `globalThis.fetch`, looked up at each call). */
  fetch?: typeof fetch | undefined
}

/**
 * A store in Redis as Upstash serves it, over HTTP. It sends `GET` and `SET` only. Where a call fails it rejects with an
 * error whose message tells neither the address nor the token.
 *
 * @throws {TypeError} naming the option that cannot be used
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
        // A redirect could take the token elsewhere. (Workers do not know `error`.)
        redirect: 'manual',
      })
      return { status: response.status, text: await response.text() }
    } catch (cause) {
      throw new Error('Upstash could not be reached', { cause })
    }
  }

  return createCommandStore(async (command, args) => readResult(await post([command, ...args])), {
    prefix,
    now,
  })
}

function readResult({ status, text }: { status: number; text: string }): unknown {
  try {
    const answer: unknown = JSON.parse(text)
    const isObject = typeof answer === 'object' && answer !== null
    const isResult = isObject && 'result' in answer && !('error' in answer)
    if (status === 200 && isResult) return answer.result
  } catch (cause) {
    throw new Error(`Upstash answered ${status}, not in JSON`, { cause })
  }
  throw new Error(`Upstash answered ${status} without a result`, { cause: text.slice(0, 200) })
}

/** Neither this nor the next repeats what it was given: it may be secret. */
function requireAddress(url: unknown): void {
  const address = typeof url === 'string' && URL.canParse(url) ? new URL(url) : undefined
  const isHttp = address?.protocol === 'https:' || address?.protocol === 'http:'
  if (isHttp && !address.username && !address.password) return
  throw new TypeError('url must be an http(s) address without a user name')
}

function requireToken(token: unknown): void {
  // What a header cannot carry would otherwise be repeated in the error of each call.
  if (typeof token === 'string' && /^[!-~]+$/.test(token)) return
  throw new TypeError('token must be a text without white space')
}
