import { expectSame, expectThat } from '../../src/testing/contract.ts'
import type { MountResponse, Rule } from './mount-trial.ts'

/** A field of each response. */
const ENDPOINTS = {
  '/v1/convert?from=EUR&to=USD': 'result',
  '/v1/history?from=EUR&to=USD': 'points',
  '/v1/currencies': 'currencies',
  '/v1/openapi.json': 'openapi',
  '/v1/status': 'ready',
  '/convert?from=EUR&to=USD': 'result',
}

/** Rules for successful responses. */
export const RECORDS: Readonly<Record<string, Rule>> = {
  async 'returns all latest rates, or the requested symbols'({ requestOk }) {
    const { record } = await requestOk('/v1/latest?base=EUR')
    const { updatedAt, nextUpdateAt, rates } = record
    expectSame('base', record['base'], 'EUR')
    expectSame('the rate of the base', fieldOf(rates, 'EUR'), 1)
    expectThat('updatedAt to be an integer', Number.isInteger(updatedAt), updatedAt)
    expectThat('nextUpdateAt to be an integer', Number.isInteger(nextUpdateAt), nextUpdateAt)
    const some = await requestOk('/v1/latest?base=eur&symbols=USD')
    const expected = JSON.stringify({ USD: fieldOf(rates, 'USD') })
    expectSame('rates with one symbol', JSON.stringify(some.record['rates']), expected)
  },
  async 'serves every endpoint'({ requestOk }) {
    for (const [path, field] of Object.entries(ENDPOINTS)) {
      const { record, header } = await requestOk(path)
      expectThat(`${path} to return ${field}`, record[field] !== undefined, Object.keys(record))
      if (path === '/v1/status')
        expectSame('its cache-control', header('cache-control'), 'no-store')
    }
  },
  async 'returns CSV for format=csv'({ requestOk }) {
    for (const path of ['/v1/latest', '/rates', '/v1/history']) {
      const query = path === '/v1/history' ? 'from=EUR&to=USD' : 'base=EUR'
      const { header, text } = await requestOk(`${path}?${query}&format=csv`)
      const form = header('content-type').split(';', 1).join()
      expectSame(`the content-type of ${path}`, form, 'text/csv')
      const hasPair = text.split('\r\n').some((line) => line.includes('EUR,USD,'))
      expectThat(`CSV of ${path} with EUR in USD`, hasPair, text)
    }
  },
  async 'decodes the query exactly once'({ request, requestOk }) {
    const plain = await requestOk('/v1/latest?base=EUR&symbols=EUR,USD')
    const encoded = await requestOk('/v1/latest?base=%45UR&symbols=EUR%2CUSD')
    expectSame('the response to an encoded query', encoded.text, plain.text)
    const { status } = await request('/v1/latest?base=%2545UR')
    expectSame('the status of a query encoded twice', status, 400)
  },
  async 'ignores request headers that must not affect the response'({ request }) {
    const plain = await request('/v1/latest', { headers: UNCOMPRESSED })
    expectSame('the status of /v1/latest', plain.status, 200)
    for (const [name, value] of Object.entries(IGNORED)) {
      const other = await request('/v1/latest', { headers: { ...UNCOMPRESSED, [name]: value } })
      expectSame(`the response to a request with ${name}`, essence(other), essence(plain))
    }
  },
  async 'returns the same response to 50 concurrent requests'({ requestOk }) {
    const path = '/v1/convert?from=EUR&to=USD&amount=12.5'
    const plain = await requestOk(path)
    const others = await Promise.all(Array.from({ length: 50 }, () => requestOk(path)))
    for (const other of others)
      expectSame(`each response of ${path}`, essence(other), essence(plain))
  },
}

const IGNORED = {
  accept: 'text/html',
  'accept-language': 'de',
  authorization: 'Bearer token',
  cookie: 'session=1',
  forwarded: 'host=other.example;proto=https',
  'if-modified-since': 'Fri, 31 Dec 2099 23:59:59 GMT',
  origin: 'https://other.example',
  range: 'bytes=0-10',
  'x-forwarded-host': 'other.example',
  'x-forwarded-prefix': '/other',
  'x-http-method-override': 'DELETE',
  'x-original-url': '/other',
}

/** `fetch` requests compressed bodies unless the request has `Range`, and compressed bodies have other entity tags. */
const UNCOMPRESSED = { 'accept-encoding': 'identity' }

