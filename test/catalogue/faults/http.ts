import { expect } from 'vitest'

import type { FaultCase, Meeting, Variant } from './case.ts'
import { BOTH, PAGE, after, failing, rewritten, says } from './forms.ts'
import { askAll } from './journey.ts'
import { NONCE, answer } from './upstream.ts'
import type { Exchange, Inject } from './upstream.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long an upstream is left alone that will not be talked to differently soon. */
const NOT_SOON = { pause: 15 * MINUTE }

/** Faults of HTTP. */
export const http: readonly FaultCase[] = [
  {
    id: 'http-200-html',
    layer: 'http',
    fault: 'a page in place of JSON, with a status of 200',
    variants: [
      refused('a maintenance page', says(PAGE, 200, { 'content-type': 'text/html' })),
      refused('a page that says it is JSON', says(PAGE)),
    ],
  },
  {
    id: 'http-200-empty',
    layer: 'http',
    fault: 'an empty body',
    variants: [refused('no bytes', says('')), refused('no body', () => new Response(null))],
  },
  {
    id: 'http-204',
    layer: 'http',
    fault: '204',
    variants: [refused('204', () => new Response(null, { status: 204 }))],
  },
  {
    id: 'http-206',
    layer: 'http',
    fault: '206 with a part of the table',
    variants: [
      refused('half of the rates', ({ good }) => {
        const body = JSON.parse(good)
        const half = Object.entries(body.rates).filter((_, index) => index % 2 === 0)
        return answer(JSON.stringify({ ...body, rates: Object.fromEntries(half) }), 206)
      }),
    ],
  },
  {
    id: 'http-203-proxy',
    layer: 'http',
    fault: '203 from a proxy that has changed the answer',
    variants: [
      refused('numbers with a comma', ({ good }) =>
        answer(good.replaceAll(/(\d)\.(\d+)/g, '"$1,$2"'), 203),
      ),
      refused('nothing that can be seen', ({ good }) => answer(good, 203)),
    ],
  },
  {
    id: 'http-redirect-loop',
    layer: 'http',
    fault: 'a redirect to itself',
    variants: [refused('302', ({ url }) => redirect(302, url.href))],
  },
  {
    id: 'http-redirect-http',
    layer: 'http',
    fault: 'a redirect from https to http',
    variants: [refused('301', ({ url }) => redirect(301, url.href.replace('https:', 'http:')))],
  },
  {
    id: 'http-redirect-private',
    layer: 'http',
    fault: 'a redirect to an address inside',
    variants: [
      'http://169.254.169.254/latest/meta-data',
      'https://169.254.169.254/',
      'https://localhost/',
      '//127.0.0.1:6379/',
      `https://${NONCE}.example/`,
      'https://open.er-api.com@evil.example/v6/latest/USD',
    ].map((location) => refused(location, () => redirect(302, location))),
  },
  {
    id: 'http-304-asked',
    layer: 'http',
    fault: '304, which says that nothing has changed',
    contract: 'No validators are sent, so a 304 answers nothing: it is a failure like any other.',
    instead: { cold: 'A 304 that nobody asked for, with nothing that it could be about.' },
    variants: [refused('304', () => new Response(null, { status: 304, headers: { etag: '"1"' } }))],
  },
  permanent('http-401', 'the feed wants a key', says(`{"error":"${NONCE}"}`, 401)),
  permanent('http-403', 'the address or the agent is blocked', says(PAGE, 403)),
  {
    id: 'http-408',
    layer: 'http',
    fault: '408',
    variants: [refused('408', says(NONCE, 408))],
  },
  {
    ...permanent('http-410', 'the feed has come to its end', says(PAGE, 410)),
    variants: [refused('410', says(PAGE, 410), { ...NOT_SOON, afterwards: expectEndIsTold })],
  },
  {
    id: 'http-429-seconds',
    layer: 'http',
    fault: 'too many requests, with a number of seconds',
    variants: [
      busy('20 min, as the feed blocks for', () => '1200', 20 * MINUTE),
      busy('40 min', () => '2400', 40 * MINUTE),
      busy('nothing said', () => undefined, 20 * MINUTE),
    ],
  },
  {
    id: 'http-429-date',
    layer: 'http',
    fault: 'too many requests, with a date',
    variants: [
      busy('30 min ahead', dateIn(30 * MINUTE), 30 * MINUTE),
      busy('long ago', dateIn(-DAY), SECOND),
      busy('10 days ahead', dateIn(10 * DAY), 6 * HOUR),
      busy('neither date nor number', () => 'soon', 20 * MINUTE),
    ],
  },
  {
    id: 'http-500',
    layer: 'http',
    fault: '500',
    variants: [
      refused('500', says(NONCE, 500)),
      refused('500 with the right body', ({ good }) => answer(good, 500)),
    ],
  },
  {
    id: 'http-502-503-504',
    layer: 'http',
    fault: 'errors of a gateway, with and without a time to come back',
    variants: [
      refused('502', says(PAGE, 502)),
      refused('503 for 30 s', says(PAGE, 503, { 'retry-after': '30' }), { pause: 30 * SECOND }),
      refused('504 for 2 min', says('', 504, { 'retry-after': '120' }), { pause: 2 * MINUTE }),
    ],
  },
  {
    id: 'http-520-526',
    layer: 'http',
    fault: 'pages of a network in between',
    variants: [520, 522, 526].map((status) => refused(String(status), says(PAGE, status))),
  },
  {
    id: 'http-999',
    layer: 'http',
    fault: 'a status that there is none of',
    variants: [
      refused('599', says(NONCE, 599)),
      refused('999', ({ good }) => Object.defineProperty(answer(good), 'status', { value: 999 })),
    ],
  },
  {
    id: 'http-set-cookie',
    layer: 'http',
    fault: 'cookies, policies and CORS headers come with the answer',
    variants: [
      {
        name: 'many headers',
        dataSets: BOTH,
        verdict: 'accepted',
        inject: ({ good }) =>
          answer(good, 200, {
            'set-cookie': `session=${NONCE}`,
            'content-security-policy': `default-src ${NONCE}`,
            'access-control-allow-origin': `https://${NONCE}.example`,
            'access-control-allow-credentials': 'true',
            'cache-control': 'public, s-maxage=86400',
            age: '40000',
            vary: '*',
            location: `https://${NONCE}.example`,
          }),
      },
    ],
  },
  {
    id: 'http-slow-but-ok',
    layer: 'http',
    fault: 'every answer is right, and takes 4.9 s',
    variants: [
      {
        name: '4.9 s',
        dataSets: BOTH,
        verdict: 'accepted',
        takes: 4.9 * SECOND,
        inject: after(4.9 * SECOND),
      },
    ],
  },
]

