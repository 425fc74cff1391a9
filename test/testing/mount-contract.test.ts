import { describe, expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import { fakeProviders, mountContract } from '../../src/testing/index.ts'
import type { Mount } from '../../src/testing/index.ts'

type Answer = (request: Request) => Response | Promise<Response>

const handler = createRatesHandler({ providers: fakeProviders() })
const url = 'http://localhost/api'

/** The names of the cases that `mount` fails. */
async function failures(mount: Mount): Promise<string[]> {
  const failed: string[] = []
  for (const { name, run } of mountContract(() => mount)) {
    await run().catch(() => failed.push(name))
  }
  return failed
}

/** `response` with other headers; those that are undefined are taken away. */
function withHeaders(response: Response, changed: Record<string, string | undefined>): Response {
  const headers = new Headers(response.headers)
  for (const [name, value] of Object.entries(changed)) {
    if (value === undefined) headers.delete(name)
    else headers.set(name, value)
  }
  return new Response(response.body, { status: response.status, headers })
}

/** The handler behind something that changes all of its answers. */
function changing(change: (response: Response, request: Request) => Response): Answer {
  return async (request) => change(await handler(request), request)
}

/** The handler behind something that changes what it is asked. */
function asking(change: (url: string, request: Request) => string): Answer {
  return (request) => handler(new Request(change(request.url, request), request))
}

describe('mountContract()', () => {
  it.each(mountContract(() => ({ url, fetch: handler })))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })

  it.each(['v1', 'all', 'off'] as const)('is passed with cors: %s', async (cors) => {
    const open = createRatesHandler({ providers: fakeProviders(), cors })
    expect(await failures({ url, fetch: open.fetch, cors })).toEqual([])
  })

  it('is passed below any prefix, with any pair', async () => {
    const prefixed = createRatesHandler({ providers: fakeProviders(), basePath: '/a/b' })
    const mount = { url: 'http://localhost/a/b', fetch: prefixed, pair: ['JPY', 'GBP'] as const }
    expect(await failures(mount)).toEqual([])
  })

  it('is passed with the explorer page', async () => {
    const explorer = createRatesHandler({ providers: fakeProviders(), explorer: true })
    expect(await failures({ url, fetch: explorer })).toEqual([])
  })

  it('asks the network where no other way is given', async () => {
    // Unit tests have none, and say so.
    await expect(mountContract(() => ({ url }))[0]?.run()).rejects.toThrow('no network')
  })

  const FAULTY: [string, Answer, string][] = [
    [
      'a middleware adds CORS headers of its own',
      changing((response) => withHeaders(response, { 'access-control-allow-origin': '*, *' })),
      'lets scripts of every origin read what they may, and no more',
    ],
    [
      'credentials are allowed',
      changing((response) => withHeaders(response, { 'access-control-allow-credentials': 'true' })),
      'lets scripts of every origin read what they may, and no more',
    ],
    [
      'OPTIONS is answered before it gets there',
      (request) => (request.method === 'OPTIONS' ? new Response('') : handler(request)),
      'answers OPTIONS, and so the question before a request',
    ],
    [
      'HEAD is unknown',
      (request) =>
        request.method === 'HEAD' ? new Response(null, { status: 404 }) : handler(request),
      'answers HEAD as GET, without the body',
    ],
    [
      'If-None-Match is lost',
      (request) => handler(new Request(request.url, { method: request.method })),
      'answers with 304 and no body where the tag is known',
    ],
    [
      'tags are lost',
      changing((response) => withHeaders(response, { etag: undefined })),
      'says how long an answer may be cached',
    ],
    [
      'a cookie is set',
      changing((response) => withHeaders(response, { 'set-cookie': 'a=b' })),
      'says how long an answer may be cached',
    ],
    [
      'everything may be cached',
      changing((response) => withHeaders(response, { 'cache-control': 'max-age=60' })),
      'sends JSON, errors too, and nobody caches those',
    ],
    [
      'errors are sent with 200',
      changing(({ body, headers }) => new Response(body, { headers })),
      'refuses what has no answer, with a code and a message',
    ],
    [
      'errors are replaced by a page',
      changing((response) =>
        response.status < 400 ? response : new Response('<h1>Error</h1>', response),
      ),
      'refuses what has no answer on the earlier endpoints, with a text',
    ],
    [
      'a slash behind the path is taken away',
      asking((url) => url.replace(/\/$/, '')),
      'knows every path by one spelling, and redirects nobody',
    ],
    [
      'paths are decoded',
      asking((url) => decodeURI(url)),
      'knows every path by one spelling, and redirects nobody',
    ],
    [
      'a path with a slash behind is redirected',
      (request) =>
        request.url.endsWith('/')
          ? new Response(null, { status: 308, headers: { location: '/' } })
          : handler(request),
      'knows every path by one spelling, and redirects nobody',
    ],
    [
      'a cache in front of it knows fewer parameters',
      asking((url) => url.replace(/&start=.*/, '')),
      'answers with history from a day on, and with the table of a day',
    ],
    [
      'a cache in front of it knows no dates',
      asking((url) => url.replace(/date=[^&]*&/, '')),
      'answers with history from a day on, and with the table of a day',
    ],
    [
      'the query is decoded once more',
      asking((url) => url.replaceAll('%25', '%')),
      'decodes a query, and that once',
    ],
    [
      'the query is lost',
      asking((url) => url.replace(/\?.*/, '')),
      'answers with all latest rates, or with those asked for',
    ],
    [
      'a header chooses the path',
      asking((url, { headers }) =>
        url.replace('/api', headers.get('x-forwarded-prefix') ?? '/api'),
      ),
      'lets no header choose the answer',
    ],
    [
      'a header chooses the method',
      (request) =>
        request.headers.has('x-http-method-override')
          ? handler(new Request(request, { method: 'DELETE' }))
          : handler(request),
      'lets no header choose the answer',
    ],
    [
      'everything is called JSON',
      changing((response) => withHeaders(response, { 'content-type': 'application/json' })),
      'writes the same as CSV where it is asked to',
    ],
    [
      'the app has currencies of its own',
      (request) =>
        request.url.endsWith('/currencies') ? Response.json(['EUR', 'USD']) : handler(request),
      'lists the currencies that it covers',
    ],
    [
      'another service is described in its place',
      (request) =>
        request.url.endsWith('/openapi.json')
          ? Response.json({ openapi: '3.0.0' })
          : handler(request),
      'describes itself',
    ],
    [
      'POST is taken for GET',
      (request) => handler(new Request(request.url, { headers: request.headers })),
      'refuses every other method, whatever its body',
    ],
    [
      'every other answer is another',
      (() => {
        let asked = 0
        return (request) => {
          asked += 1
          const at = new URL(request.url)
          if (at.searchParams.has('amount') && asked % 2 === 0) at.searchParams.set('amount', '3')
          return handler(new Request(at, request))
        }
      })(),
      'answers many at once alike',
    ],
    [
      'a browser may guess what an answer is',
      changing((response) => withHeaders(response, { 'x-content-type-options': undefined })),
      'sends JSON, errors too, and nobody caches those',
    ],
    [
      'a 304 has no tag',
      changing((response) =>
        response.status === 304 ? withHeaders(response, { etag: undefined }) : response,
      ),
      'answers with 304 and no body where the tag is known',
    ],
    [
      'a 304 has no lifetime',
      changing((response) =>
        response.status === 304 ? withHeaders(response, { 'cache-control': undefined }) : response,
      ),
      'answers with 304 and no body where the tag is known',
    ],
    [
      'a question before a request allows nothing',
      changing((response) => withHeaders(response, { 'access-control-allow-methods': undefined })),
      'answers OPTIONS, and so the question before a request',
    ],
    [
      'a redirect leads to a page that is not there',
      (request) => {
        if (!request.url.endsWith('/v1/latest/')) return handler(request)
        return new Response(null, { status: request.redirect === 'manual' ? 307 : 404 })
      },
      'knows every path by one spelling, and redirects nobody',
    ],
    [
      'an origin is reflected where it is sent',
      changing((response, { headers }) =>
        headers.has('origin')
          ? withHeaders(response, { 'access-control-allow-origin': headers.get('origin') ?? '' })
          : response,
      ),
      'lets no header choose the answer',
    ],
    [
      'some requests make an answer vary',
      changing((response, { headers }) =>
        headers.has('cookie') ? withHeaders(response, { vary: 'Cookie' }) : response,
      ),
      'lets no header choose the answer',
    ],
    [
      'nobody is told where the data came from',
      changing((response) => withHeaders(response, { 'cache-status': undefined })),
      'says how long an answer may be cached',
    ],
    [
      'a 405 does not say what is allowed',
      changing((response) =>
        response.status === 405 ? withHeaders(response, { allow: undefined }) : response,
      ),
      'refuses every other method, whatever its body',
    ],
    [
      'a 405 may be cached',
      changing((response) =>
        response.status === 405
          ? withHeaders(response, { 'cache-control': 'max-age=9' })
          : response,
      ),
      'refuses every other method, whatever its body',
    ],
    [
      'one endpoint is not there',
      (request) =>
        request.url.endsWith('/status') ? new Response('', { status: 404 }) : handler(request),
      'tells how it stands',
    ],
    [
      'the earlier endpoints say something else',
      async (request) =>
        request.url.includes('/api/rates')
          ? Response.json({ base: 'EUR', rates: { USD: 1 } })
          : handler(request),
      'converts at the rate of the table, by the earlier endpoints too',
    ],
    [
      'history comes backwards',
      async (request) => {
        const response = await handler(request)
        if (!request.url.includes('/history') || response.status !== 200) return response
        const record = await response.json()
        return Response.json({ ...record, points: record.points.toReversed() }, response)
      },
      'answers with history, one point a day',
    ],
  ]

  it.each(FAULTY)('finds that %s', async (_, fetch, name) => {
    expect(await failures({ url, fetch })).toContain(name)
  })

  it('finds a fault for every case', () => {
    const found = new Set(FAULTY.map(([, , name]) => name))
    const names = mountContract(() => ({ url })).map(({ name }) => name)
    expect(names.filter((name) => !found.has(name))).toEqual([])
  })
})
