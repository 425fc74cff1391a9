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
const endsWith = (end: string) => (request: Request) => request.url.endsWith(end)
const has = (status: number) => (response: Response) => response.status === status
const empty = (status: number) => () => new Response('', { status })

const FAULTS: Record<string, Record<string, Fetch>> = {
  'sends the CORS headers of the option cors, and no others': {
    'a middleware adds its own CORS headers': header('access-control-allow-origin', '*, *'),
    'credentials are allowed': header('access-control-allow-credentials', 'true'),
  },
  'responds to OPTIONS, including CORS preflight requests': {
    'OPTIONS does not reach the handler': replacing(isMethod('OPTIONS'), empty(200)),
    'a preflight response allows nothing': header('access-control-allow-methods', undefined),
  },
  'responds to HEAD like GET, without the body': {
    'HEAD is unknown': replacing(isMethod('HEAD'), empty(404)),
  },
  'returns 304 without a body if If-None-Match matches': {
    'If-None-Match is lost': ({ url, method }) => handler(new Request(url, { method })),
    'a 304 has no ETag': header('etag', undefined, has(304)),
    'a 304 has no Cache-Control': header('cache-control', undefined, has(304)),
  },
  'sends Cache-Control, ETag and Cache-Status, and no cookie': {
    'ETags are removed': header('etag', undefined),
    'a cookie is set': header('set-cookie', 'a=b'),
    'responses have no Cache-Status': header('cache-status', undefined),
  },
  'returns JSON, and errors that must not be cached': {
    'everything may be cached': header('cache-control', 'max-age=60'),
    'browsers may guess the media type': header('x-content-type-options', undefined),
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
    'a slash behind the path is removed': rewriting((url) => url.replace(/\/$/, '')),
    'paths are decoded': rewriting((url) => decodeURI(url)),
    'a path with a slash behind is redirected': replacing(
      endsWith('/'),
      () => new Response(null, { status: 308, headers: { location: '/' } }),
    ),
    'a redirect may change the method': redirecting(302),
    'a redirect leads to another host': redirecting(308, (href) =>
      href.replace('localhost', 'other.example'),
    ),
    'a redirect leads to another path': redirecting(308, (href) => href.replace('/api', '')),
    'a redirect loses the query': redirecting(308, (href) => href.replace(/\?.*/, '')),
    'a redirect corrects capitals': redirecting(308, undefined, (href) =>
      href.replace('LATEST', 'latest'),
    ),
    'a redirect corrects escapes': redirecting(308, undefined, (href) => href.replace('%6C', 'l')),
    'a redirect leads to a page that does not exist': replacing(
      endsWith('/v1/latest/'),
      (request) => empty(request.redirect === 'manual' ? 307 : 404)(),
    ),
  },
  'returns history from a start day, and the rates of a day': {
    'a cache in front drops start': rewriting((url) => url.replace(/&start=.*/, '')),
    'a cache in front drops dates': rewriting((url) => url.replace(/date=[^&]*&/, '')),
  },
  'decodes the query exactly once': {
    'the query is decoded twice': rewriting((url) => url.replaceAll('%25', '%')),
  },
  'returns all latest rates, or the requested symbols': {
    'the query is lost': rewriting((url) => url.replace(/\?.*/, '')),
  },
  'ignores request headers that must not affect the response': {
    'a header chooses the path': rewriting((url, { headers }) =>
      url.replace('/api', headers.get('x-forwarded-prefix') ?? '/api'),
    ),
    'a header chooses the method': replacing(
      ({ headers }) => headers.has('x-http-method-override'),
      (request) => handler(new Request(request, { method: 'DELETE' })),
    ),
    'an origin is reflected': async (request) => {
      const origin = request.headers.get('origin')
      if (origin === null) return handler(request)
      return header('access-control-allow-origin', origin)(request)
    },
    'some requests make a response vary': header('vary', 'Cookie', (_, { headers }) =>
      headers.has('cookie'),
    ),
    'some requests make a response vary by more than its encoding': header(
      'vary',
      'accept-encoding, Cookie',
      (_, { headers }) => headers.has('cookie'),
    ),
    'a page is sent to browsers': replacing(
      ({ headers }) => headers.get('accept') === 'text/html',
      () => new Response('<h1>Rates</h1>', { headers: { vary: 'Accept-Encoding' } }),
    ),
  },
  'returns CSV for format=csv': {
    'everything is sent as JSON': header('content-type', 'application/json'),
  },
  'lists the covered currencies': {
    'the app has its own currencies': replacing(endsWith('/currencies'), () =>
      Response.json(['EUR', 'USD']),
    ),
  },
  'returns the OpenAPI document': {
    'another service is described in its place': replacing(endsWith('/openapi.json'), () =>
      Response.json({ openapi: '3.0.0' }),
    ),
  },
  'rejects methods other than GET, HEAD and OPTIONS': {
    'POST needs a token': replacing(isMethod('POST'), empty(403)),
    'the framework itself refuses methods': replacing(isMethod('DELETE'), empty(405)),
    'POST is treated as GET': ({ url, headers }) => handler(new Request(url, { headers })),
    'a 405 has no Allow': header('allow', undefined, has(405)),
    'a 405 may be cached': header('cache-control', 'max-age=9', has(405)),
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
  'returns the status of the service': {
    'one endpoint does not exist': replacing(endsWith('/status'), empty(404)),
  },
  'converts at the latest rate, on /v1 and unversioned endpoints': {
    'the earlier endpoints have other rates': replacing(
      ({ url }) => url.includes('/api/rates'),
      () => Response.json({ base: 'EUR', rates: { USD: 1 } }),
    ),
  },
  'returns history with one point per day': {
    'history is in descending order': async (request) => {
      const response = await handler(request)
      if (!request.url.includes('/history') || response.status !== 200) return response
      const record = await response.json()
      return Response.json({ ...record, points: record.points.toReversed() }, response)
    },
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
