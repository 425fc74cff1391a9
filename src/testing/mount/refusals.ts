import { expectSame } from '../expect-same.ts'
import type { Rule } from './trial.ts'

const INVALID = {
  '/v1/latest?base=EURO': 'invalid_currency',
  '/v1/latest?base=': 'invalid_currency',
  '/v1/latest?base=%20EUR': 'invalid_currency',
  '/v1/latest?base=EUR&base=EUR': 'invalid_parameter',
  '/v1/latest?base[]=EUR': 'invalid_parameter',
  '/v1/latest?BASE=EUR': 'invalid_parameter',
  '/v1/latest?from=EUR': 'invalid_parameter',
  '/v1/latest?symbols=EUR,__proto__': 'invalid_currency',
  '/v1/latest?date=2026-02-30': 'invalid_parameter',
  '/v1/convert': 'missing_parameter',
  '/v1/convert?from=EUR&to=USD&amount=-1': 'invalid_amount',
  '/v1/convert?from=EUR&to=USD&amount=0x10': 'invalid_amount',
  '/v1/convert?from=EUR&to=USD&amount=1e999': 'invalid_amount',
  '/v1/history?from=EUR&to=USD&period=2W': 'invalid_period',
  '/v1/history?from=EUR&to=USD&start=2026-1-5': 'invalid_parameter',
  '/v1/history?from=EUR&to=USD&start=2026-01-05&period=1M': 'invalid_parameter',
  '/v1/history?from=EUR': 'missing_parameter',
}

const INVALID_UNVERSIONED = {
  '/rates?base=EURO': 'Invalid base currency: EURO',
  '/convert?to=USD': 'Missing required parameter: from',
  '/convert?from=XYZZY&to=USD': 'Invalid from currency: XYZZY',
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
