import { strToU8, zipSync } from 'fflate'
import { describe, expect, test } from 'vitest'

import { RatesError } from '../../src/index.ts'
import type { RatesEvent, RatesHandlerOptions } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW, ask } from '../catalogue/catalogue.ts'
import { FEEDS } from '../providers/feeds.ts'
import type { Feed } from '../providers/feeds.ts'
import { LEAKY_UPSTREAMS } from '../providers/leaky-upstreams.ts'
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

/** Ways to fail that say what nobody else is to hear. */
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
      `an answer with ${status}`,
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
  ])('of %s is in no answer', async (_whose, options) => {
    const told: string[] = []
    const handler = createStillHandler({ ...options, onEvent: ({ type }) => void told.push(type) })
    for (let round = 0; round < 2; round += 1) {
      for (const { path, target } of ENDPOINTS) {
        for (const asked of [target, path, `${path}?base=ZZZ`]) {
          for (const method of ['GET', 'HEAD', 'OPTIONS']) {
            const reply = await ask(handler, { method, target: asked })
            expect(JSON.stringify(reply), asked).not.toContain(NONCE)
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
    expect(told.filter((type) => /failed|rejected/.test(type))).not.toEqual([])
  })
})

/** How many words of a good answer are replaced, one at a time. */
const WORDS = 60

const BANK_CSV = 'Date,USD,JPY,\n2026-11-20,1.16,180.1,\n2026-11-19,1.15,179.4,\n'

/** `text` with the nonce in the place of one of its words: the first ones, and others further on. */
function withNonce(text: string, number: number): string {
  const words = [...text.matchAll(/[\w.-]+/g)]
  const step = Math.max(1, Math.floor(words.length / WORDS))
  const replaced = words[number < WORDS / 2 ? number : number * step]
  const start = replaced?.index ?? 0
  return text.slice(0, start) + NONCE + text.slice(start + (replaced?.[0].length ?? 0))
}

/** What `feed` answers to `request` after a change of its text, which an archive holds. */
function changed({ body }: Feed, { url }: Request, change: (text: string) => string): Response {
  const file = (text: string): Uint8Array<ArrayBuffer> =>
    zipSync({ 'eurofxref-hist.csv': strToU8(change(text)) })
  if (url.endsWith('.zip')) return new Response(file(BANK_CSV))
  return new Response(change(typeof body === 'string' ? body : JSON.stringify(body)))
}

describe.each(Object.entries(FEEDS))('a reason in an event about %s', (_, feed) => {
  const asked = { key: NONCE, body: Object(feed.body) }
  const upstreams = [
    ...Object.values(LEAKY_UPSTREAMS).map((answer) => (request: Request) => {
      return answer({ request, ...asked })
    }),
    ...Array.from({ length: WORDS }, (_each, number) => (request: Request) => {
      return changed(feed, request, (text) => withNonce(text, number))
    }),
  ]

  test('has at most 300 characters and none of the upstream', async () => {
    const reasons = new Set<string>()
    const note = (event: RatesEvent): void => void ('reason' in event && reasons.add(event.reason))
    const { fetchLatest, fetchHistory } = feed.create('https://feed.example')
    for (const answer of upstreams) {
      const handler = createStillHandler({
        providers: {
          latest: { attribution: feed.attribution, fetchLatest: fetchLatest ?? fail },
          history: { attribution: feed.attribution, fetchHistory: fetchHistory ?? fail },
        },
        fetch: async (input, init) => answer(new Request(input, init)),
        onEvent: note,
      })
      await handler.refresh()
      handler.close()
    }
    const found = [...reasons]
    expect(found.length).toBeGreaterThan(10)
    expect(found.filter((reason) => reason.toLowerCase().includes(NONCE))).toEqual([])
    expect(found.filter((reason) => reason.length > 300)).toEqual([])
  })
})

async function fail(): Promise<never> {
  throw new Error('not of this feed')
}
