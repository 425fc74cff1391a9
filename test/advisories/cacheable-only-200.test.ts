import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW, askEntry, entries } from '../catalogue/catalogue.ts'
import { pick } from '../system/pick.ts'
import { ENDPOINTS, SEED } from './endpoints.ts'
import { fetchFrom, loadedHandler } from './loaded-handler.ts'

/** Whatever a client or a proxy may send along that has made others answer differently, or keep what they should not. */
const HEADERS =
  `accept accept-charset accept-encoding accept-language authorization cache-control connection cookie
  content-length content-type date expect forwarded from host if-match if-modified-since if-range if-unmodified-since
  max-forwards origin pragma prefer proxy-authorization range referer rsc save-data te traceparent upgrade user-agent
  vary via warning x-forwarded-for x-forwarded-host x-forwarded-prefix x-forwarded-proto x-forwarded-scheme
  x-http-method x-http-method-override x-method-override x-middleware-prefetch x-nextjs-data x-original-url
  x-requested-with x-rewrite-url`.split(/\s+/)

const VALUES = [
  '* no-store only-if-cached private bytes=0-9 POST DELETE text/html gzip;q=0'.split(' '),
  ['', 'no-cache, max-age=0', 'Bearer secret', 'a=b; c=d', 'https://evil.example/?a=1'],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 31 Dec 9999 23:59:59 GMT', '\\"\\\\'],
].flat()

const loaded = await loadedHandler()

/** Headers that would make a cache keep an answer otherwise than its `Cache-Control` says. */
const SHARED = new Set('age expires vary pragma surrogate-control cdn-cache-control'.split(' '))

const now = (): number => NOW
const markets = await Promise.all([marketOf(1), marketOf(2)])

/** All that depends on the market, and not on the moment. */
const TARGETS = ENDPOINTS.flatMap(({ target }) => (target.includes('/status') ? [] : [target]))

/** What each of two handlers alone answers, by the targets. */
const expected = await Promise.all(
  markets.map(async (market) => {
    const alone = handlerOf(market)
    const bodies = TARGETS.map(async (target) => (await fetchFrom(alone, target)).body)
    return new Map((await Promise.all(bodies)).map((body, index) => [pick(TARGETS, index), body]))
  }),
)

describe('what others may keep', () => {
  test.each(entries.map((entry) => [entry.id, entry] as const))(
    'is an answer with 200 or 304 alone, also to %s',
    async (_, entry) => {
      const { status, headers } = await askEntry(loaded, entry, 'answer')
      const lifetime = headers['cache-control'] ?? 'none'
      // Nobody keeps an answer to `OPTIONS` (RFC 9110 §9.3.7), which need not say so.
      const isNeverKept = lifetime === 'no-store' || (entry.method === 'OPTIONS' && status === 204)
      expect(isNeverKept || status === 200 || status === 304).toBe(true)
      // By RFC 9111 the first would forbid a shared cache to answer stale.
      expect(lifetime).not.toMatch(/s-maxage|private|immutable/)
      expect(Object.keys(headers).filter((name) => SHARED.has(name))).toEqual([])
    },
  )
})

describe('what is kept', () => {
  const sent = fc.dictionary(
    fc.constantFrom(...HEADERS),
    fc.oneof(fc.constantFrom(...VALUES), fc.base64String({ maxLength: 20 })),
    { minKeys: 1, maxKeys: 4 },
  )

  test.each(ENDPOINTS)('is the same whatever headers are sent: $path', async ({ target }) => {
    const tag = (await fetchFrom(loaded, target)).headers['etag']
    for (const own of [{}, tag === undefined ? {} : { 'if-none-match': tag }]) {
      const plain = await fetchFrom(loaded, target, own)
      await fc.assert(
        fc.asyncProperty(sent, async (headers) => {
          const answer = await fetchFrom(loaded, target, { ...headers, ...own })
          // None of the values is the tag of an answer, which `If-Match` would ask for.
          const isRefused = !['*', '', undefined].includes(headers['if-match'])
          const found = isRefused ? [answer.status, answer.headers['cache-control']] : answer
          expect(found).toEqual(isRefused ? [412, 'no-store'] : plain)
        }),
        { ...SEED, numRuns: 100 },
      )
    }
  })

  test('is not the same for two markets', async () => {
    for (const target of TARGETS.filter((each) => !/currencies|openapi/.test(each))) {
      const [one, other] = expected.map((bodies) => bodies.get(target))
      expect(one, target).toMatch(/./)
      expect(one, target).not.toBe(other)
    }
  })

  test('is never somebody else’s: two handlers in one process, in any order of events', async () => {
    const question = fc.tuple(fc.nat({ max: 1 }), fc.constantFrom(...TARGETS))
    const questions = fc.array(question, { minLength: 100, maxLength: 100 })
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), questions, async (scheduler, list) => {
        const handlers = markets.map((market) => handlerOf(market, scheduler))
        const asked = list.map(async ([index, target]) => {
          await scheduler.schedule(Promise.resolve(), `${index} ${target}`)
          const { status, body } = await fetchFrom(pick(handlers, index), target)
          expect({ status, body }).toEqual({ status: 200, body: pick(expected, index).get(target) })
        })
        await scheduler.waitFor(Promise.all(asked))
      }),
      { ...SEED, numRuns: 10 },
    )
  }, 60_000)
})

type Market = Awaited<ReturnType<typeof marketOf>>

/** Providers of the market of `seed` that have made up their minds. */
async function marketOf(seed: number) {
  const { latest, history } = fakeProviders({ seed, now })
  const context = { fetch, signal: new AbortController().signal, now }
  const table = await latest.fetchLatest(context)
  const days = await history.fetchHistory({ start: '2021-01-01', end: '2026-11-20' }, context)
  return {
    latest: { ...latest, fetchLatest: async () => table },
    history: { ...history, fetchHistory: async () => days },
  }
}

/** A handler of `market`, whose answers come when `scheduler` says so (default at once). */
function handlerOf({ latest, history }: Market, scheduler?: fc.Scheduler): RatesHandler {
  const inTurn = <Data>(data: Data | Promise<Data>): Promise<Data> =>
    scheduler ? scheduler.schedule(Promise.resolve(data)) : Promise.resolve(data)
  const providers = {
    latest: { ...latest, fetchLatest: () => inTurn(latest.fetchLatest()) },
    history: { ...history, fetchHistory: () => inTurn(history.fetchHistory()) },
  }
  return createRatesHandler({ now, providers })
}
