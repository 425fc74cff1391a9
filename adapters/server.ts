import { assertKnownOptions } from '../src/known-options.ts'

/** Answers a request with a response, as the handler of this package and whatever an app wraps around it do. */
export type FetchHandler = (request: Request) => Response | Promise<Response>

/** Where and how a server listens. */
export interface ServeOptions {
  /** Port to listen on; 0 takes any that is free (default 3000). */
  port?: number | undefined
  /** Address to listen on; `0.0.0.0` is every one of the machine (default `127.0.0.1`). */
  hostname?: string | undefined
  /**
   * Most connections at a time; further ones are closed at once, so that a load balancer tries another server. Node only:
   * Bun and Deno have no such limit (default 10,000).
   */
  maxConnections?: number | undefined
  /** Key and certificate in PEM, for HTTPS (default none, for HTTP). */
  tls?: { key: string; cert: string } | undefined
}

/** A server that listens. */
export interface RunningServer {
  /** Where it listens: scheme, address and port, without a slash behind. */
  readonly url: string
  /**
   * Takes no more connections and lets the answers under way finish; resolves when they have, or after ten seconds. What is
   * under way then is cut off, but for Deno, where it goes on.
   */
  stop(): Promise<void>
}

/** `options` with their defaults. */
export function listenOptions(options: ServeOptions): {
  port: number
  hostname: string
  maxConnections: number
  tls: ServeOptions['tls']
} {
  const { port = 3000, hostname = '127.0.0.1', maxConnections = 10_000, tls } = options
  assertKnownOptions(options, { port, hostname, maxConnections, tls })
  if (tls) assertKnownOptions(tls, { key: true, cert: true }, 'tls')
  return { port, hostname, maxConnections, tls }
}

/** The URL of a server without its path. */
export function toUrl(hostname: string, port: number, tls: ServeOptions['tls']): string {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname
  return `${tls ? 'https' : 'http'}://${host}:${port}`
}
