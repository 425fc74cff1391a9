import { expectSame, expectThat } from '../expect-same.ts'
import type { Rule } from './trial.ts'

const CACHE_CONTROL = {
  '/v1/latest': 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400',
  '/rates': 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400',
  '/v1/history': 'public, max-age=3600, stale-while-revalidate=3600, stale-if-error=604800',
}

const SAMPLE_PATHS = ['/v1/latest', '/v1/latest?base=1', '/v1/convert', '/rates', '/rates?base=1']

/** Rules for headers. */
export const HEADERS: Readonly<Record<string, Rule>> = {
  async 'sends Cache-Control, ETag and Cache-Status, and no cookie'({
    requestOk,
    pair: [from, to],
  }) {
    for (const [path, cacheControl] of Object.entries(CACHE_CONTROL)) {
      const query = path === '/v1/history' ? `?from=${from}&to=${to}` : ''
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
