import { describe, expect, it } from 'vitest'

import { serve as serveOnBun } from '../adapters/bun.ts'
import { serve as serveOnDeno } from '../adapters/deno.ts'
import { createUndiciFetch, serve } from '../adapters/node.ts'
import { createRatesClient } from '../src/client/index.ts'
import { exchangeRateApi } from '../src/compat/exchange-rate-api.ts'
import { exchangerateHost } from '../src/compat/exchangerate-host.ts'
import { frankfurterV2 } from '../src/compat/frankfurter-v2.ts'
import { frankfurter } from '../src/compat/frankfurter.ts'
import { openExchangeRates } from '../src/compat/open-exchange-rates.ts'
import * as main from '../src/index.ts'
import { crossCheck } from '../src/providers/cross-check.ts'
import { createCurrencyapiProvider } from '../src/providers/currencyapi.ts'
import { createEcbDataApiProvider, createEcbProvider } from '../src/providers/ecb.ts'
import { createExchangeRateApiV6Provider } from '../src/providers/exchange-rate-api-v6.ts'
import { createFawazahmed0Provider } from '../src/providers/fawazahmed0.ts'
import {
  createFrankfurterV2EcbProvider,
  createFrankfurterV2Provider,
} from '../src/providers/frankfurter-v2.ts'
import { createOpenExchangeRatesProvider } from '../src/providers/open-exchange-rates.ts'
import { createCacheApiStore } from '../src/stores/cache-api.ts'
import { createKvStore } from '../src/stores/cloudflare-kv.ts'
import { createRedisStore } from '../src/stores/redis.ts'
import { createSqliteStore } from '../src/stores/sqlite.ts'
import { createUpstashStore } from '../src/stores/upstash.ts'
import {
  failingProvider,
  fakeProviders,
  fixedProviders,
  mountContract,
  providerContract,
} from '../src/testing/index.ts'

const { latest, history } = fakeProviders()
const handler = main.createRatesHandler({ providers: { latest, history } })
const cache = { match: async () => undefined, put: async () => {} }
const namespace = { get: async () => null, put: async () => {} }
const redis = { call: async () => null }
const upstash = { url: 'https://redis.example', token: 't' }

/** The functions with options, called without types. */
const FACTORIES: Record<string, (options: object) => unknown> = {
  createRatesHandler: (options) => main.createRatesHandler(options),
  'createRatesHandler providers': (providers) => main.createRatesHandler({ providers }),
  'createRatesHandler maxStale': (maxStale) => main.createRatesHandler({ maxStale }),
  createExchangeRateApiProvider: (options) => main.createExchangeRateApiProvider(options),
  createFrankfurterProvider: (options) => main.createFrankfurterProvider(options),
  consoleLogger: (options) => main.consoleLogger(options),
  createMemoryStore: (options) => main.createMemoryStore(options),
  crossCheck: (options) => crossCheck(latest, history, options),
  createCurrencyapiProvider: (options) => createCurrencyapiProvider({ key: 'k', ...options }),
  createEcbProvider: (options) => createEcbProvider(options),
  createEcbDataApiProvider: (options) => createEcbDataApiProvider(options),
  createExchangeRateApiV6Provider: (options) =>
    createExchangeRateApiV6Provider({ key: 'k', ...options }),
  createFawazahmed0Provider: (options) => createFawazahmed0Provider(options),
  createFrankfurterV2Provider: (options) => createFrankfurterV2Provider(options),
  createFrankfurterV2EcbProvider: (options) => createFrankfurterV2EcbProvider(options),
  createOpenExchangeRatesProvider: (options) =>
    createOpenExchangeRatesProvider({ key: 'k', ...options }),
  createCacheApiStore: (options) => createCacheApiStore({ cache, ...options }),
  createKvStore: (options) => createKvStore(namespace, options),
  createRedisStore: (options) => createRedisStore(redis, options),
  createSqliteStore: (options) => createSqliteStore(':memory:', options),
  createUpstashStore: (options) => createUpstashStore({ ...upstash, ...options }),
  createRatesClient: (options) =>
    createRatesClient({ baseUrl: 'https://app.example/api', ...options }),
  frankfurter: (options) => frankfurter(handler, options),
  frankfurterV2: (options) => frankfurterV2(handler, options),
  exchangerateHost: (options) => exchangerateHost(handler, options),
  openExchangeRates: (options) => openExchangeRates(handler, options),
  exchangeRateApi: (options) => exchangeRateApi(handler, options),
  fixedProviders: (options) => fixedProviders({ base: 'EUR', rates: { USD: 2 }, ...options }),
  fakeProviders: (options) => fakeProviders(options),
  failingProvider: (options) => failingProvider('unreachable', options),
  providerContract: (options) => providerContract({ latest: () => latest, ...options }),
  mountContract: (options) =>
    mountContract(() => ({
      url: 'http://localhost/api',
      fetch: () => new Response(),
      ...options,
    }))[0]?.run(),
  'serve on Node': (options) => serve(() => new Response(), options),
  'serve on Bun': (options) => serveOnBun(() => new Response(), options),
  'serve on Deno': (options) => serveOnDeno(() => new Response(), options),
  'serve tls': (tls) => serve(() => new Response(), { tls: Object(tls) }),
  createUndiciFetch: (options) => createUndiciFetch(options),
  'createUndiciFetch timeouts': (timeouts) => createUndiciFetch({ timeouts }),
}

