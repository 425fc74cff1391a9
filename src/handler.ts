import { callSafely } from './call-safely.ts'
import { lazyEndpoint } from './endpoints/lazy-endpoint.ts'
import { unversioned } from './endpoints/unversioned/group.ts'
import { v1 } from './endpoints/v1/group.ts'
import { onceADay } from './events.ts'
import type { Emit } from './events.ts'
import { FetchRawRequest } from './http/raw.ts'
import type { RawResponse, RawRequest } from './http/raw.ts'
import { createLimiter } from './http/limiter.ts'
import { createResponseCache, createResponseCachePerData } from './http/response-cache.ts'
import { createRendering } from './http/response.ts'
import { createRouter } from './http/router.ts'
import { createOperations } from './operations.ts'
import type { RatesOperations } from './operations.ts'
import { resolveOptions } from './options.ts'
import type { RatesHandlerOptions } from './options.ts'
import { systemRuntime } from './runtime.ts'
import type { Runtime } from './runtime.ts'
import { createSources } from './sources/rate-sources.ts'

/**
 * Tables of 160 currencies against each of them take 1 MiB, histories of 30 currencies 53 MiB: neither is to drive the other
 * out, and least of all the lists of symbols that clients make up.
 */
const LATEST_CACHE_SHARE = 1 / 32

/** The same for answers about days that are asked for, of which there are more than anyone can keep; by the last five years and by all. */
const DATED_CACHE_SHARE = 1 / 16

/** Answers every request for rates with a `Response`; never rejects. */
export interface RatesHandler {
  (request: Request): Promise<Response>
  /** The handler itself, for hosts that take `{ fetch }`. */
  readonly fetch: (request: Request) => Promise<Response>
  /** The same answer as data, for adapters that write it to a socket themselves; never rejects. */
  answer(request: RawRequest): Promise<RawResponse>
  /** The operations without HTTP. */
  readonly rates: RatesOperations
  /** Refreshes whatever is due now, for schedulers; never rejects. */
  refresh(): Promise<void>
  /** Ends timers and upstream calls. From then on only data that are held already are answered with, else 502. */
  close(): void
}

/**
 * Makes the handler that serves latest rates, conversion and history below `basePath`.
 *
 * @throws {TypeError} naming the option that cannot be used
 */
export function createRatesHandler(options: RatesHandlerOptions = {}): RatesHandler {
  return createHandlerOn(systemRuntime, options, onceADay)
}

/** `createRatesHandler` on a machine of the caller's choice, with every event; `createRuntime` is given the clock. */
export function createHandlerOn(
  createRuntime: (now: () => number) => Runtime,
  options: RatesHandlerOptions = {},
  limitEvents = (emit: Emit, _now: () => number): Emit => emit,
): RatesHandler {
  const { basePath, cors, explorer, responseCacheBytes, now, onEvent, ...resolved } =
    resolveOptions(options)
  const emit = limitEvents((event) => callSafely(() => onEvent(event)), now)
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
    dated: createResponseCachePerData(responseCacheBytes * DATED_CACHE_SHARE, limiter),
  }
  const answer = createRouter({
    basePath,
    cors,
    limiter,
    versioned: v1({ sources, responseCaches, now, basePath }),
    unversioned: unversioned(sources, responseCaches.latest),
    page: explorer
      ? lazyEndpoint(async () => (await import('./endpoints/explorer-page.ts')).explorerPage())
      : undefined,
    onInternalError,
  })
  const render = createRendering()
  const handle = async (request: Request): Promise<Response> =>
    render(await answer(new FetchRawRequest(request)))
  return Object.assign(handle, {
    fetch: handle,
    answer,
    rates: createOperations(sources, now, onInternalError),
    refresh: sources.refresh,
    close: sources.close,
  })
}
