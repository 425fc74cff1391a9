import { afterEach, describe, expect, it, vi } from 'vitest'

import type { HistoryProvider, LatestProvider } from '../../src/index.ts'
import { providerContract } from '../../src/testing/index.ts'
import type { ProviderTrial } from '../../src/testing/index.ts'
import { FEEDS, good } from './feeds.ts'
import type { Feed } from './feeds.ts'
import { NOW } from './upstream.ts'

// Generous: the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

function trialOf(feed: Feed): ProviderTrial {
  const { fetchLatest, fetchHistory } = feed.create()
  const create = (): LatestProvider & HistoryProvider => Object(feed.create())
  return {
    latest: fetchLatest && create,
    history: fetchHistory && create,
    fetch: feed.fetch ?? (() => good(feed)),
    now: () => NOW,
  }
}

const TRIALS = Object.fromEntries(
  Object.entries(FEEDS).map(([name, feed]) => [name, trialOf(feed)]),
)
const { 'createFawazahmed0Provider()': twoHosts = {} } = TRIALS
TRIALS['createFawazahmed0Provider() whose first host is down'] = {
  ...twoHosts,
  fetch: (request) =>
    request.url.includes('jsdelivr')
      ? new Response('', { status: 503 })
      : (twoHosts.fetch?.(request) ?? Response.error()),
}

/** The time that a case waits for passes at once. */
async function runQuickly(run: () => Promise<void>): Promise<void> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const trial = { isOver: false }
  const outcome = run().finally(() => (trial.isOver = true))
  outcome.catch(() => undefined)
  while (!trial.isOver) await vi.advanceTimersByTimeAsync(5)
  return outcome
}

afterEach(() => {
  vi.useRealTimers()
})

describe.each(Object.entries(TRIALS))('providerContract() of %s', (_, given) => {
  it.each(providerContract(given))('$name', async ({ run }) => {
    await expect(runQuickly(run)).resolves.toBeUndefined()
  })
})

const MARKETS = Object.entries(TRIALS).filter(([, { latest }]) => latest)

describe('a provider of latest rates', () => {
  it('is each of these', () => {
    expect(MARKETS).toHaveLength(9)
  })

  it.each(MARKETS)('checks its tables as those of a market: %s', async (_, given) => {
    const provider = await given.latest?.()
    const context = {
      fetch: async (input: RequestInfo | URL, init?: RequestInit) =>
        given.fetch?.(new Request(input, init)) ?? Response.error(),
      signal: new AbortController().signal,
      now: () => NOW,
    }
    const table = await provider?.fetchLatest(context)
    if (!provider?.judge || !table) throw new Error('there is nothing to judge')
    const { GBP = NaN } = table.rates
    const previous = { ...table, rates: { ...table.rates, GBP: GBP * 20 } }
    const judged = await provider.fetchLatest({ ...context, previous })
    expect(judged).toMatchObject({ rates: { GBP: GBP * 20 }, unconfirmed: { GBP } })
    expect(provider.judge(table, previous)).toEqual(judged)
    const few = { ...table, rates: { EUR: 1, USD: 1.1 } }
    expect(() => provider.judge?.(few, undefined)).toThrow('2 codes are not a market')
  })
})
