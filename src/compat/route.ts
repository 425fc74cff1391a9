import { createListeners, systemRuntime } from '../async.ts'
import type { Listeners, Runtime } from '../async.ts'
import { RatesError, toRatesError } from '../errors.ts'
import type { Emit, RatesEvent } from '../events.ts'
import type { HandlerListeners, RatesHandler, ResponseSummary } from '../handler.ts'
import { NO_CORS, createCors } from '../http/cors.ts'
import type { Admission } from '../http/guard.ts'
import { createLimiter } from '../http/limiter.ts'
import type { Job, Limiter } from '../http/limiter.ts'
import { isCounted, statusFor } from '../http/messages.ts'
import type { EndpointResponse, RawRequest, RawResponse } from '../http/messages.ts'
import {
  bodyHeaders,
  failure,
  meetsIfMatch,
  options as allowed,
  represent,
  revalidated,
  success,
  toBytes,
  toFetchStyle,
  toSendable,
} from '../http/response.ts'
import type { Representation } from '../http/response.ts'
import { assertBasePath, splitTarget } from '../http/target.ts'
import { assertKnownOptions } from '../known-options.ts'
import { toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import { publishedRates } from './published-rates.ts'
import type { PublishedRates } from './published-rates.ts'

/** Options of every compatibility route. */
export interface CompatOptions {
  /** Prefix of the service's paths: absolute, without a trailing slash (default none). */
  basePath?: string | undefined
  /**
   * Whether every origin may read the responses (default true, like the services). The option `cors` of the handler does not
   * apply.
   */
  cors?: boolean | undefined
  /** The clock of the handler, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
  /** Receives `overloaded` and `internal_error` events of the route; exceptions are ignored (default none). */
  onEvent?: ((event: RatesEvent) => void) | undefined
}

export interface CompatRequest {
  rates: PublishedRates
  /** The raw query, without the question mark. */
  query: string
  /** The current day in UTC. */
  today: Day
  runtime: Runtime
  limiter: Limiter
  /** Waiting jobs by `key`; requests with the same key share one. */
  jobs: Map<string, Job<Representation>>
  key: string
  readonly signal: AbortSignal | undefined
  unsentBytes(): number
}

/** Returns the body of a response, as an object or a representation. Throws a `RatesError` for an invalid request. */
export type CompatEndpoint = (request: CompatRequest) => Promise<object | Representation>

export interface ErrorResponse {
  status: number
  body: object
}

export interface CompatService {
  name: string
  /**
   * Returns the endpoint at `path`; null for an unknown path below a prefix of the service; undefined for all other paths.
   */
  find(path: string, query: string): CompatEndpoint | null | undefined
  toErrorResponse(error: RatesError, path: string): ErrorResponse
}

/** @throws {TypeError} naming the invalid option or argument */
export function mountService(
  handler: RatesHandler,
  service: CompatService,
  options: CompatOptions,
): RatesHandler {
  requireHandler(handler)
  const { basePath = '' } = options
  const responses = createListeners<ResponseSummary>()
  const events = createListeners<RatesEvent>()
  if (options.onEvent) events.add(options.onEvent)
  const respondTo = createRoute(handler, service, options, { responses, events })

  function answer(request: RawRequest): RawResponse | Promise<RawResponse> {
    const found = find(request, service, basePath)
    return found ? respondTo(request, found) : handler.answer(request)
  }

  const handle = toFetchStyle(answer)
  return Object.assign(handle, {
    ...handler,
    fetch: handle,
    answer,
    subscribe(listeners: HandlerListeners) {
      const unsubscribe = handler.subscribe(listeners)
      const { onEvent, onResponse } = listeners
      const removers = [onEvent && events.add(onEvent), onResponse && responses.add(onResponse)]
      return () => {
        unsubscribe()
        removers.forEach((remove) => remove?.())
      }
    },
  })
}

interface RouteListeners {
  responses: Listeners<ResponseSummary>
  events: Listeners<RatesEvent>
}

function createRoute(
  handler: RatesHandler,
  service: CompatService,
  options: CompatOptions,
  { responses, events }: RouteListeners,
): (request: RawRequest, found: Found) => Promise<RawResponse> {
  const { cors = true, now = Date.now } = options
  const rules = cors ? createCors('*', false) : NO_CORS
  const respond = createResponder(handler, service, { now, emit: events.call })
  const { monotonic } = systemRuntime(now)

  return async (request, found) => {
    if (!found.endpoint) {
      const passed = await handler.answer(request)
      if (passed.matched) return passed
    }
    const startedAt = monotonic()
    const { method } = request
    const admission = found.endpoint ? await admit(handler, request, found) : undefined
    const response = await respond(request, found, admission?.refusal)
    const headers = [...response.headers, ...rules.constant]
    const complete = rules.complete({ ...response, headers }, request)
    const sent = admission ? admission.finish(complete, 1) : complete
    const body = method === 'HEAD' ? null : sent.body
    if (found.endpoint && responses.hasAny() && !isCounted(request)) {
      const elapsed = monotonic() - startedAt
      const status = statusFor(request, sent)
      responses.call({ route: service.name, method, status, elapsed, request })
    }
    return { ...sent, body, matched: found.endpoint !== null }
  }
}

function admit(
  _handler: RatesHandler,
  request: RawRequest,
  _found: Found,
): Admission | Promise<Admission> | undefined {
  if (request.method === 'OPTIONS' || isCounted(request)) return undefined
  return undefined
}

function createResponder(
  handler: RatesHandler,
  service: CompatService,
  { now, emit }: { now: () => number; emit: Emit },
): (
  request: RawRequest,
  found: Found,
  refusal: RatesError | undefined,
) => Promise<EndpointResponse> {
  const rates = publishedRates(handler.rates)
  const runtime = systemRuntime(now)
  const limiter = createLimiter(runtime, (waiting) => emit({ type: 'overloaded', waiting }))
  const jobs: CompatRequest['jobs'] = new Map()

  return async (request, { endpoint, path, query }, refusal) => {
    try {
      if (refusal) throw refusal
      if (request.method === 'OPTIONS' && endpoint) return allowed('GET, HEAD, OPTIONS')
      const given = { rates, query, runtime, limiter, jobs, key: `${path}?${query}` }
      return toEndpointResponse(await contentOf(endpoint, request, given), request)
    } catch (thrown) {
      const error = toRatesError(thrown)
      // The operations report their own internal errors.
      if (error !== thrown) {
        const { requestId } = request
        const about = requestId === undefined ? {} : { requestId }
        emit({ type: 'internal_error', error: thrown, ...about })
      }
      const { status, body } = service.toErrorResponse(error, path)
      return { ...failure(error, body), status }
    }
  }
}

interface Found {
  /** Null for an unknown path of the service. */
  endpoint: CompatEndpoint | null
  path: string
  query: string
}

function find(request: RawRequest, service: CompatService, basePath: string): Found | undefined {
  let target: string
  try {
    target = request.target
  } catch {
    // The handler reports the error.
    return undefined
  }
  const { path: whole, query } = splitTarget(target)
  if (!whole.startsWith(`${basePath}/`)) return undefined
  const path = whole.slice(basePath.length)
  const endpoint = service.find(path, query)
  // With a base path, all paths below it belong to the service.
  if (endpoint === undefined && basePath === '') return undefined
  return { endpoint: endpoint ?? null, path, query }
}

async function contentOf(
  endpoint: CompatEndpoint | null,
  request: RawRequest,
  given: Omit<CompatRequest, 'today' | 'signal' | 'unsentBytes'>,
): Promise<object | Representation> {
  if (!endpoint) throw new RatesError('not_found', 'Not found')
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new RatesError('method_not_allowed', 'Method not allowed')
  }
  const today = toDay(given.runtime.now())
  return endpoint({
    ...given,
    today,
    // A getter, because each read adds a listener on Node; only long work reads it.
    get signal() {
      return request.signal
    },
    unsentBytes: () => request.unsentBytes?.() ?? 0,
  })
}

