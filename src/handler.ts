import { meantBy } from './api/check.ts'
import { OPERATIONS } from './api/parameters.ts'
import { describeStatus } from './api/status.ts'
import type { ServiceStatus } from './api/status.ts'
import { createListeners, loadOnce, systemRuntime } from './async.ts'
import type { Runtime } from './async.ts'
import { createEndpoints } from './endpoints/routes.ts'
import { explorerPage } from './endpoints/service.ts'
import { onceADay } from './events.ts'
import type { Emit } from './events.ts'
import { createGate } from './http/guard.ts'
import type { KeyRules, ProxyOptions } from './http/guard.ts'
import { createLimiter } from './http/limiter.ts'
import type { Limiter } from './http/limiter.ts'
import type { RawRequest, RawResponse } from './http/messages.ts'
import { createResponseCache, createResponseCachePerData } from './http/response-cache.ts'
import type { ResponseCaches } from './http/response-cache.ts'
import { toFetchStyle } from './http/response.ts'
import type { RouteTableOptions } from './http/route-table.ts'
import type { RouteServices } from './http/routes.ts'
import { createRouter } from './http/router.ts'
import type { ObservedResponse, ResponseObserver } from './http/router.ts'
import { resolveOptions } from './options.ts'
import type { RatesHandlerOptions } from './options.ts'
import { createRatesOn } from './rates-api.ts'
import type { Rates, RatesListeners } from './rates-api.ts'

/**
 * The share of the response cache for latest rates. Tables of 160 currencies in every base take 1 MiB, histories of 30
 * currencies 53 MiB: neither evicts the other, and lists of symbols from clients evict neither.
 */
const LATEST_CACHE_SHARE = 1 / 32

/** The share for conversions. */
const CONVERSIONS_CACHE_SHARE = 1 / 64

/** The share for responses about single days and ranges: once for the last five years, once for all years. */
const DATED_CACHE_SHARE = 1 / 16

/** The share for each of up to 32 histories that are joined from the pieces of a bank. */
const JOINED_CACHE_SHARE = 1 / 256

/**
 * A function that returns a `Response` to every request for rates, and never rejects.
 *
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 *
 * const handler = createRatesHandler()
 * const response = await handler(new Request('http://localhost/api/v1/latest?base=EUR'))
 * const { rates } = await response.json()
 * ```
 */
export interface RatesHandler {
  (request: Request): Promise<Response>
  /**
   * The handler itself, for hosts that take `{ fetch }`. Of a second argument, which hosts pass, only the client's address is
   * read: from Bun's server, Deno's info or `{ client }`.
   */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * Returns the response as data, for adapters that write it to a socket: in a promise only if it has to wait. Never throws or
   * rejects.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const handler = createRatesHandler()
   * const { status, headers, body } = await handler.answer({
   *   method: 'GET',
   *   target: '/api/v1/latest?base=EUR',
   *   header: () => undefined,
   * })
   * ```
   */
  answer(request: RawRequest): RawResponse | Promise<RawResponse>
  /** How requests send a key: logs must not contain the parameters of queries that have one. Undefined without `access`. */
  readonly keyRules: KeyRules | undefined
  /** The options about proxies, for logs that contain addresses of clients. */
  readonly proxies: ProxyOptions
  /**
   * Calls functions for every event and after every response, until the returned function is called. Exceptions and
   * rejections are ignored.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const handler = createRatesHandler()
   * const unsubscribe = handler.subscribe({
   *   onResponse: ({ route, status, elapsed }) => console.log(route, status, elapsed),
   * })
   * ```
   */
  subscribe(listeners: HandlerListeners): () => void
  /**
   * Returns the current state; loads nothing.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const handler = createRatesHandler()
   * const { status, responseCacheBytes, waiting } = handler.inspect()
   * ```
   */
  inspect(): HandlerState
  /** The operations without HTTP. */
  readonly rates: Rates
  /**
   * Refreshes all data that are due, for schedulers; never rejects.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const handler = createRatesHandler()
   * setInterval(() => void handler.refresh(), 600_000)
   * ```
   */
  refresh(): Promise<void>
  /**
   * Ends timers and upstream calls. From then on, requests get cached data or 502.
   *
   * @example
   * ```ts
   * import { createRatesHandler } from 'ratesmith'
   *
   * const handler = createRatesHandler()
   * process.once('SIGTERM', () => handler.close())
   * ```
   */
  close(): void
}

/**
 * Creates a handler that serves latest rates, conversion and history below `basePath`.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { consoleLogger, createRatesHandler } from 'ratesmith'
 *
 * const handler = createRatesHandler({ store: new Map(), onEvent: consoleLogger() })
 * export default { fetch: handler.fetch }
 * ```
 */
export function createRatesHandler(options: RatesHandlerOptions = {}): RatesHandler {
  return createHandlerOn(systemRuntime, options, onceADay)
}

/** Functions to call while a handler runs. */
export interface HandlerListeners extends RatesListeners {
  /** Called after every response to a path of the API. */
  onResponse?: ((response: ResponseSummary) => void) | undefined
}

