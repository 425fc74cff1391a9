import { describe, expect, it } from 'vitest'

import { createCurrencyapiProvider } from '../../src/providers/currencyapi.ts'
import { createExchangeRateApiV6Provider } from '../../src/providers/exchange-rate-api-v6.ts'
import { createFawazahmed0Provider } from '../../src/providers/fawazahmed0.ts'
import {
  createFrankfurterV2EcbProvider,
  createFrankfurterV2Provider,
} from '../../src/providers/frankfurter-v2.ts'
import { createOpenExchangeRatesProvider } from '../../src/providers/open-exchange-rates.ts'
import { fakeClock, providerContract } from '../../src/testing/index.ts'
import type { ProviderTrial } from '../../src/testing/index.ts'
import {
  answerOfFrankfurterV2,
  currencyapiBody,
  exchangeRateApiV6Body,
  fawazahmed0Body,
  openExchangeRatesBody,
} from '../fixtures/feed-payloads.ts'

const now = fakeClock('2026-11-20T18:00:00Z')
const key = 'a-key'

const TRIALS: Record<string, ProviderTrial> = {
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

describe.each(Object.entries(TRIALS))('providerContract() of %s', (_, given) => {
  it.each(providerContract(given))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
})