function essence({ status, text, header }: MountResponse): string {
  const headers = [header('etag'), variesBy(header('vary')), header('access-control-allow-origin')]
  return [status, ...headers, text].join('\n')
}

/** Returns the sorted names of a `Vary` without `Accept-Encoding`, which hosts that compress may add to any response. */
function variesBy(vary: string): string {
  const names = vary.split(',').map((name) => name.trim().toLowerCase())
  const others = names.filter((name) => name !== '' && name !== 'accept-encoding')
  return others.toSorted().join(', ')
}

function fieldOf(value: unknown, name: string): unknown {
  return Object(value)[name]
}

const CACHE_CONTROL = {
  '/v1/latest': 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400',
  '/rates': 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400',
  '/v1/history': 'public, max-age=3600, stale-while-revalidate=3600, stale-if-error=604800',
}

const SAMPLE_PATHS = ['/v1/latest', '/v1/latest?base=1', '/v1/convert', '/rates', '/rates?base=1']

/** Rules for headers. */
export const HEADERS: Readonly<Record<string, Rule>> = {
  async 'sends Cache-Control, ETag and Cache-Status, and no cookie'({ requestOk }) {
    for (const [path, cacheControl] of Object.entries(CACHE_CONTROL)) {
      const query = path === '/v1/history' ? '?from=EUR&to=USD' : ''
      const { header } = await requestOk(path + query)
      expectSame(`cache-control of ${path}`, header('cache-control'), cacheControl)
      const etag = header('etag')
      expectThat(`etag of ${path} to be a quoted string`, /^"[^"]+"$/.test(etag), etag)
      expectSame(`set-cookie of ${path}`, header('set-cookie'), '')
      const cacheStatus = header('cache-status')
      const isOurs = cacheStatus.startsWith('rates; ')
      expectThat(`cache-status of ${path} to start with "rates; "`, isOurs, cacheStatus)
    }
  },
  async 'returns JSON, and errors that must not be cached'({ request }) {
    for (const path of SAMPLE_PATHS) {
      const { status, header } = await request(path)
      const type = 'application/json; charset=utf-8'
      expectSame(`content-type of ${path}`, header('content-type'), type)
      expectSame(`x-content-type-options of ${path}`, header('x-content-type-options'), 'nosniff')
      if (status === 200) continue
      expectSame(`cache-control of ${path}`, header('cache-control'), 'no-store')
    }
  },
  async 'returns 304 without a body if If-None-Match matches'({ request, requestOk }) {
    const tag = (await requestOk('/v1/latest')).header('etag')
    for (const list of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const headers = { 'if-none-match': list }
      const { status, text, header } = await request('/v1/latest', { headers })
      expectSame(`the status with If-None-Match: ${list}`, status, 304)
      expectSame('the body of a 304', text, '')
      expectSame('etag of a 304', header('etag'), tag)
      const cacheControl = header('cache-control')
      expectSame('cache-control of a 304', cacheControl, CACHE_CONTROL['/v1/latest'])
    }
    const { status } = await request('/v1/latest', { headers: { 'if-none-match': '"other"' } })
    expectSame('the status with If-None-Match: "other"', status, 200)
  },
  async 'responds to HEAD like GET, without the body'({ request }) {
    for (const path of SAMPLE_PATHS) {
      const get = await request(path)
      const head = await request(path, { method: 'HEAD' })
      expectSame(`the status of HEAD ${path}`, head.status, get.status)
      expectSame(`the body of HEAD ${path}`, head.text, '')
      for (const name of ['content-type', 'cache-control', 'etag', 'last-modified']) {
        expectSame(`${name} of HEAD ${path}`, head.header(name), get.header(name))
      }
    }
  },
  async 'sends the CORS headers of the option cors, and no others'({ request, isOpen }) {
    for (const path of SAMPLE_PATHS) {
      const { header } = await request(path, { headers: { origin: 'https://other.example' } })
      const allowed = isOpen(path) ? '*' : ''
      const allowOrigin = header('access-control-allow-origin')
      expectSame(`access-control-allow-origin of ${path}`, allowOrigin, allowed)
      const credentials = header('access-control-allow-credentials')
      expectSame(`access-control-allow-credentials of ${path}`, credentials, '')
    }
  },
  async 'responds to OPTIONS, including CORS preflight requests'({ request, isOpen }) {
    for (const path of ['/v1/latest', '/rates']) {
      const init = { method: 'OPTIONS', headers: PREFLIGHT }
      const { status, text, header } = await request(path, init)
      expectSame(`the status of OPTIONS ${path}`, status, 204)
      expectSame(`the body of OPTIONS ${path}`, text, '')
      expectSame(`allow of ${path}`, header('allow'), 'GET, HEAD, OPTIONS')
      const methods = header('access-control-allow-methods')
      const allowed = isOpen(path) ? 'GET, HEAD, OPTIONS' : ''
      expectSame(`access-control-allow-methods of ${path}`, methods, allowed)
    }
  },
}

