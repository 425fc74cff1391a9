// What an app may write that uses every module. It is compiled with the declarations of the installed package.
import { createRatesHandler } from 'ratesmith'
import type { RatesHandlerOptions } from 'ratesmith'
import { serve as serveOnBun } from 'ratesmith/bun'
import { createRatesClient } from 'ratesmith/client'
import { toWorker } from 'ratesmith/cloudflare'
import { currencies } from 'ratesmith/currencies'
import { serve as serveOnDeno } from 'ratesmith/deno'
import { toExpressHandler } from 'ratesmith/express'
import { createUndiciFetch, serve, toNodeHandler } from 'ratesmith/node'
import { crossCheck } from 'ratesmith/providers/cross-check'
import { createCurrencyapiProvider } from 'ratesmith/providers/currencyapi'
import { createEcbProvider } from 'ratesmith/providers/ecb'
import { createExchangeRateApiV6Provider } from 'ratesmith/providers/exchange-rate-api-v6'
import { createFawazahmed0Provider } from 'ratesmith/providers/fawazahmed0'
import {
  createFrankfurterV2EcbProvider,
  createFrankfurterV2Provider,
} from 'ratesmith/providers/frankfurter-v2'
import { createOpenExchangeRatesProvider } from 'ratesmith/providers/open-exchange-rates'
import { createCacheApiStore } from 'ratesmith/stores/cache-api'
import { createKvStore } from 'ratesmith/stores/cloudflare-kv'
import { createFileStore } from 'ratesmith/stores/file'
import { createMemoryStore } from 'ratesmith/stores/memory'
import { createRedisStore } from 'ratesmith/stores/redis'
import { createSqliteStore } from 'ratesmith/stores/sqlite'
import { createUpstashStore } from 'ratesmith/stores/upstash'
import { failingProvider, fakeClock, fakeProviders } from 'ratesmith/testing'
import { mountContract, providerContract, storeContract } from 'ratesmith/testing'
import type { ContractCase } from 'ratesmith/testing'

const options: RatesHandlerOptions = {
  providers: {
    latest: [
      createCurrencyapiProvider({ key: 'key' }),
      createExchangeRateApiV6Provider({ key: 'key' }),
      createOpenExchangeRatesProvider({ key: 'key' }),
      createFawazahmed0Provider(),
      createFrankfurterV2Provider(),
    ],
    history: [createEcbProvider(), createFrankfurterV2EcbProvider()],
  },
}

export const stores = [
  createCacheApiStore(),
  createKvStore({ get: async () => null, put: async () => {} }),
  createFileStore('rates'),
  createMemoryStore(),
  createRedisStore({ send: async () => null }),
  createSqliteStore('rates.db'),
  createUpstashStore({ url: 'https://database.example', token: 'token' }),
]

export const now: () => number = fakeClock()
export const checked = crossCheck(fakeProviders().latest, fakeProviders().history)
export const cases: ContractCase[] = [
  ...storeContract(() => new Map()),
  ...providerContract({ latest: () => failingProvider('timeout'), fetch, now }),
  ...mountContract(() => ({ url: 'http://localhost/api' })),
]

export const handler = createRatesHandler({ ...options, fetch: await createUndiciFetch() })
const client = createRatesClient({ baseUrl: 'http://localhost/api', fetch: handler })
export const { EUR }: { EUR: number } = (await client.latest({ symbols: ['EUR'] })).rates
export const hosts = [toNodeHandler(handler), toExpressHandler(handler), toWorker(() => handler)]
export const servers = [serve, serveOnBun, serveOnDeno].map((each) => each(handler))
export const codes: string[] = currencies.map(({ code }) => code)

// @ts-expect-error the types are really there
export const wrong: number = createRatesHandler
