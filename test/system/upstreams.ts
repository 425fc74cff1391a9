import { createServer } from 'node:http'

import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/fake-providers.ts'

import { good } from '../fixtures/feed.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import { listenOnFreePort } from './sockets.ts'

type Respond = (url: URL, now: number) => Response | Promise<Response>

const service = createRatesHandler({ providers: fakeProviders() })

/** Responses of the hosts that only programs in the documentation call. */
const HOSTS: Record<string, Respond> = {
  // A service mounted at /api, and the feed of a company.
  'app.example': (url) => service(new Request(url)),
  'treasury.example': (_, now) =>
    Response.json({ published: new Date(now).toISOString(), usd: { EUR: 0.85, JPY: 156.4 } }),
}

/** Responds to a request like the host in its URL. */
export async function respondAsUpstream(
  url: URL,
  now: number = Date.now(),
  body = '',
): Promise<Response> {
  const named = HOSTS[url.host]
  if (named) return named(url, now)
  for (const feed of Object.values(FEEDS)) {
    if (![new URL(feed.root).host, ...feed.redirectHosts].includes(url.host)) continue
    const response = feed.respond?.(url.href, now, body) ?? good(feed, undefined, now)
    if (response.ok) return response
  }
  return new Response('unknown host or path', { status: 404 })
}

/** Starts a server for all hosts, to which `upstream-program.ts` redirects: the first part of a path is the host. */
export async function openUpstreams(): Promise<{ url: string; close: () => void }> {
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const upstreamResponse = await respondAsUpstream(
      new URL(`https:/${request.url}`),
      Date.now(),
      body,
    )
    response.writeHead(upstreamResponse.status, Object.fromEntries(upstreamResponse.headers))
    response.end(new Uint8Array(await upstreamResponse.arrayBuffer()))
  })
  const port = await listenOnFreePort(server)
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
