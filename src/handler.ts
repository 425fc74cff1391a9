import { createRatesApi } from './api/rates-api.ts'
import type { RatesOperations } from './api/rates-api.ts'
import { doNothing, systemRuntime } from './async.ts'
import type { Runtime } from './async.ts'
import { createEndpoints } from './endpoints/routes.ts'
import { explorerPage } from './endpoints/service.ts'
import { createEmit, onceADay } from './events.ts'
import type { Emit } from './events.ts'
import { createLimiter } from './http/limiter.ts'
import { FetchRawRequest } from './http/messages.ts'
import type { RawRequest, RawResponse } from './http/messages.ts'
import { createResponseCache, createResponseCachePerData } from './http/response-cache.ts'
import { createResponseFactory } from './http/response.ts'
import { createRouter } from './http/router.ts'
import { resolveOptions } from './options.ts'
import type { RatesHandlerOptions } from './options.ts'
import { createSources } from './sources/rate-sources.ts'

/**
 * The share of the response cache for latest rates. Tables of 160 currencies in every base take 1 MiB, histories of 30
 * currencies 53 MiB: neither evicts the other, and lists of symbols from clients evict neither.
 */
const LATEST_CACHE_SHARE = 1 / 32

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
  /** The handler itself, for hosts that take `{ fetch }`. */
  readonly fetch: (request: Request) => Promise<Response>
  /**
   * Returns the response as data, for adapters that write it to a socket; never rejects.
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
  answer(request: RawRequest): Promise<RawResponse>
  /** The operations without HTTP. */
  readonly rates: RatesOperations
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

/** Creates a handler on a given runtime, with every event; `createRuntime` receives the clock. */
export function createHandlerOn(
  createRuntime: (now: () => number) => Runtime,
  options: RatesHandlerOptions = {},
  limitEvents = (emit: Emit, _now: () => number): Emit => emit,
): RatesHandler {
  const { basePath, cors, explorer, responseCacheBytes, now, onEvent, ...resolved } =
    resolveOptions(options)
  const emit = onEvent ? limitEvents(createEmit(onEvent), now) : doNothing
  const runtime = createRuntime(now)
  const sources = createSources({ ...resolved, runtime, emit })
  const limiter = createLimiter(runtime, (waiting) => emit({ type: 'overloaded', waiting }))
  const onInternalError = (error: unknown): void => emit({ type: 'internal_error', error })
  const responseCaches = {
    latest: createResponseCache(responseCacheBytes * LATEST_CACHE_SHARE, limiter),
    history: createResponseCache(
      responseCacheBytes * (1 - LATEST_CACHE_SHARE - 2 * DATED_CACHE_SHARE),
      limiter,
    ),
    dated: createResponseCachePerData(
      (data) => responseCacheBytes * ('calendar' in data ? JOINED_CACHE_SHARE : DATED_CACHE_SHARE),
      limiter,
    ),
  }
  const answer = createRouter({
    basePath,
    cors,
    limiter,
    ...createEndpoints({
      sources,
      responseCaches,
      now,
      basePath,
      runtime,
      limiter,
      onInternalError,
    }),
    page: explorer ? explorerPage() : undefined,
    onInternalError,
  })
  const render = createResponseFactory()
  const handle = async (request: Request): Promise<Response> =>
    render(await answer(new FetchRawRequest(request)))
  return Object.assign(handle, {
    fetch: handle,
    answer,
    rates: createRatesApi(sources, runtime, onInternalError),
    refresh: sources.refresh,
    close: sources.close,
  })
}