/** Returns the error that `make` throws or rejects with. */
async function failureOf(make: (options: object) => unknown, options: object): Promise<unknown> {
  try {
    await make(options)
  } catch (error) {
    return error
  }
  return undefined
}

describe('an unknown option', () => {
  it.each(Object.entries(FACTORIES))('causes a TypeError in %s', async (_name, make) => {
    const error = await failureOf(make, { zzzzzzzz: undefined })
    expect(error).toBeInstanceOf(TypeError)
    expect(String(error)).toMatch(/: unknown option "([\w]+\.)?zzzzzzzz"; known options: \w/)
  })

  it.each<[factory: keyof typeof FACTORIES, options: object, message: string]>([
    ['createRatesHandler', { provider: { latest } }, '"provider"; did you mean "providers"?'],
    ['createRatesHandler', { basepath: '/x' }, '"basepath"; did you mean "basePath"?'],
    ['createRatesHandler', { onevents: () => {} }, '"onevents"; did you mean "onEvent"?'],
    [
      'createRatesHandler',
      { ttl: 60 },
      '"ttl"; known options: basePath, providers, store, fetch, now, ',
    ],
    [
      'createRatesHandler providers',
      { rates: latest },
      '"providers.rates"; known options: providers.latest, providers.history',
    ],
    [
      'createRatesHandler maxStale',
      { latests: 1 },
      '"maxStale.latests"; did you mean "maxStale.latest"?',
    ],
    ['createRatesClient', { baseURL: '' }, '"baseURL"; did you mean "baseUrl"?'],
    ['fakeProviders', { rates: { USD: 2 } }, '"rates"; known options: seed, now'],
    ['createFrankfurterProvider', { baseUrl: '' }, '"baseUrl"; did you mean "url"?'],
    ['createRatesHandler', { stale: {} }, '"stale"; did you mean "maxStale"?'],
    ['serve on Node', { host: '::' }, '"host"; did you mean "hostname"?'],
    ['createUpstashStore', { prefx: 'a' }, '"prefx"; did you mean "prefix"?'],
    ['serve tls', { pfx: 'a' }, '"tls.pfx"; known options: tls.key, tls.cert'],
    [
      'createUndiciFetch timeouts',
      { header: 1 },
      '"timeouts.header"; did you mean "timeouts.headers"?',
    ],
  ])('in %s is named with the nearest known one: %j', async (factory, options, message) => {
    expect(String(await failureOf(FACTORIES[factory] ?? String, options))).toContain(
      `unknown option ${message}`,
    )
  })

  it.each([['https://relay.example'], [null], [['https://relay.example']], [() => {}]])(
    'is not needed for a TypeError where options are not an object: %j',
    (options: unknown) => {
      // @ts-expect-error options must be an object
      expect(() => main.createFrankfurterProvider(options)).toThrow(TypeError)
    },
  )
})
