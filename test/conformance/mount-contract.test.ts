import { describe, expect, it } from 'vitest'

import { withCompression } from '../../src/compression/with-compression.ts'
import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { mountContract } from './mount-contract.ts'
import type { MountContractOptions } from './mount-contract.ts'

type Fetch = (request: Request) => Response | Promise<Response>

const handler = createRatesHandler({ providers: fakeProviders() })
const origin = 'http://localhost'
const url = `${origin}/api`

async function failures(mount: MountContractOptions): Promise<string[]> {
  const failed: string[] = []
  for (const { name, run } of mountContract(() => mount)) {
    await run().catch(() => failed.push(name))
  }
  return failed
}

function changing(change: (response: Response, request: Request) => Response): Fetch {
  return async (request) => change(await handler(request), request)
}

/** The handler with another value of a header; without the header if the value is undefined. */
function header(
  name: string,
  value: string | undefined,
  isChanged: (response: Response, request: Request) => boolean = () => true,
): Fetch {
  return changing((response, request) => {
    if (!isChanged(response, request)) return response
    const headers = new Headers(response.headers)
    if (value === undefined) headers.delete(name)
    else headers.set(name, value)
    return new Response(response.body, { status: response.status, headers })
  })
}

function replacing(isReplaced: (request: Request) => boolean, instead: Fetch): Fetch {
  return (request) => (isReplaced(request) ? instead(request) : handler(request))
}

function rewriting(change: (url: string, request: Request) => string): Fetch {
  return (request) => handler(new Request(change(request.url, request), request))
}

/** The URL with one slash wherever a path has several, and none at its end. */
function withSingleSlashes(href: string): string {
  const [path = '', ...query] = href.split(/(?=\?)/)
  return [path.replaceAll(/(?<!:)\/+/g, '/').replace(/\/$/, ''), ...query].join('')
}

/** The handler behind a host that redirects every URL that `normalize` changes; `write` makes the location of the result. */
function redirecting(
  status: number,
  write: (href: string) => string = (href) => href,
  normalize: (href: string) => string = withSingleSlashes,
): Fetch {
  return (request) => {
    const href = normalize(request.url)
    if (href === request.url) return handler(request)
    return new Response(null, { status, headers: { location: write(href) } })
  }
}

const isMethod = (wanted: string) => (request: Request) => request.method === wanted
const empty = (status: number) => () => new Response('', { status })

/** A fault or two for each rule. */
const FAULTS: Record<string, Record<string, Fetch>> = {
  'sends the CORS headers of the option cors, and no others': {
    'a middleware adds its own CORS headers': header('access-control-allow-origin', '*, *'),
  },
  'responds to OPTIONS, including CORS preflight requests': {
    'a preflight response allows nothing': header('access-control-allow-methods', undefined),
  },
  'responds to HEAD like GET, without the body': {
    'HEAD is unknown': replacing(isMethod('HEAD'), empty(404)),
  },
  'returns 304 without a body if If-None-Match matches': {
    'If-None-Match is lost': ({ url, method }) => handler(new Request(url, { method })),
  },
  'sends Cache-Control, ETag and Cache-Status, and no cookie': {
    'ETags are removed': header('etag', undefined),
    'a cookie is set': header('set-cookie', 'a=b'),
  },
  'returns JSON, and errors that must not be cached': {
    'everything may be cached': header('cache-control', 'max-age=60'),
  },
  'rejects invalid requests to /v1 with a code and a message': {
    'errors are sent with 200': changing(({ body, headers }) => new Response(body, { headers })),
  },
  'rejects invalid requests to unversioned endpoints with a text': {
    'errors are replaced by a page': changing((response) =>
      response.status < 400 ? response : new Response('<h1>Error</h1>', response),
    ),
  },
  'rejects or redirects other spellings of a path': {
    'paths are decoded': rewriting((url) => decodeURI(url)),
    'a redirect may change the method': redirecting(302),
    'a redirect loses the query': redirecting(308, (href) => href.replace(/\?.*/, '')),
    'a redirect corrects capitals': redirecting(308, undefined, (href) =>
      href.replace('LATEST', 'latest'),
    ),
  },
  'decodes the query exactly once': {
    'the query is decoded twice': rewriting((url) => url.replaceAll('%25', '%')),
  },
  'returns all latest rates, or the requested symbols': {
    'the query is lost': rewriting((url) => url.replace(/\?.*/, '')),
  },
  'ignores request headers that must not affect the response': {
    'a header chooses the method': replacing(
      ({ headers }) => headers.has('x-http-method-override'),
      (request) => handler(new Request(request, { method: 'DELETE' })),
    ),
    'some requests make a response vary by more than its encoding': header(
      'vary',
      'accept-encoding, Cookie',
      (_, { headers }) => headers.has('cookie'),
    ),
  },
  'returns CSV for format=csv': {
    'everything is sent as JSON': header('content-type', 'application/json'),
  },
  'rejects methods other than GET, HEAD and OPTIONS': {
    'the framework itself refuses methods': replacing(isMethod('DELETE'), empty(405)),
    'POST is treated as GET': ({ url, headers }) => handler(new Request(url, { headers })),
  },
  'returns the same response to 50 concurrent requests': {
    'every other response is another': (() => {
      let requests = 0
      return rewriting((url) => {
        requests += 1
        return requests % 2 === 0 ? url.replace(/(?<=[?&]amount=)[^&]*/, '3') : url
      })
    })(),
  },
  'serves every endpoint': {
    'one endpoint does not exist': replacing(({ url }) => url.includes('/status'), empty(404)),
    'the app has its own currencies': replacing(
      ({ url }) => url.includes('/currencies'),
      () => Response.json(['EUR', 'USD']),
    ),
  },
}

