import { HOSTS } from '../fixtures/contract.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../virtual-runtime.ts'
import { PAGE, SECRET, accepted, after, answer, entriesOf, refused, responding } from './fault.ts'
import type { Fault, Inject } from './fault.ts'

/** The shortest time until the next call after a failure that is likely to last. */
const NOT_SOON = { pause: 15 * MINUTE }

export const http = entriesOf('http', {
  'http-200-html': [
    refused('a maintenance page', responding(PAGE, 200, { 'content-type': 'text/html' })),
    refused('a page with the content type of JSON', responding(PAGE)),
  ],
  'http-200-empty': [
    refused('no bytes', responding('')),
    refused('no body', () => new Response(null)),
  ],
  'http-204': refused('204', () => new Response(null, { status: 204 })),
  'http-206': refused('half of the rates', ({ good }) => {
    const body = JSON.parse(good)
    const half = Object.entries(body.rates).filter((_, index) => index % 2 === 0)
    return answer(JSON.stringify({ ...body, rates: Object.fromEntries(half) }), 206)
  }),
  'http-203-proxy': [
    refused('numbers with a comma', ({ good }) =>
      answer(good.replaceAll(/(\d)\.(\d+)/g, '"$1,$2"'), 203),
    ),
    refused('no visible change', ({ good }) => answer(good, 203)),
  ],
  'http-redirect-loop': refused('302', ({ url }) => redirect(302, url.href)),
  'http-redirect-http': refused('301', ({ url }) =>
    redirect(301, url.href.replace('https:', 'http:')),
  ),
  'http-redirect-private': [
    ...[
      'http://169.254.169.254/latest/meta-data',
      'https://169.254.169.254/',
      'https://localhost/',
      '//127.0.0.1:6379/',
      `https://${SECRET}.example/`,
      'https://open.er-api.com@evil.example/v6/latest/USD',
      'https://',
    ].map((location) => refused(location, () => redirect(302, location))),
    accepted('of the same upstream', ({ url, dataSet, healthy }) => {
      const host = HOSTS[dataSet].at(-1) ?? ''
      return url.host === host ? healthy() : redirect(301, `https://${host}${url.pathname}`)
    }),
  ],
  'http-304-asked': refused(
    '304',
    () => new Response(null, { status: 304, headers: { etag: '"1"' } }),
  ),
  'http-401': refused('for all', responding(`{"error":"${SECRET}"}`, 401), NOT_SOON),
  'http-403': refused('for all', responding(PAGE, 403), NOT_SOON),
  'http-408': refused('408', responding(SECRET, 408)),
  'http-410': [
    refused('410', responding(PAGE, 410), NOT_SOON),
    refused('404', responding('{"message":"not found"}', 404), NOT_SOON),
  ],
  'http-429-seconds': [
    busy('20 min, as the feed blocks for', '1200', 20 * MINUTE),
    busy('40 min', '2400', 40 * MINUTE),
    busy('0 s', '0', SECOND),
    busy('11 days', '999999', 6 * HOUR),
    busy('without Retry-After', undefined, 20 * MINUTE),
  ],
  'http-429-date': [
    dated('30 min ahead', 30 * MINUTE, 30 * MINUTE),
    dated('long ago', -DAY, SECOND),
    dated('10 days ahead', 10 * DAY, 6 * HOUR),
    busy('neither date nor number', 'soon', 20 * MINUTE),
  ],
  'http-500': [
    refused('500', responding(SECRET, 500)),
    refused('500 with the right body', ({ good }) => answer(good, 500)),
  ],
  'http-502-503-504': [
    refused('502', responding(PAGE, 502)),
    refused('503 for 30 s', responding(PAGE, 503, { 'retry-after': '30' }), { pause: 30 * SECOND }),
    refused('504 for 2 min', responding('', 504, { 'retry-after': '120' }), { pause: 2 * MINUTE }),
  ],
  'http-520-526': [520, 522, 526].map((status) =>
    refused(String(status), responding(PAGE, status)),
  ),
  'http-999': [
    refused('599', responding(SECRET, 599)),
    refused('999', ({ good }) => Object.defineProperty(answer(good), 'status', { value: 999 })),
  ],
  'http-set-cookie': accepted('many headers', ({ good }) =>
    answer(good, 200, {
      'set-cookie': `session=${SECRET}`,
      'content-security-policy': `default-src ${SECRET}`,
      'access-control-allow-origin': `https://${SECRET}.example`,
      'access-control-allow-credentials': 'true',
      'cache-control': 'public, s-maxage=86400',
      age: '40000',
      vary: '*',
      location: `https://${SECRET}.example`,
    }),
  ),
  'http-slow-but-ok': accepted('4.9 s', after(4.9 * SECOND), { takes: 4.9 * SECOND }),
})

function busy(name: string, retryAfter: string | undefined, pause: number): Fault {
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
  return refused(name, responding(PAGE, 429, headers), { pause })
}

function dated(name: string, datedIn: number, pause: number): Fault {
  const inject: Inject = ({ now }) =>
    answer(PAGE, 429, { 'retry-after': new Date(now + datedIn).toUTCString() })
  return refused(name, inject, { pause, datedIn })
}

function redirect(status: number, location: string): Response {
  return new Response(null, { status, headers: { location } })
}
