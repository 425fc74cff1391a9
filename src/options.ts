import type { CacheStore } from './cache/store.ts'
import type { RatesEvent } from './events.ts'
import { isOrigin } from './http/cors.ts'
import type { Access, ProxyOptions } from './http/guard.ts'
import { assertBasePath } from './http/target.ts'
import { requireRoutes } from './http/routes.ts'
import type { Route, Routes } from './http/routes.ts'
import { assertKnownOptions, requireFunctions } from './known-options.ts'
import { createExchangeRateApiProvider } from './providers/exchange-rate-api.ts'
import { createFrankfurterProvider } from './providers/frankfurter.ts'
import { resolveQuoteSettings } from './quotes/settings.ts'
import type { QuoteSettings } from './quotes/settings.ts'
import { DAY_MS } from './rates/dates.ts'
import { requireProvider } from './upstream/provider.ts'
import type { HistoryProvider, LatestProvider } from './upstream/provider.ts'

/** The responses with CORS headers for every origin: those of `/api/v1`, all, or none. */
export type CorsScope = 'v1' | 'all' | 'off'

/**
 * Options of `createRates`, all optional. Unknown names are a `TypeError`.
 *
 * @example
 * ```ts
 * import { consoleLogger, createRates } from 'ratesmith'
 * import type { RatesOptions } from 'ratesmith'
 *
 * const options: RatesOptions = { store: new Map(), onEvent: consoleLogger() }
 * const rates = createRates(options)
 * ```
 */
export interface RatesOptions {
  /** The sources of rates. */
  providers?:
    | {
        /**
         * Latest rates: one provider, an array in order of preference, or false to turn them off (default ExchangeRate-API's
         * open feed).
         */
        latest?: LatestProvider | readonly LatestProvider[] | false | undefined
        /**
         * Daily reference rates: one provider, an array in order of preference, or false to turn them off (default the
         * European Central Bank's, via Frankfurter).
         */
        history?: HistoryProvider | readonly HistoryProvider[] | false | undefined
      }
    | undefined
  /** A store for fetched rates that outlives this handler; a `Map` is enough (default: memory only). */
  store?: CacheStore | undefined
  /** The `fetch` of every call of a built-in provider (default `globalThis.fetch`, read at each call). */
  fetch?: typeof fetch | undefined
  /** Returns the time in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
  /** How long overdue data may still be served before a 502, in ms. */
  maxStale?:
    | {
        /** Latest rates (default 7 days). */
        latest?: number | undefined
        /** Reference rates (default 14 days). */
        history?: number | undefined
      }
    | undefined
  /** Receives each background refresh promise, for hosts that freeze after the response (default none). */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** Called for every log or metrics event, for example `consoleLogger()`; exceptions are ignored (default: nothing is logged). */
  onEvent?: ((event: RatesEvent) => void) | undefined
}

/**
 * Options of `createRatesHandler`, all optional. Unknown names are a `TypeError`.
 *
 * @example
 * ```ts
 * import { consoleLogger, createRatesHandler } from 'ratesmith'
 * import type { RatesHandlerOptions } from 'ratesmith'
 *
 * const options: RatesHandlerOptions = { basePath: '/rates', cors: 'all', onEvent: consoleLogger() }
 * const handler = createRatesHandler(options)
 * ```
 */
export interface RatesHandlerOptions extends RatesOptions, ProxyOptions {
  /** Path prefix of all endpoints: absolute, without a trailing slash; `''` mounts at the root (default `/api`). */
  basePath?: string | undefined
  /** Size limit of the response cache, in bytes; 0 turns it off (default 64 MiB). */
  responseCacheBytes?: number | undefined
  /**
   * The responses that scripts of any origin may read: `'v1'`, `'all'` or `'off'`; or an array of the origins that may read
   * those of `/api/v1`, such as `https://example.com` (default `'v1'`).
   */
  cors?: CorsScope | readonly string[] | undefined
  /** API keys, plans and rate limits: the result of `createAccess()` (default: no key is required, no request is counted). */
  access?: Access | undefined
  /** Further paths to serve with the same keys, limits, CORS and metrics, such as those of another service (default none). */
  routes?: Routes | undefined
  /** Secrets and lifetime of quotes, for `GET /v1/quote` and the parameter `quote` of conversions (default: no quotes). */
  quotes?: QuoteSettings | undefined
  /** Whether to serve the explorer, a page for trying the API, at the base path (default false). */
  explorer?: boolean | undefined
}

/**
 * The export `server` of a config file of `ratesmith serve`: what is not the handler's.
 *
 * @example
 * ```ts
 * import type { RatesHandlerOptions, ServerOptions } from 'ratesmith'
 *
 * export default { cors: 'all' } satisfies RatesHandlerOptions
 * export const server: ServerOptions = { metrics: true, accessLog: true }
 * ```
 */
export interface ServerOptions {
  /** Private key and certificates in PEM for HTTPS (default none: HTTP). */
  tls?: { key: string; cert: string } | undefined
  /** Whether to serve metrics at `/metrics`, to everyone (default false). */
  metrics?: boolean | undefined
  /**
   * Whether to print a line of JSON on stdout for each response, with request ids (default false), and with `clients: true` the
   * address of the client, behind the option `trustedProxies`: addresses are personal data.
   */
  accessLog?: boolean | { clients?: boolean | undefined } | undefined
  /** Whether to compress responses with brotli and gzip (default true). */
  compress?: boolean | undefined
}

/** Validated options with every default filled in. An array of providers is empty where they are turned off. */
export interface ResolvedRatesOptions {
  latestProviders: readonly LatestProvider[]
  historyProviders: readonly HistoryProvider[]
  store: CacheStore | undefined
  fetch: typeof fetch
  now: () => number
  maxStale: { latest: number; history: number }
  waitUntil: ((work: Promise<unknown>) => void) | undefined
  onEvent: ((event: RatesEvent) => void) | undefined
}

