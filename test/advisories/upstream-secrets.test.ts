import { strToU8, zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'

import { RatesError } from '../../src/index.ts'
import type { RatesHandlerOptions } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW, send } from '../catalogue/catalogue.ts'
import { FEEDS } from '../fixtures/feeds.ts'
import { LEAKY_UPSTREAMS } from '../providers/leaky-upstreams.ts'
import { NOW as FEED_TIME } from '../providers/upstream.ts'
import { ENDPOINTS, NONCE, createStillHandler, providersThat } from './loaded-handler.ts'

const FIELDS = ['result', 'error-type', 'message', 'base_code'].map((name) => [name, NONCE])
const BODY = JSON.stringify({ ...Object.fromEntries(FIELDS), rates: { [NONCE]: NONCE } })

/** The faults of the catalogue have statuses, bodies and errors of a network; these are all other ways to fail. */
const FAILURES: Record<string, () => Promise<Response>> = {
  'an error': async () => {
    throw Object.assign(new Error(NONCE, { cause: new Error(NONCE) }), { name: NONCE, code: NONCE })
  },
  'an error of the package': async () => {
    throw new RatesError('internal_error', NONCE, { hint: NONCE, cause: new Error(NONCE) })
  },
  ...Object.fromEntries(
    [200, 301, 401, 500].map((status) => {
      const headers = { location: `https://${NONCE}.example/`, 'retry-after': NONCE, etag: NONCE }
      const init = { status, statusText: NONCE, headers }
      return [`a response with ${status}`, async () => new Response(BODY, init)]
    }),
  ),
}

describe.each(Object.entries(FAILURES))('%s', (_, fail) => {
  const throws = async (): Promise<never> => {
    await fail()
    throw new Error(NONCE)
  }
  const store = { get: throws, set: throws, claim: throws }

  test.each<[string, RatesHandlerOptions]>([
    ['providers', { providers: providersThat(throws) }],
    ['a store', { store, providers: fakeProviders({ now: () => NOW }) }],
    ['a store beside upstreams', { store, fetch: fail }],
  ])('of %s does not appear in responses', async (_whose, options) => {
    const types: string[] = []
    const handler = createStillHandler({ ...options, onEvent: ({ type }) => void types.push(type) })
    for (const { path, target } of ENDPOINTS) {
      for (const sent of [target, `${path}?base=ZZZ`]) {
        const response = await send(handler, { method: 'GET', target: sent })
        expect(JSON.stringify(response), sent).not.toContain(NONCE)
      }
    }
    await handler.refresh()
    const pair = { from: 'USD', to: 'EUR' }
    const calls = [handler.rates.latest(), handler.rates.convert(pair), handler.rates.history(pair)]
    const settled = await Promise.allSettled(calls)
    expect(settled.map((each) => Object(each).reason?.message).join()).not.toContain(NONCE)
    expect(types.filter((type) => /failed|rejected/.test(type))).not.toEqual([])
  })
})

const BANK_CSV = 'Date,USD,JPY,\n2026-11-20,1.16,180.1,\n2026-11-19,1.15,179.4,\n'

/** Creates a response of `text` with the nonce instead of one word: one of the first 16, or later ones. */
function responseWithNonce(text: string, isArchive: boolean, number: number): Response {
  let left = number < 16 ? number : number * 13
  const spoilt = text.replaceAll(/[\w.-]+/g, (word) => (left-- === 0 ? NONCE : word))
  return new Response(isArchive ? zipSync({ 'eurofxref-hist.csv': strToU8(spoilt) }) : spoilt)
}

describe.each(Object.entries(FEEDS))('a reason in an event about %s', (_, feed) => {
  test('has at most 300 characters and no text of the upstream', async () => {
    const body = feed.body(FEED_TIME)
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const upstreams = [
      ...Object.values(LEAKY_UPSTREAMS).map((each) => (request: Request) => {
        return each({ request, key: NONCE, body: Object(body) })
      }),
      ...Array.from({ length: 24 }, (_each, number) => ({ url }: Request) => {
        const isArchive = url.endsWith('.zip')
        return responseWithNonce(isArchive ? BANK_CSV : text, isArchive, number)
      }),
    ]
    const { attribution } = feed
    const fail = (): Promise<never> => Promise.reject(new Error('not of this feed'))
    const { fetchLatest = fail, fetchHistory = fail } = feed.create('https://feed.example')
    const latest = { attribution, fetchLatest }
    const history = { attribution, fetchHistory }
    const reasons = new Set<string>()
    for (const [number, respond] of upstreams.entries()) {
      const handler = createStillHandler({
        providers: { latest, history },
        fetch: async (input, init) => respond(new Request(input, init)),
        onEvent: (event) => void ('reason' in event && reasons.add(event.reason)),
      })
      // Most of the time, one request is enough.
      if (fetchLatest !== fail && number % 4 > 0)
        await handler.rates.latest().catch(() => undefined)
      else await handler.refresh()
      handler.close()
    }
    expect(reasons.size).toBeGreaterThan(8)
    const isBad = (reason: string): boolean =>
      reason.toLowerCase().includes(NONCE) || reason.length > 300
    expect([...reasons].filter(isBad)).toEqual([])
  })
})
