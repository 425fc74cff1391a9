import { expectSame, expectThat } from '../../src/testing/contract.ts'
import type { ContractCase } from '../../src/testing/contract.ts'

/** The mounted handler. */
interface Mount {
  /** Origin and base path, for example `http://127.0.0.1:3000/api`. */
  url: string
  /** Sends a request (default: the platform's `fetch`). */
  fetch?: (request: Request) => Response | Promise<Response>
}

type Headers = Readonly<Record<string, string>>

const JSON_TYPE = 'application/json; charset=utf-8'
const READ = 'GET, HEAD, OPTIONS'
const SHORT = 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400'
const LIFETIMES: Headers = {
  '/v1/latest': SHORT,
  '/v1/history': 'public, max-age=3600, stale-while-revalidate=3600, stale-if-error=604800',
  '/v1/status': 'no-store',
  '/rates': SHORT,
}

/** Requests below the base path, by the name of their case, with the status and a pattern of the body. */
const REQUESTS: Readonly<Record<string, readonly [string, status: number, body: RegExp][]>> = {
  'serves every endpoint': [
    ['/v1/latest?base=EUR', 200, /^\{"base":"EUR","updatedAt":\d+,"nextUpdateAt":\d+.+"EUR":1[,}]/],
    ['/v1/latest?base=eur&symbols=USD', 200, /"rates":\{"USD":[\d.]+\}/],
    ['/v1/convert?from=EUR&to=USD', 200, /"result":/],
    ['/v1/history?from=EUR&to=USD', 200, /"points":/],
    ['/v1/currencies', 200, /"currencies":/],
    ['/v1/openapi.json', 200, /"openapi":/],
    ['/v1/status', 200, /"ready":/],
    ['/rates', 200, /"rates":/],
    ['/convert?from=EUR&to=USD', 200, /"result":/],
    ['/v1/latest?base=EUR&format=csv', 200, /\r\n.*EUR,USD,/],
    ['/v1/history?from=EUR&to=USD&format=csv', 200, /\r\n.*EUR,USD,/],
    ['/rates?base=EUR&format=csv', 200, /\r\n.*EUR,USD,/],
  ],
  'decodes the query exactly once': [
    ['/v1/latest?base=%45UR&symbols=EUR%2CUSD', 200, /"base":"EUR".+"rates":\{[^}]*"EUR":1[,}]/],
    ['/v1/latest?base=%2545UR', 400, /"invalid_currency"/],
  ],
  'refuses invalid requests, with a code below /v1 and a text elsewhere': [
    ['/v1/latest?base=', 400, /^\{"error":\{"code":"invalid_currency","message":".+"\}\}$/],
    ['/v1/latest?base=%20EUR', 400, /"invalid_currency"/],
    ['/v1/latest?base=EUR&base=EUR', 400, /"invalid_parameter"/],
    ['/v1/latest?base[]=EUR', 400, /"invalid_parameter"/],
    ['/v1/latest?BASE=EUR', 400, /"invalid_parameter"/],
    ['/v1/latest?symbols=EUR,__proto__', 400, /"invalid_currency"/],
    ['/v1/convert', 400, /"missing_parameter"/],
    ['/rates?base=EURO', 400, /^\{"error":"Invalid base currency: EURO"\}$/],
    ['/convert?from=EUR&to=USD&amount=abc', 400, /^\{"error":"Invalid amount: abc"\}$/],
  ],
}

/** Paths that a host must not redirect. */
const NOT_FOUND = '/v1/LATEST /v1/%6Catest /v1/latest. /v1/nothing /v2/latest /latest /rates/EUR'

/** Other spellings of a path, which a host may redirect to the correct one with its query. */
const REDIRECTABLE: Headers = {
  '/v1/latest/': '/v1/latest',
  '/v1//latest': '/v1/latest',
  '/v1/latest/?base=CHF': '/v1/latest?base=CHF',
  '/v1//latest?base=CHF': '/v1/latest?base=CHF',
  '/rates/': '/rates',
}

/** Permanent redirects, and the temporary one that keeps the method. */
const REDIRECTS = [301, 307, 308]

const IGNORED = `accept: text/html
accept-language: de
authorization: Bearer token
cookie: session=1
forwarded: host=other.example;proto=https
if-modified-since: Fri, 31 Dec 2099 23:59:59 GMT
origin: https://other.example
range: bytes=0-10
x-forwarded-host: other.example
x-forwarded-prefix: /other
x-http-method-override: DELETE
x-original-url: /other`.split('\n')

/**
 * Returns cases that check the responses of a mounted handler. Every case calls `open`; the rates must not change meanwhile.
 *
 * Cases fail if something in front of the handler changes responses, for example a router that decodes paths, a middleware
 * that adds CORS headers, or a framework that responds to `OPTIONS`. A host may redirect `//` and a trailing slash to the
 * correct path (301, 307 or 308), add `Accept-Encoding` to `Vary`, and reject methods other than `GET`, `HEAD` and `OPTIONS`
 * unless the content type is JSON.
 */
