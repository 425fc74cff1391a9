import { expectSame } from '../expect-same.ts'
import type { Rule } from './trial.ts'

/** How long what is at a path may be cached. */
const LIFETIMES = {
  '/v1/latest': 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400',
  '/rates': 'public, max-age=60, stale-while-revalidate=60, stale-if-error=86400',
  '/v1/history': 'public, max-age=3600, stale-while-revalidate=3600, stale-if-error=604800',
}

/** A path that is answered with 200, and two with an error, in either generation. */
const ANY_PATHS = ['/v1/latest', '/v1/latest?base=1', '/v1/convert', '/rates', '/rates?base=1']

/** What the headers of a mount must be like. */
export const HEADERS: Readonly<Record<string, Rule>> = {
  async 'says how long an answer may be cached'({ requestOk: askGood, pair: [from, to] }) {
    for (const [path, lifetime] of Object.entries(LIFETIMES)) {
      const query = path === '/v1/history' ? `?from=${from}&to=${to}` : ''
      const { header } = await askGood(path + query)
      expectSame(`cache-control of ${path}`, header('cache-control'), lifetime)
      expectSame(`that ${path} has an entity tag`, /^"[^"]+"$/.test(header('etag')), true)
      expectSame(`set-cookie of ${path}`, header('set-cookie'), '')
      const told = header('cache-status').startsWith('rates; ')
      expectSame(`that ${path} has a cache-status`, told, true)
    }
  },
  async 'sends JSON, errors too, and nobody caches those'({ request: ask }) {
    for (const path of ANY_PATHS) {
      const { status, header } = await ask(path)
      const type = 'application/json; charset=utf-8'
      expectSame(`content-type of ${path}`, header('content-type'), type)
      expectSame(`x-content-type-options of ${path}`, header('x-content-type-options'), 'nosniff')
      if (status === 200) continue
      expectSame(`cache-control of ${path}`, header('cache-control'), 'no-store')
    }
  },
  async 'answers with 304 and no body where the tag is known'({
    request: ask,
    requestOk: askGood,
  }) {
    const tag = (await askGood('/v1/latest')).header('etag')
    for (const list of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const headers = { 'if-none-match': list }
      const { status, text, header } = await ask('/v1/latest', { headers })
      expectSame(`the status with If-None-Match: ${list}`, status, 304)
      expectSame('its body', text, '')
      expectSame('its tag', header('etag'), tag)
      expectSame('its lifetime', header('cache-control'), LIFETIMES['/v1/latest'])
    }
    const { status } = await ask('/v1/latest', { headers: { 'if-none-match': '"other"' } })
    expectSame('the status with another tag', status, 200)
  },
  async 'answers HEAD as GET, without the body'({ request: ask }) {
    for (const path of ANY_PATHS) {
      const get = await ask(path)
      const head = await ask(path, { method: 'HEAD' })
      expectSame(`the status of HEAD ${path}`, head.status, get.status)
      expectSame(`the body of HEAD ${path}`, head.text, '')
      for (const name of ['content-type', 'cache-control', 'etag', 'last-modified']) {
        expectSame(`${name} of HEAD ${path}`, head.header(name), get.header(name))
      }
    }
  },
  async 'lets scripts of every origin read what they may, and no more'({ request: ask, isOpen }) {
    for (const path of ANY_PATHS) {
      const { header } = await ask(path, { headers: { origin: 'https://other.example' } })
      const allowed = isOpen(path) ? '*' : ''
      const allowOrigin = header('access-control-allow-origin')
      expectSame(`access-control-allow-origin of ${path}`, allowOrigin, allowed)
      const credentials = header('access-control-allow-credentials')
      expectSame(`access-control-allow-credentials of ${path}`, credentials, '')
    }
  },
  async 'answers OPTIONS, and so the question before a request'({ request: ask, isOpen }) {
    for (const path of ['/v1/latest', '/rates']) {
      const { status, text, header } = await ask(path, { method: 'OPTIONS', headers: PREFLIGHT })
      expectSame(`the status of OPTIONS ${path}`, status, 204)
      expectSame(`its body`, text, '')
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
