import type { CacheStore } from './cache/store.ts'
import type { RatesEvent } from './events.ts'
import { assertBasePath } from './http/target.ts'
import { assertKnownOptions } from './known-options.ts'
import { createExchangeRateApiProvider } from './providers/exchange-rate-api.ts'
import { createFrankfurterProvider } from './providers/frankfurter.ts'
import { requireProvider } from './providers/provider.ts'
import type { HistoryProvider, LatestProvider } from './providers/provider.ts'

/** Which answers carry CORS headers: those of `/api/v1`, all, or none. */
export type CorsScope = 'v1' | 'all' | 'off'

/** Options of `createRatesHandler`; all of them may be left out, and there are no others. */
export interface RatesHandlerOptions {
  /** Prefix of both generations of endpoints: absolute, without a trailing slash; `''` mounts at the root (default `/api`). */
  basePath?: string | undefined
  /** Where rates come from. */
  providers?:
    | {
        /**
         * Latest rates: one provider, several of which the first with a good answer counts, or false to serve none (default
         * ExchangeRate-API's open feed).
         */
        latest?: LatestProvider | readonly LatestProvider[] | false | undefined
        /**
         * Daily reference rates: one provider, several of which the first with a good answer counts, or false to serve none
         * (default the European Central Bank's, via Frankfurter).
         */
        history?: HistoryProvider | readonly HistoryProvider[] | false | undefined
      }
    | undefined
  /** Where fetched rates are kept beyond this handler's own memory; a `Map` will do (default nowhere). */
  store?: CacheStore | undefined
  /** Used by the built-in providers for every upstream call (default `globalThis.fetch`, looked up at each call). */
  fetch?: typeof fetch | undefined
  /** The clock, ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
  /** For how many ms past the moment at which they were due to be refreshed data are answered with, before a 502. */
  maxStale?:
    | {
        /** Latest rates (default 7 days). */
        latest?: number | undefined
        /** Reference rates (default 14 days). */
        history?: number | undefined
      }
    | undefined
  /** Given the promise of every refresh that goes on after an answer, for hosts that freeze then (default none). */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** Called for every log or metrics event, as `consoleLogger()`; exceptions are ignored (default none: nothing is logged). */
  onEvent?: ((event: RatesEvent) => void) | undefined
  /** How many bytes finished answers may take, so that they are not made again; 0 keeps none (default 64 MiB). */
  responseCacheBytes?: number | undefined
  /** Which answers may be read by scripts of any origin: `'v1'`, `'all'` or `'off'` (default `'v1'`). */
  cors?: CorsScope | undefined
  /** Whether there is a page at the base path to try the API with in a browser (default false). */
  explorer?: boolean | undefined
}

/** The options with every default in place and every check done. A list of providers is empty where they are turned off. */
export interface ResolvedOptions {
  basePath: string
  latestProviders: readonly LatestProvider[]
  historyProviders: readonly HistoryProvider[]
  store: CacheStore | undefined
  fetch: typeof fetch
  now: () => number
  maxStale: { latest: number; history: number }
  waitUntil: ((work: Promise<unknown>) => void) | undefined
  onEvent: (event: RatesEvent) => void
  responseCacheBytes: number
  cors: CorsScope
  explorer: boolean
}

const KNOWN: Readonly<Record<keyof RatesHandlerOptions, true>> = {
  basePath: true,
  providers: true,
  store: true,
  fetch: true,
  now: true,
  maxStale: true,
  waitUntil: true,
  onEvent: true,
  responseCacheBytes: true,
  cors: true,
  explorer: true,
}
const KNOWN_DATA_SETS = { latest: true, history: true }

const DAY_MS = 86_400_000
const MEBIBYTE = 1_048_576

/**
 * Fills in what was left out.
 *
 * @throws {TypeError} naming the option that cannot be used
 */
export function resolveOptions(options: RatesHandlerOptions): ResolvedOptions {
  assertKnownOptions(options, KNOWN)
  const { basePath = '/api', providers = {}, maxStale = {}, cors = 'v1' } = options
  const { responseCacheBytes = 64 * MEBIBYTE, explorer = false } = options
  if ('fetchLatest' in Object(providers) || 'fetchHistory' in Object(providers)) {
    throw new TypeError('providers must be { latest, history }, got a provider')
  }
  assertKnownOptions(providers, KNOWN_DATA_SETS, 'providers')
  assertKnownOptions(maxStale, KNOWN_DATA_SETS, 'maxStale')
  const { store, fetch, waitUntil, now = Date.now, onEvent = () => {} } = options
  const { latest = createExchangeRateApiProvider(), history = createFrankfurterProvider() } =
    providers
  const { latest: latestStale = 7 * DAY_MS, history: historyStale = 14 * DAY_MS } = maxStale
  const latestProviders = latest === false ? [] : [latest].flat()
  const historyProviders = history === false ? [] : [history].flat()
  assertBasePath(basePath)
  requireProviders('latest', 'fetchLatest', latest)
  requireProviders('history', 'fetchHistory', history)
  if (latest === false && history === false) {
    throw new TypeError('providers.latest and providers.history must not both be false')
  }
  requireDuration('maxStale.latest', latestStale)
  requireDuration('maxStale.history', historyStale)
  requireSize('responseCacheBytes', responseCacheBytes)
  requireFunctions({ now, onEvent, waitUntil, fetch })
  requireFunctions({ 'store.get': store?.get, 'store.set': store?.set }, store !== undefined)
  requireFunctions({ 'store.claim': store?.claim })
  for (const { validateStored } of latestProviders)
    requireFunctions({ 'providers.latest.validateStored': validateStored })
  if (!['v1', 'all', 'off'].includes(cors)) {
    throw new TypeError(`cors must be 'v1', 'all' or 'off', got ${String(cors)}`)
  }
  if (typeof explorer !== 'boolean') {
    throw new TypeError(`explorer must be true or false, got ${String(explorer)}`)
  }
  return {
    basePath,
    latestProviders,
    historyProviders,
    store,
    // Not as a method of anything: some platforms' own function minds.
    fetch: (input, init) => (fetch ?? globalThis.fetch)(input, init),
    now,
    maxStale: { latest: latestStale, history: historyStale },
    waitUntil,
    onEvent,
    responseCacheBytes,
    cors,
    explorer,
  }
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

function requireFunctions(functions: Record<string, unknown>, required = false): void {
  for (const [name, value] of Object.entries(functions)) {
    if (typeof value === 'function' || (value === undefined && !required)) continue
    throw new TypeError(`${name} must be a function`)
  }
}