export interface ResolvedOptions {
  basePath: string
  responseCacheBytes: number
  cors: CorsScope | readonly string[]
  access: Access | undefined
  proxies: ProxyOptions
  routes: readonly Route[]
  quotes: QuoteSettings | undefined
  explorer: boolean
  rates: ResolvedRatesOptions
}

const RATES_OPTIONS: Readonly<Record<keyof RatesOptions, true>> = {
  providers: true,
  store: true,
  fetch: true,
  now: true,
  maxStale: true,
  waitUntil: true,
  onEvent: true,
}
const KNOWN: Readonly<Record<keyof RatesHandlerOptions, true>> = {
  basePath: true,
  ...RATES_OPTIONS,
  responseCacheBytes: true,
  cors: true,
  access: true,
  trustedProxies: true,
  forwardedHeader: true,
  routes: true,
  quotes: true,
  explorer: true,
}
const KNOWN_DATA_SETS = { latest: true, history: true }

const MEBIBYTE = 1_048_576

/** @throws {TypeError} that names the invalid option */
export function resolveRatesOptions(
  options: RatesOptions,
  known: Readonly<Record<string, true>> = RATES_OPTIONS,
): ResolvedRatesOptions {
  assertKnownOptions<object>(options, known)
  const { providers = {}, maxStale = {} } = options
  if ('fetchLatest' in Object(providers) || 'fetchHistory' in Object(providers)) {
    throw new TypeError('providers must be { latest, history }, got a provider')
  }
  assertKnownOptions(providers, KNOWN_DATA_SETS, 'providers')
  assertKnownOptions(maxStale, KNOWN_DATA_SETS, 'maxStale')
  const { store, fetch, waitUntil, now = Date.now, onEvent } = options
  const { latest = createExchangeRateApiProvider(), history = createFrankfurterProvider() } =
    providers
  const { latest: latestStale = 7 * DAY_MS, history: historyStale = 14 * DAY_MS } = maxStale
  const latestProviders = latest === false ? [] : [latest].flat()
  const historyProviders = history === false ? [] : [history].flat()
  requireProviders('latest', 'fetchLatest', latest)
  requireProviders('history', 'fetchHistory', history)
  if (latest === false && history === false) {
    throw new TypeError('providers.latest and providers.history must not both be false')
  }
  requireDuration('maxStale.latest', latestStale)
  requireDuration('maxStale.history', historyStale)
  requireFunctions({ now, onEvent, waitUntil, fetch })
  requireFunctions({ 'store.get': store?.get, 'store.set': store?.set }, store !== undefined)
  requireFunctions({ 'store.claim': store?.claim })
  for (const { validateStored } of latestProviders)
    requireFunctions({ 'providers.latest.validateStored': validateStored })
  return {
    latestProviders,
    historyProviders,
    store,
    fetch: fetch ?? ((input, init) => globalThis.fetch(input, init)),
    now,
    maxStale: { latest: latestStale, history: historyStale },
    waitUntil,
    onEvent,
  }
}

/** @throws {TypeError} that names the invalid option */
export function resolveOptions(options: RatesHandlerOptions): ResolvedOptions {
  const rates = resolveRatesOptions(options, KNOWN)
  const { basePath = '/api', cors = 'v1', access, explorer = false } = options
  const { responseCacheBytes = 64 * MEBIBYTE, routes = [] } = options
  const { trustedProxies, forwardedHeader, quotes } = options
  assertBasePath(basePath)
  requireSize('responseCacheBytes', responseCacheBytes)
  requireCors(cors)
  requireFunctions({ 'access.createGuard': access?.createGuard }, access !== undefined)
  if (quotes) assertKnownOptions(quotes, { secrets: true, ttl: true }, 'quotes')
  if (typeof explorer !== 'boolean') {
    throw new TypeError(`explorer must be true or false, got ${String(explorer)}`)
  }
  return {
    basePath,
    responseCacheBytes,
    cors,
    access,
    // Checked where they are read: by `access`, and by logs with addresses.
    proxies: { trustedProxies, forwardedHeader },
    routes: requireRoutes(routes),
    quotes: quotes && resolveQuoteSettings(quotes),
    explorer,
    rates,
  }
}

function requireCors(cors: CorsScope | readonly string[]): void {
  if (Array.isArray(cors)) {
    for (const origin of cors) requireOrigin(origin)
    if (cors.length > 0) return
  } else if (['v1', 'all', 'off'].includes(String(cors))) return
  const given = Array.isArray(cors) ? '[]' : String(cors)
  throw new TypeError(`cors must be 'v1', 'all', 'off' or an array of origins, got ${given}`)
}

function requireOrigin(origin: unknown): void {
  if (isOrigin(origin)) return
  throw new TypeError(
    `cors must contain origins such as https://example.com, got ${String(origin)}`,
  )
}

function requireProviders(name: string, method: string, given: unknown): void {
  const option = `providers.${name}`
  if (given === false) return
  if (!Array.isArray(given)) return requireProvider(option, method, given)
  if (given.length === 0) throw new TypeError(`${option} must be a non-empty array of providers`)
  for (const [index, each] of given.entries()) requireProvider(`${option}[${index}]`, method, each)
}

function requireDuration(name: string, value: unknown): void {
  if (typeof value === 'number' && value >= 0) return
  throw new TypeError(`${name} must be a number of milliseconds, 0 or more, got ${String(value)}`)
}

function requireSize(name: string, value: unknown): void {
  if (typeof value === 'number' && value >= 0) return
  throw new TypeError(`${name} must be a number of bytes, 0 or more, got ${String(value)}`)
}