function refused(name: string, inject: Inject, more: Partial<Variant> = {}): Variant {
  return failing(name, inject, { dataSets: BOTH, ...more })
}

function permanent(id: string, fault: string, inject: Inject): FaultCase {
  return { id, layer: 'http', fault, variants: [refused('for all', inject, NOT_SOON)] }
}

function busy(
  name: string,
  retryAfter: (exchange: Exchange) => string | undefined,
  pause: number,
): Variant {
  const inject: Inject = (exchange) => {
    const value = retryAfter(exchange)
    return answer(PAGE, 429, value === undefined ? {} : { 'retry-after': value })
  }
  return refused(name, inject, { pause })
}

function dateIn(delay: number): (exchange: Exchange) => string {
  return ({ machine }) => new Date(machine.now() + delay).toUTCString()
}

function redirect(status: number, location: string): Response {
  return new Response(null, { status, headers: { location } })
}

/** Demands that the operator hears of the end of the feed while it still answers. */
async function expectEndIsTold({ world, dataSet }: Meeting): Promise<void> {
  if (dataSet !== 'latest') return
  const endsAt = world.machine.now() + 60 * DAY
  const inject = rewritten((good) =>
    good.replace('"time_eol_unix":0', `"time_eol_unix":${endsAt / SECOND}`),
  )
  world.upstream.fault = { dataSet, inject }
  await world.machine.advance(4 * DAY)
  await askAll(world)
  await world.settle()
  expect(world.service.events.map(({ event }) => event)).toContainEqual(
    expect.objectContaining({ type: 'upstream_ending', endsAt }),
  )
}
