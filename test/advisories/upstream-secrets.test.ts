import { strToU8, zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'

import { RatesError } from '../../src/index.ts'
import type { RatesHandlerOptions } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW, send } from '../catalogue/catalogue.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import { LEAKY_UPSTREAMS } from '../providers/leaky-upstreams.ts'
import { NOW as FEED_TIME } from '../providers/upstream.ts'
import { ENDPOINTS, NONCE } from './endpoints.ts'
import { createStillHandler, providersThat } from './loaded-handler.ts'

const HEADERS = {
  location: `https://${NONCE}.example/`,
  'retry-after': NONCE,
  'set-cookie': `${NONCE}=1`,
  'www-authenticate': NONCE,
  [`x-${NONCE}`]: NONCE,
  etag: `"${NONCE}"`,
}

const FIELDS = ['result', 'error-type', 'message', 'base_code'].map((name) => [name, NONCE])
const BODY = JSON.stringify({ ...Object.fromEntries(FIELDS), rates: { [NONCE]: NONCE } })

const FAILURES: Record<string, () => Promise<Response>> = {
  'an error': async () => {
    throw Object.assign(new Error(NONCE, { cause: new Error(NONCE) }), { name: NONCE, code: NONCE })
  },
  'an error of ours': async () => {
    throw new RatesError('internal_error', NONCE, { hint: NONCE, cause: new Error(NONCE) })
  },
  'a text': async () => {
    const thrown: unknown = NONCE
    throw thrown
  },
  ...Object.fromEntries(
    [200, 301, 302, 400, 401, 403, 404, 429, 500, 503].map((status) => [
      `a response with ${status}`,
      async () => new Response(BODY, { status, statusText: NONCE, headers: HEADERS }),
    ]),
  ),
}

describe.each(Object.entries(FAILURES))('%s', (_, fail) => {
  const throws = async (): Promise<never> => {
    await fail()
    throw new Error(NONCE)
  }
  const store = { get: throws, set: throws, claim: throws }

  test.each<[string, RatesHandlerOptions]>([
    ['the upstreams of the built-in providers', { fetch: fail }],
    ['providers', { providers: providersThat(throws) }],
    ['a store', { store, providers: fakeProviders({ now: () => NOW }) }],
    ['a store beside upstreams', { store, fetch: fail }],
  ])('of %s does not appear in responses', async (_whose, options) => {
    const types: string[] = []
    const handler = createStillHandler({ ...options, onEvent: ({ type }) => void types.push(type) })
    for (let round = 0; round < 2; round += 1) {
      for (const { path, target } of ENDPOINTS) {
        for (const sent of [target, path, `${path}?base=ZZZ`]) {
          for (const method of ['GET', 'HEAD', 'OPTIONS']) {
            const response = await send(handler, { method, target: sent })
            expect(JSON.stringify(response), sent).not.toContain(NONCE)
          }
        }
      }
      await handler.refresh()
    }
    const { rates } = handler
    const settled = await Promise.allSettled([
      rates.latest(),
      rates.convert({ from: 'USD', to: 'EUR' }),
      rates.history({ from: 'USD', to: 'EUR' }),
    ])
    const reasons = settled.map((each) => (each.status === 'rejected' ? String(each.reason) : ''))
    expect(reasons.join()).not.toContain(NONCE)
    expect(types.filter((type) => /failed|rejected/.test(type))).not.toEqual([])
  })
})

const BANK_CSV = 'Date,USD,JPY,\n2026-11-20,1.16,180.1,\n2026-11-19,1.15,179.4,\n'

/** Creates a valid response with the nonce in `body` instead of one word: one of the first 30, or later ones. */
function responseWithNonce(body: unknown, { url }: Request, number: number): Response {
  const isArchive = url.endsWith('.zip')
  const text = isArchive ? BANK_CSV : typeof body === 'string' ? body : JSON.stringify(body)
  let left = number < 30 ? number : number * 7
  const spoilt = text.replaceAll(/[\w.-]+/g, (word) => (left-- === 0 ? NONCE : word))
  return new Response(isArchive ? zipSync({ 'eurofxref-hist.csv': strToU8(spoilt) }) : spoilt)
}

describe.each(Object.entries(FEEDS))('a reason in an event about %s', (_, feed) => {
  const body = feed.body(FEED_TIME)
  const about = { key: NONCE, body: Object(body) }
  const upstreams: ((request: Request) => Response | Promise<Response>)[] = [
    ...Object.values(LEAKY_UPSTREAMS).map(
      (each) => (request: Request) => each({ request, ...about }),
    ),
    ...Array.from(
      { length: 60 },
      (_each, number) => (request: Request) => responseWithNonce(body, request, number),
    ),
  ]

  test('has at most 300 characters and no text of the upstream', async () => {
    const { attribution } = feed
    const fail = (): Promise<never> => Promise.reject(new Error('not of this feed'))
    const { fetchLatest = fail, fetchHistory = fail } = feed.create('https://feed.example')
    const providers = {
      latest: { attribution, fetchLatest },
      history: { attribution, fetchHistory },
    }
    const reasons = new Set<string>()
    for (const respond of upstreams) {
      const handler = createStillHandler({
        providers,
        fetch: async (input, init) => respond(new Request(input, init)),
        onEvent: (event) => void ('reason' in event && reasons.add(event.reason)),
      })
      await handler.refresh()
      handler.close()
    }
    expect(reasons.size).toBeGreaterThan(10)
    const isBad = (reason: string): boolean =>
      reason.toLowerCase().includes(NONCE) || reason.length > 300
    expect([...reasons].filter(isBad)).toEqual([])
  })
})
