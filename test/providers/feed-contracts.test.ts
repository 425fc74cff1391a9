import { afterEach, describe, expect, it, vi } from 'vitest'

import { createCurrencyapiProvider } from '../../src/providers/currencyapi.ts'
import { createEcbDataApiProvider, createEcbProvider } from '../../src/providers/ecb.ts'
import { createExchangeRateApiV6Provider } from '../../src/providers/exchange-rate-api-v6.ts'
import { createFawazahmed0Provider } from '../../src/providers/fawazahmed0.ts'
import {
  createFrankfurterV2EcbProvider,
  createFrankfurterV2Provider,
} from '../../src/providers/frankfurter-v2.ts'
import { createOpenExchangeRatesProvider } from '../../src/providers/open-exchange-rates.ts'
import { fakeClock, providerContract } from '../../src/testing/index.ts'
import type { ProviderTrial } from '../../src/testing/index.ts'
import { answerAsBank } from '../fixtures/ecb-files.ts'
import {
  answerOfFrankfurterV2,
  currencyapiBody,
  exchangeRateApiV6Body,
  fawazahmed0Body,
  openExchangeRatesBody,
} from '../fixtures/feed-payloads.ts'

// Generous: the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const now = fakeClock('2026-11-20T18:00:00Z')
const key = 'a-key'

const bank = (request: Request): Response => answerAsBank(request, now())

const TRIALS: Record<string, ProviderTrial> = {
  'createEcbProvider()': {
    latest: () => createEcbProvider(),
    history: () => createEcbProvider(),
    fetch: bank,
    now,
  },
  'createEcbDataApiProvider()': {
    latest: () => createEcbDataApiProvider(),
    history: () => createEcbDataApiProvider(),
    fetch: bank,
    now,
  },
  'createFrankfurterV2Provider()': {
    latest: () => createFrankfurterV2Provider(),
    fetch: ({ url }) => answerOfFrankfurterV2(url, now()),
    now,
  },
  'createFrankfurterV2EcbProvider()': {
    history: () => createFrankfurterV2EcbProvider(),
    fetch: ({ url }) => answerOfFrankfurterV2(url, now()),
    now,
  },
  'createFawazahmed0Provider()': {
    latest: () => createFawazahmed0Provider(),
    fetch: () => Response.json(fawazahmed0Body(now())),
    now,
  },
  'createFawazahmed0Provider() whose first host is down': {
    latest: () => createFawazahmed0Provider(),
    fetch: ({ url }) =>
      url.includes('jsdelivr')
        ? new Response('', { status: 503 })
        : Response.json(fawazahmed0Body(now())),
    now,
  },
  'createExchangeRateApiV6Provider()': {
    latest: () => createExchangeRateApiV6Provider({ key }),
    fetch: () => Response.json(exchangeRateApiV6Body(now())),
    now,
  },
  'createOpenExchangeRatesProvider()': {
    latest: () => createOpenExchangeRatesProvider({ key }),
    fetch: () => Response.json(openExchangeRatesBody(now())),
    now,
  },
  'createCurrencyapiProvider()': {
    latest: () => createCurrencyapiProvider({ key }),
    fetch: () => Response.json(currencyapiBody(now())),
    now,
  },
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
    expect(MARKETS).toHaveLength(8)
  })

  it.each(MARKETS)('checks its tables as those of a market: %s', async (_, given) => {
    const provider = await given.latest?.()
    const context = {
      fetch: async (input: RequestInfo | URL, init?: RequestInit) =>
        given.fetch?.(new Request(input, init)) ?? Response.error(),
      signal: new AbortController().signal,
      now,
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
