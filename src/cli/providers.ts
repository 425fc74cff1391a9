import { createExchangeRateApiProvider, createFrankfurterProvider } from '../index.ts'
import type { HistoryProvider, LatestProvider } from '../index.ts'

/** Root URL and key of a provider. */
export interface Access {
  /** Root that replaces the provider's default. */
  url?: string | undefined
  /** Empty for providers without keys. */
  key: string
}

interface KnownProvider {
  latest?: (access: Access) => Promise<LatestProvider>
  history?: (access: Access) => Promise<HistoryProvider>
  /** Absent for providers without keys. */
  keyVariable?: string
}

/** The variables with provider keys. */
export const KEY_VARIABLES = {
  exchangeRateApi: 'RATESMITH_EXCHANGE_RATE_API_KEY',
  openExchangeRates: 'RATESMITH_OPEN_EXCHANGE_RATES_KEY',
  currencyapi: 'RATESMITH_CURRENCYAPI_KEY',
} as const

/** The providers by name. All but the defaults are imported only when selected. */
export const PROVIDERS: Readonly<Record<string, KnownProvider>> = {
  'exchange-rate-api': { latest: async ({ url }) => createExchangeRateApiProvider({ url }) },
  frankfurter: { history: async ({ url }) => createFrankfurterProvider({ url }) },
  'frankfurter-v2': {
    latest: async ({ url }) =>
      (await import('../providers/frankfurter-v2.ts')).createFrankfurterV2Provider({ url }),
    history: async ({ url }) =>
      (await import('../providers/frankfurter-v2.ts')).createFrankfurterV2EcbProvider({ url }),
  },
  ecb: {
    latest: async ({ url }) => (await import('../providers/ecb.ts')).createEcbProvider({ url }),
    history: async ({ url }) => (await import('../providers/ecb.ts')).createEcbProvider({ url }),
  },
  fawazahmed0: {
    latest: async ({ url }) =>
      (await import('../providers/fawazahmed0.ts')).createFawazahmed0Provider({
        urls: url === undefined ? undefined : [url],
      }),
  },
  'exchange-rate-api-v6': {
    keyVariable: KEY_VARIABLES.exchangeRateApi,
    latest: async (access) =>
      (await import('../providers/exchange-rate-api-v6.ts')).createExchangeRateApiV6Provider(
        access,
      ),
  },
  'open-exchange-rates': {
    keyVariable: KEY_VARIABLES.openExchangeRates,
    latest: async (access) =>
      (await import('../providers/open-exchange-rates.ts')).createOpenExchangeRatesProvider(access),
  },
  currencyapi: {
    keyVariable: KEY_VARIABLES.currencyapi,
    latest: async (access) =>
      (await import('../providers/currencyapi.ts')).createCurrencyapiProvider(access),
  },
}