export function mountContract(open: () => Mount): ContractCase[] {
  async function send(path: string, method = 'GET', more: Headers = {}) {
    const { url, fetch = globalThis.fetch } = open()
    // Compressed bodies have other entity tags.
    const headers = { 'accept-encoding': 'identity', ...more }
    const body = method.startsWith('P') && { body: '{}' }
    const init = { method, headers, redirect: 'manual', ...body } as const
    const response = await fetch(new Request(url + path, init))
    const header = (name: string): string => response.headers.get(name) ?? ''
    return { status: response.status, text: await response.text(), header }
  }

  /** Checks what holds for every response of the handler. */
  async function check(path: string, wanted: number, method = 'GET', headers: Headers = {}) {
    const received = await send(path, method, headers)
    const { status, header } = received
    const about = (what: string): string => `${what} of ${method} ${path}`
    expectSame(about('the status'), status, wanted)
    expectSame(about('location'), header('location'), '')
    expectSame(about('set-cookie'), header('set-cookie'), '')
    const allowed = path.startsWith('/v1') ? '*' : ''
    expectSame(about('the allowed origin'), header('access-control-allow-origin'), allowed)
    expectSame(about('credentials'), header('access-control-allow-credentials'), '')
    if (status >= 400) expectSame(about('cache-control'), header('cache-control'), 'no-store')
    return received
  }

  const cases: Record<string, () => Promise<void>> = {
    async 'returns 304 without a body if If-None-Match matches'() {
      const tag = (await check('/v1/latest', 200)).header('etag')
      for (const list of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
        const { text, header } = await check('/v1/latest', 304, 'GET', { 'if-none-match': list })
        expectSame('the body of a 304', text, '')
        expectSame('etag of a 304', header('etag'), tag)
        expectSame('cache-control of a 304', header('cache-control'), SHORT)
      }
      await check('/v1/latest', 200, 'GET', { 'if-none-match': '"other"' })
    },
    async 'responds to OPTIONS, including CORS preflight requests'() {
      const asked = 'access-control-request-'
      const fields = { [`${asked}method`]: 'GET', [`${asked}headers`]: 'if-none-match' }
      const preflight = { origin: 'https://other.example', ...fields }
      for (const path of ['/v1/latest', '/rates']) {
        const { text, header } = await check(path, 204, 'OPTIONS', preflight)
        expectSame(`the body of OPTIONS ${path}`, text, '')
        expectSame(`allow of ${path}`, header('allow'), READ)
        const methods = path === '/rates' ? '' : READ
        expectSame(`the methods of ${path}`, header('access-control-allow-methods'), methods)
      }
    },
    async 'rejects methods other than GET, HEAD and OPTIONS'() {
      // Otherwise hosts that protect forms against cross-site requests return 403.
      const json = { 'content-type': 'application/json' }
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        for (const path of ['/v1/latest', '/rates']) {
          const { header } = await check(path, 405, method, json)
          expectSame(`allow of ${method} ${path}`, header('allow'), READ)
        }
      }
    },
    async 'rejects or redirects other spellings of a path'() {
      const { url } = open()
      for (const path of NOT_FOUND.split(' ')) {
        const { status, header } = await send(path)
        expectSame(`the status of ${path}`, `${status}${header('location')}`, '404')
      }
      for (const [path, target] of Object.entries(REDIRECTABLE)) {
        const { status, header } = await send(path)
        const location = header('location')
        const found = REDIRECTS.includes(status) ? new URL(location, url + path).href : location
        const wanted = REDIRECTS.includes(status) ? new URL(url + target).href : ''
        expectSame(`the target of the redirect of ${path}`, found, wanted)
        if (wanted === '') expectSame(`the status of ${path}`, status, 404)
      }
    },
    async 'sends the same to 50 requests at once with other headers'() {
      const path = '/v1/convert?from=EUR&to=USD&amount=12.5'
      const plain = await check(path, 200)
      const sent = Array.from({ length: 50 }, (_, index) => {
        const [name = '', value = ''] = (IGNORED[index] ?? 'accept: */*').split(': ')
        return check(path, 200, 'GET', { [name]: value })
      })
      for (const { text, header } of await Promise.all(sent)) {
        expectSame(`each body of ${path}`, text, plain.text)
        expectSame(`each etag of ${path}`, header('etag'), plain.header('etag'))
        expectSame(`vary of ${path}`, header('vary').replace(/^accept-encoding$/i, ''), '')
      }
    },
  }

  for (const [name, rows] of Object.entries(REQUESTS)) {
    cases[name] = async () => {
      for (const [path, status, body] of rows) {
        const { text, header } = await check(path, status)
        expectThat(`the body of ${path} to match ${String(body)}`, body.test(text), text)
        const type = path.includes('csv') ? 'text/csv; charset=utf-8; header=present' : JSON_TYPE
        expectSame(`content-type of ${path}`, header('content-type'), type)
        expectSame(`x-content-type-options of ${path}`, header('x-content-type-options'), 'nosniff')
        const lifetime = status === 200 ? LIFETIMES[path.replace(/\?.*/, '')] : undefined
        if (lifetime) expectSame(`cache-control of ${path}`, header('cache-control'), lifetime)
        if (lifetime?.startsWith('public')) {
          const about = [header('etag'), header('cache-status')].join(' ')
          expectThat(`an etag and cache-status of ${path}`, /^"[^"]+" rates; /.test(about), about)
        }
        const head = await check(path, status, 'HEAD')
        expectSame(`the body of HEAD ${path}`, head.text, '')
        for (const each of ['content-type', 'cache-control', 'etag', 'last-modified']) {
          expectSame(`${each} of HEAD ${path}`, head.header(each), header(each))
        }
      }
    }
  }
  return Object.entries(cases).map(([name, run]) => ({ name, run }))
}
