import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { RatesHandler } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { NOW } from '../catalogue/catalogue.ts'
import { pick } from '../system/pick.ts'
import { ENDPOINTS, SEED } from './endpoints.ts'
import { fetchFrom } from './loaded-handler.ts'

const now = (): number => NOW
const markets = await Promise.all([marketOf(1), marketOf(2)])

/** Targets whose response depends only on the market. */
const TARGETS = ENDPOINTS.flatMap(({ target }) => (target.includes('/status') ? [] : [target]))

/** Expected bodies of two separate handlers, by target. */
const expected = await Promise.all(
  markets.map(async (market) => {
    const alone = handlerOf(market)
    const bodies = TARGETS.map(async (target) => (await fetchFrom(alone, target)).body)
    return new Map((await Promise.all(bodies)).map((body, index) => [pick(TARGETS, index), body]))
  }),
)

describe('a cached response', () => {
  test('is not the same for two markets', async () => {
    for (const target of TARGETS.filter((each) => !/currencies|openapi|sources$|v1$/.test(each))) {
      const [one, other] = expected.map((bodies) => bodies.get(target))
      expect(one, target).toMatch(/./)
      expect(one, target).not.toBe(other)
    }
  })

  test('never comes from another handler of the process, in any order of events', async () => {
    const request = fc.tuple(fc.nat({ max: 1 }), fc.constantFrom(...TARGETS))
    const requests = fc.array(request, { minLength: 100, maxLength: 100 })
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), requests, async (scheduler, list) => {
        const handlers = markets.map((market) => handlerOf(market, scheduler))
        const pending = list.map(async ([index, target]) => {
          await scheduler.schedule(Promise.resolve(), `${index} ${target}`)
          const { status, body } = await fetchFrom(pick(handlers, index), target)
          expect({ status, body }).toEqual({ status: 200, body: pick(expected, index).get(target) })
        })
        await scheduler.waitFor(Promise.all(pending))
      }),
      { ...SEED, numRuns: 10 },
    )
  }, 60_000)
})

type Market = Awaited<ReturnType<typeof marketOf>>

/** Creates providers of the market of `seed` with constant data. */
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

/** Creates a handler of `market` whose providers respond in the order of `scheduler` (default: immediately). */
function handlerOf({ latest, history }: Market, scheduler?: fc.Scheduler): RatesHandler {
  const inTurn = <Data>(data: Data | Promise<Data>): Promise<Data> =>
    scheduler ? scheduler.schedule(Promise.resolve(data)) : Promise.resolve(data)
  const providers = {
    latest: { ...latest, fetchLatest: () => inTurn(latest.fetchLatest()) },
    history: { ...history, fetchHistory: () => inTurn(history.fetchHistory()) },
  }
  return createRatesHandler({ now, providers })
}