const TOLERATED: Record<string, Fetch> = {
  'redirects to single slashes with 308': redirecting(308),
  'redirects to single slashes with 301': redirecting(301),
  'redirects to single slashes with 307 and a path': redirecting(307, (href) =>
    href.slice(origin.length),
  ),
  'refuses forms of other sites': replacing(
    ({ method, headers }) =>
      !['GET', 'HEAD', 'OPTIONS'].includes(method) &&
      headers.get('content-type') !== 'application/json',
    empty(403),
  ),
  'adds Accept-Encoding to the Vary of what it may compress': header(
    'vary',
    'Accept-Encoding',
    (_, { headers }) => !headers.has('range'),
  ),
  'lets every response vary by headers of the framework': header('vary', 'rsc, Next-Url'),
}

const CASES = Object.entries(FAULTS).flatMap(([name, faults]) =>
  Object.entries(faults).map(([what, fetch]) => ({ what, fetch, name })),
)

describe('mountContract()', () => {
  it.each(mountContract(() => ({ url, fetch: handler })))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })

  it.each(['v1', 'all', 'off'] as const)('passes with cors: %s', async (cors) => {
    const { fetch } = createRatesHandler({ providers: fakeProviders(), cors })
    expect(await failures({ url, fetch, cors })).toEqual([])
  })

  it('passes below any prefix, with any pair', async () => {
    const fetch = createRatesHandler({ providers: fakeProviders(), basePath: '/a/b' })
    const mount = { url: 'http://localhost/a/b', fetch, pair: ['JPY', 'GBP'] as const }
    expect(await failures(mount)).toEqual([])
  })

  it('passes with the explorer page', async () => {
    const fetch = createRatesHandler({ providers: fakeProviders(), explorer: true })
    expect(await failures({ url, fetch })).toEqual([])
  })

  it.each(Object.entries(TOLERATED))('passes behind a host that %s', async (_, fetch) => {
    expect(await failures({ url, fetch })).toEqual([])
  })

  it('passes behind a host that compresses', async () => {
    const encode = async (body: BodyInit) => new Uint8Array(await new Response(body).arrayBuffer())
    const compressed = withCompression(handler, { br: encode, gzip: encode })
    // As over a network.
    const fetch = (request: Request): Promise<Response> => {
      const { headers } = request
      if (!headers.has('accept-encoding') && !headers.has('range'))
        headers.set('accept-encoding', 'gzip')
      return compressed(request)
    }
    expect(await failures({ url, fetch })).toEqual([])
  })

  it.each(CASES)('detects that $what', async ({ fetch, name }) => {
    expect(await failures({ url, fetch })).toContain(name)
  })

  it('has a fault for every case', () => {
    const names = mountContract(() => ({ url })).map(({ name }) => name)
    expect(Object.keys(FAULTS).toSorted()).toEqual(names.toSorted())
  })
})