/** A response that a handler has created. */
export interface ResponseSummary {
  /** Path of the endpoint below the base path, such as `/v1/convert`, or of a route; empty for the explorer's page. */
  route: string
  /** Request method in capitals. */
  method: string
  /** HTTP status code. */
  status: number
  /** Time from the request to the response, in ms. */
  elapsed: number
  /** The request, for its headers; do not keep it. */
  request: RawRequest
}

/** The state of a handler. */
export interface HandlerState {
  /** The state and age of the data, as in `GET /api/v1/status`. */
  status: ServiceStatus
  /** Size of the response caches, in bytes. */
  responseCacheBytes: number
  /** The number of requests that wait for data. */
  waiting: number
}

/** Creates a handler on a given runtime, with every event; `createRuntime` receives the clock. */
export function createHandlerOn(
  createRuntime: (now: () => number) => Runtime,
  options: RatesHandlerOptions = {},
  limitEvents = (emit: Emit, _now: () => number): Emit => emit,
): RatesHandler {
  const { basePath, explorer, responseCacheBytes, cors, access, proxies, ...given } =
    resolveOptions(options)
  const core = createRatesOn(createRuntime, given.rates, limitEvents)
  const { rates, sources, runtime, emit, onInternalError } = core
  const { now } = runtime
  const { observer, observe } = createObserver(runtime)
  const onOverload = (waiting: number): void => emit({ type: 'overloaded', waiting })
  const limiter = createLimiter(runtime, onOverload)
  const responseCaches = createResponseCaches(responseCacheBytes, limiter)
  const gate = access && createGate(access, { runtime, emit, proxies, isParameter })
  const shared = { basePath, runtime, limiter, onInternalError, gate }
  const bodies = loadOnce(async () => (await import('./http/body.ts')).createBodyReceiver(runtime))
  const data = { sources, responseCaches, rates, now, bodies, quotes: given.quotes }
  const endpoints = createEndpoints({ ...shared, ...data, explorer })
  const page = explorer ? explorerPage(basePath) : undefined
  const { errorBody } = endpoints.versioned
  const services = { rates, limiter, now, bodies, errorBody, hasCors: cors !== 'off' }
  const bindRoute = createRouteBinder(services)
  const served = { ...endpoints, routes: given.routes, bindRoute, cors, observer, page, onOverload }
  const { answer, waiting } = createRouter({ ...shared, ...served })
  const handle = toFetchStyle(answer)
  return Object.assign(handle, {
    fetch: handle,
    answer,
    rates,
    keyRules: gate?.keyRules,
    proxies,
    subscribe(listeners: HandlerListeners) {
      const removers = [rates.subscribe(listeners), observe(listeners.onResponse)]
      return () => removers.forEach((remove) => remove())
    },
    inspect: () => ({
      status: describeStatus(sources, now()),
      responseCacheBytes: responseCaches.bytes(),
      waiting: waiting(),
    }),
    refresh: rates.refresh,
    close() {
      gate?.close()
      rates.close()
    },
  })
}

const isParameter = (name: string): boolean =>
  Object.values(OPERATIONS).some((each) => meantBy(each, name)?.isNear === false)

/** Loads the code of routes with their first request: most handlers have none. */
function createRouteBinder(services: RouteServices): RouteTableOptions['bindRoute'] {
  return async (...given) => (await import('./http/bind-route.ts')).bindRoute(...given, services)
}

function createResponseCaches(
  capacity: number,
  limiter: Limiter,
): ResponseCaches & { bytes(): number } {
  const shares = LATEST_CACHE_SHARE + CONVERSIONS_CACHE_SHARE + 2 * DATED_CACHE_SHARE
  const caches = {
    latest: createResponseCache(capacity * LATEST_CACHE_SHARE, limiter),
    conversions: createResponseCache(capacity * CONVERSIONS_CACHE_SHARE, limiter),
    history: createResponseCache(capacity * (1 - shares), limiter),
    dated: createResponseCachePerData(
      (data) => capacity * ('calendar' in data ? JOINED_CACHE_SHARE : DATED_CACHE_SHARE),
      limiter,
    ),
  }
  return {
    ...caches,
    bytes: () => Object.values(caches).reduce((sum, cache) => sum + cache.bytes(), 0),
  }
}

function createObserver({ monotonic }: Runtime): {
  observer: ResponseObserver
  observe(listener: HandlerListeners['onResponse']): () => void
} {
  const responses = createListeners<ResponseSummary>()
  const observer = {
    isActive: false,
    start: monotonic,
    end({ route, request, status, startedAt }: ObservedResponse) {
      const { method } = request
      responses.call({ route, method, status, elapsed: monotonic() - startedAt, request })
    },
  }
  return {
    observer,
    observe(listener) {
      const remove = listener && responses.add(listener)
      observer.isActive = responses.hasAny()
      return () => {
        remove?.()
        observer.isActive = responses.hasAny()
      }
    },
  }
}
