import { createServer } from 'node:http'

import { createRatesHandler } from 'ratesmith'
import { fakeProviders } from 'ratesmith/testing'

import { answerAsBank } from '../fixtures/ecb-files.ts'
import {
  answerOfFrankfurterV2,
  currencyapiBody,
  exchangeRateApiV6Body,
  fawazahmed0Body,
  openExchangeRatesBody,
} from '../fixtures/feed-payloads.ts'
import { frankfurterPayload, openErApiPayload } from '../fixtures/upstream-payloads.ts'
import { listenOnFreePort } from './sockets.ts'

type Respond = (url: URL, now: number) => Response | Promise<Response>

const service = createRatesHandler({ providers: fakeProviders() })

/** Responses of each host that a provider, or a program in the documentation, calls. */
const HOSTS: Record<string, Respond> = {
  'open.er-api.com': (_, now) => new Response(openErApiPayload({ now })),
  'api.frankfurter.dev': answerAsFrankfurter,
  'www.ecb.europa.eu': ({ href }, now) => answerAsBank({ url: href }, now),
  'data-api.ecb.europa.eu': ({ href }, now) => answerAsBank({ url: href }, now),
  'cdn.jsdelivr.net': (_, now) => Response.json(fawazahmed0Body(now)),
  'latest.currency-api.pages.dev': (_, now) => Response.json(fawazahmed0Body(now)),
  'v6.exchangerate-api.com': (_, now) => Response.json(exchangeRateApiV6Body(now)),
  'openexchangerates.org': (_, now) => Response.json(openExchangeRatesBody(now)),
  'api.currencyapi.com': (_, now) => Response.json(currencyapiBody(now)),
  // A service mounted at /api, and the feed of a company.
  'app.example': (url) => service(new Request(url)),
  'treasury.example': (_, now) =>
    Response.json({ published: new Date(now).toISOString(), usd: { EUR: 0.85, JPY: 156.4 } }),
}

/** Responds to a request like the host in its URL. */
export async function respondAsUpstream(url: URL, now: number = Date.now()): Promise<Response> {
  const response = HOSTS[url.host]
  return response ? response(url, now) : new Response('unknown host', { status: 404 })
}

function answerAsFrankfurter(url: URL, now: number): Response {
  const [, start, end = ''] = /^\/v1\/([\d-]+)\.\.([\d-]*)$/.exec(url.pathname) ?? []
  if (start === undefined) return answerOfFrankfurterV2(url.href, now)
  return new Response(frankfurterPayload({ start, end: end || '2099-01-01', now }))
}

/** Starts a server for all hosts, to which `upstream-program.ts` redirects: the first part of a path is the host. */
export async function openUpstreams(): Promise<{ url: string; close: () => void }> {
  const server = createServer(async (request, response) => {
    const upstreamResponse = await respondAsUpstream(new URL(`https:/${request.url}`))
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