export function representJson(text: string): Representation {
  return represent(toSendable(toBytes(text)), bodyHeaders({ lifetime: 'minute' }))
}

function isRepresentation(content: object): content is Representation {
  return 'bodyHeaders' in content && 'etag' in content
}

function toEndpointResponse(
  content: object | Representation,
  request: RawRequest,
): EndpointResponse {
  const representation = isRepresentation(content)
    ? content
    : representJson(JSON.stringify(content))
  const response = success({ representation }, [])
  if (!meetsIfMatch(response, request.header('if-match'))) {
    const message = 'Precondition failed: If-Match does not name the current ETag'
    throw new RatesError('precondition_failed', message)
  }
  return revalidated(response, request.header('if-none-match'))
}

function requireHandler(handler: unknown): void {
  if (typeof handler === 'function' && 'answer' in handler && 'rates' in handler) return
  throw new TypeError(
    'handler must be the result of createRatesHandler() or of another compat route',
  )
}

const KNOWN: Readonly<Record<keyof CompatOptions, true>> = {
  basePath: true,
  cors: true,
  now: true,
  onEvent: true,
}

/** @throws {TypeError} naming the invalid option */
export function requireOptions<Options extends CompatOptions>(
  options: Options,
  more: Readonly<Record<string, true>> = {},
): Options {
  assertKnownOptions<object>(options, { ...KNOWN, ...more })
  const { basePath = '', cors = true, now, onEvent } = options
  assertBasePath(basePath)
  if (typeof cors !== 'boolean') {
    throw new TypeError(`cors must be true or false, got ${String(cors)}`)
  }
  for (const [name, value] of Object.entries({ now, onEvent })) {
    if (value === undefined || typeof value === 'function') continue
    throw new TypeError(`${name} must be a function`)
  }
  return options
}
