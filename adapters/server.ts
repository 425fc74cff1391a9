import type { RawRequest, RawResponse } from '../src/index.ts'
import { toResponder } from '../src/http/response.ts'
import { assertKnownOptions } from '../src/known-options.ts'

/**
 * A fetch-style handler: the one of this package, or any function around it. Pass `info` on where clients are counted by
 * address: it contains the one of the client. Servers call `answer()` instead where a handler has it: that is faster.
 */
export type FetchHandler = ((request: Request, info?: unknown) => Response | Promise<Response>) & {
  answer?: Answer
}

/** The function of a handler that returns the response as data: a promise only where it has to wait. */
export type Answer = (request: RawRequest) => RawResponse | Promise<RawResponse>

/** Options of `serve()`. */
export interface ServeOptions {
  /** Port to listen on; 0 picks a free one (default 3000). */
  port?: number | undefined
  /** Address to listen on; `0.0.0.0` for all interfaces (default `127.0.0.1`). */
  hostname?: string | undefined
  /**
   * Limit of open connections (default 10,000). Further ones are closed immediately, so that a load balancer tries another
   * server. Node only: Bun and Deno have no such limit.
   */
  maxConnections?: number | undefined
  /** Key and certificate in PEM for HTTPS (default none: HTTP). */
  tls?: { key: string; cert: string } | undefined
}

/** A listening server. */
export interface RunningServer {
  /** Scheme, address and port, without a trailing slash. */
  readonly url: string
  /**
   * Stops accepting connections and finishes responses in progress; resolves when they are sent, or after ten seconds.
   * Remaining responses are then aborted, except on Deno, where they continue.
   */
  stop(): Promise<void>
}

export function listenOptions(options: ServeOptions): {
  port: number
  hostname: string
  maxConnections: number
  tls: ServeOptions['tls']
} {
  const { port = 3000, hostname = '127.0.0.1', maxConnections = 10_000, tls } = options
  const resolved = { port, hostname, maxConnections, tls }
  assertKnownOptions(options, resolved)
  if (tls) assertKnownOptions(tls, { key: true, cert: true }, 'tls')
  return resolved
}

export function toUrl(hostname: string, port: number, tls: ServeOptions['tls']): string {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname
  return `${tls ? 'https' : 'http'}://${host}:${port}`
}

export function failed(): Response {
  return new Response(null, { status: 500, headers: { 'cache-control': 'no-store' } })
}

export function responderOf(
  handler: FetchHandler,
  unsentBytes?: RawRequest['unsentBytes'],
): ReturnType<typeof toServerFunction> {
  const { answer } = handler
  return toServerFunction(answer ? toResponder(answer, unsentBytes) : handler)
}

/** A 500 if `respond` throws or returns an invalid or already read response; without a promise where it needs none. */
export function toServerFunction(
  respond: (request: Request, info: unknown) => Response | Promise<Response>,
): (request: Request, info: unknown) => Response | Promise<Response> {
  return (request, info) => {
    try {
      const response = respond(request, info)
      return isUsable(response) ? response : usable(response)
    } catch {
      return failed()
    }
  }
}

async function usable(promise: Response | Promise<Response>): Promise<Response> {
  try {
    const response = await promise
    return isUsable(response) ? response : failed()
  } catch {
    return failed()
  }
}

function isUsable(response: unknown): response is Response {
  return (response as Partial<Response> | null | undefined)?.bodyUsed === false
}

const DRAIN_TIMEOUT_MS = 10_000

const POLL_INTERVAL_MS = 20

/** Resolves when `isBusy` returns false, or after 10 s. */
export async function untilIdle(isBusy: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + DRAIN_TIMEOUT_MS
  while (isBusy() && performance.now() < giveUpAt) {
    await new Promise((resolve) => void setTimeout(resolve, POLL_INTERVAL_MS))
  }
}