const PREFLIGHT = {
  origin: 'https://other.example',
  'access-control-request-method': 'GET',
  'access-control-request-headers': 'if-none-match',
}

const INVALID = {
  '/v1/latest?base=': 'invalid_currency',
  '/v1/latest?base=%20EUR': 'invalid_currency',
  '/v1/latest?base=EUR&base=EUR': 'invalid_parameter',
  '/v1/latest?base[]=EUR': 'invalid_parameter',
  '/v1/latest?BASE=EUR': 'invalid_parameter',
  '/v1/latest?symbols=EUR,__proto__': 'invalid_currency',
  '/v1/convert': 'missing_parameter',
}

const INVALID_UNVERSIONED = {
  '/rates?base=EURO': 'Invalid base currency: EURO',
  '/convert?from=EUR&to=USD&amount=abc': 'Invalid amount: abc',
}

/** Other spellings of a path, which a host may redirect to the correct one with its query. */
const REDIRECTABLE = {
  '/v1/latest/': '/v1/latest',
  '/v1//latest': '/v1/latest',
  '/v1/latest/?base=CHF': '/v1/latest?base=CHF',
  '/v1//latest?base=CHF': '/v1/latest?base=CHF',
  '/rates/': '/rates',
}

/** Permanent redirects, and the temporary one that keeps the method. */
const REDIRECTS = [301, 307, 308]

/** Unknown paths, and spellings that a host must not redirect. */
const NOT_FOUND = [
  '/v1/LATEST',
  '/v1/%6Catest',
  '/v1/latest.',
  '/v1/nothing',
  '/v2/latest',
  '/latest',
  '/rates/EUR',
]

/** Rules for requests that the handler rejects. */
export const REFUSALS: Readonly<Record<string, Rule>> = {
  async 'rejects invalid requests to /v1 with a code and a message'({ request }) {
    for (const [path, code] of Object.entries(INVALID)) {
      const { status, record } = await request(path)
      expectSame(`the status of ${path}`, status, 400)
      expectSame(`the fields of the response to ${path}`, Object.keys(record).join(), 'error')
      const error: Record<string, unknown> = Object(record['error'])
      expectSame(`the code of ${path}`, error['code'], code)
      expectSame(`the type of the message of ${path}`, typeof error['message'], 'string')
    }
  },
  async 'rejects invalid requests to unversioned endpoints with a text'({ request }) {
    for (const [path, text] of Object.entries(INVALID_UNVERSIONED)) {
      const { status, record } = await request(path)
      expectSame(`the status of ${path}`, status, 400)
      expectSame(`the error of ${path}`, record['error'], text)
    }
  },
  async 'rejects methods other than GET, HEAD and OPTIONS'({ request }) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      for (const path of ['/v1/latest', '/rates']) {
        const { status, header } = await request(path, { method, body: '{}', headers: JSON_BODY })
        expectSame(`the status of ${method} ${path}`, status, 405)
        expectSame(`allow of ${method} ${path}`, header('allow'), 'GET, HEAD, OPTIONS')
        expectSame(`cache-control of ${method} ${path}`, header('cache-control'), 'no-store')
      }
    }
  },
  async 'rejects or redirects other spellings of a path'({ request, url }) {
    for (const path of NOT_FOUND) {
      const { status, header } = await request(path)
      expectSame(`the status of ${path}`, status, 404)
      expectSame(`location of ${path}`, header('location'), '')
    }
    for (const [path, target] of Object.entries(REDIRECTABLE)) {
      const { status, header } = await request(path)
      const location = header('location')
      if (!REDIRECTS.includes(status)) {
        expectSame(`the status of ${path}`, status, 404)
        expectSame(`location of ${path}`, location, '')
      } else {
        const found = URL.canParse(location, url + path) ? new URL(location, url + path).href : ''
        expectSame(`the target of the redirect of ${path}`, found, new URL(url + target).href)
      }
    }
  },
}

/** Without it, hosts that protect forms against cross-site requests return 403. */
const JSON_BODY = { 'content-type': 'application/json' }
