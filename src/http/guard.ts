import { callSafely, withTimeout } from '../async.ts'
import type { Instant, Runtime } from '../async.ts'
import { RatesError, isRatesError } from '../errors.ts'
import { reasonOf } from '../events.ts'
import type { Emit } from '../events.ts'
import type { EndpointResponse, Header, RawRequest } from './messages.ts'

/** The proxies in front of a handler. */
export interface ProxyOptions {
  /**
   * The proxies whose `Forwarded` or `X-Forwarded-For` is read: addresses and ranges such as `10.0.0.0/8`, or the number of
   * proxies in front of a server that clients cannot reach without them (default none: forwarding headers are ignored).
   */
  trustedProxies?: readonly string[] | number | undefined
  /**
   * The header to which the trusted proxies add the address (default: the present one; if both are present and differ, the
   * proxy is taken for the client, because a proxy may pass on the header that it does not write).
   */
  forwardedHeader?: 'forwarded' | 'x-forwarded-for' | undefined
}

/** What a handler gives to its guard. */
export interface GuardContext {
  runtime: Runtime
  emit: Emit
  proxies: ProxyOptions
  /** Returns whether the API reads or refuses a query parameter, which then cannot have a key. */
  isParameter(name: string): boolean
}

/** Rules about keys, plans and limits; result of `createAccess`. */
export interface Access {
  /** Called once for each handler. */
  createGuard(context: GuardContext): Guard
}

/** Response of `/v1/usage`: what is left for the owner of a key. */
export interface Usage {
  /** Name of the plan of the key. */
  plan: string
  /** The limits of the plan; empty while requests cannot be counted. */
  limits: UsageLimit[]
}

/** What is left of a limit. */
export interface UsageLimit {
  /** `burst` or `month`. */
  name: string
  /** Requests in one window. */
  quota: number
  /** Requests that are left. */
  remaining: number
  /** When the limit has its whole quota again, in ms since the Unix epoch. */
  resetsAt: Instant
}

/** A request to a guarded path. */
export interface GuardedRequest {
  request: RawRequest
  /** Raw query, without the question mark. */
  query: string
  /** The most that the request may take from every limit, 1 to 10. */
  cost: number
}

/** How requests send a key. */
export interface KeyRules {
  /** Whether requests without a key are served. */
  isOptional: boolean
  /** Query parameters that may contain the key. */
  queryParameters: readonly string[]
}

/** Decides which requests are served, and counts them. The handler catches what it throws: the request gets a 503. */
export interface Guard {
  /** How requests send a key (default: a key is required, in a header). */
  readonly keyRules?: KeyRules | undefined
  /**
   * Decides about a request before its endpoint runs. Returns a promise only if it has to wait, because a synchronous result
   * is much cheaper; a wait of more than 5 s is a failure.
   */
  admit(request: GuardedRequest): Admission | Promise<Admission>
  /**
   * Returns what is left for the key of a request, and takes nothing; throws or rejects with the `RatesError` of the response
   * otherwise (default: without it, `/v1/usage` is a 404).
   */
  usage?(request: Omit<GuardedRequest, 'cost'>): Usage | Promise<Usage>
  /** Ends timers and connections that the guard has opened. */
  close(): void
}

/** The decision about one request. */
export interface Admission {
  /** The error to respond with instead of running the endpoint. */
  readonly refusal: RatesError | undefined
  /**
   * Returns `response` with the headers that the decision requires. Called once, with the complete response and what the
   * request really cost; the guard gives the rest back. The status is 499 if the client disconnected before a 5xx: expensive
   * requests must not be free for clients that do not wait.
   */
  finish(response: EndpointResponse, cost: number): EndpointResponse
}

const IN_HEADERS: KeyRules = { isOptional: false, queryParameters: [] }

/** Longer than the timeouts of key stores and counters. */
const GUARD_TIMEOUT_MS = 5_000

const RETRY_AFTER_SECONDS = 5

const CLIENT_CLOSED_REQUEST = 499

/** A guard whose functions neither throw nor reject, except `usage` with a `RatesError`. */
export interface Gate {
  readonly keyRules: KeyRules
  readonly hasUsage: boolean
  admit(guarded: GuardedRequest): Admission | Promise<Admission>
  finish: typeof finish
  usage(guarded: Omit<GuardedRequest, 'cost'>): Promise<Usage>
  close(): void
}

/** Creates the guard of `access`; refuses what it does not admit, and emits an event for what it throws. */
export function createGate(access: Access, context: GuardContext): Gate {
  const { runtime, emit } = context
  const guard = access.createGuard(context)

  const onFailure = (error: unknown): void =>
    emit({ type: 'counters_failed', operation: 'admit', reason: reasonOf(error), error })

  function refuse(error: unknown) {
    onFailure(error)
    const finish = (response: EndpointResponse): EndpointResponse => response
    return { refusal: accessUnavailable(), finish }
  }

  function check(admission: Admission): Admission {
    const isRefusal = admission?.refusal === undefined || isRatesError(admission.refusal)
    if (typeof admission?.finish === 'function' && isRefusal) return admission
    return refuse(new TypeError('a guard must return { refusal, finish }'))
  }

  async function wait(admission: Promise<Admission>): Promise<Admission> {
    try {
      return check(await withTimeout(runtime, GUARD_TIMEOUT_MS, admission))
    } catch (error) {
      // What a late admission has taken is given back.
      admission.then(giveBack, () => undefined)
      return refuse(error)
    }
  }

  return {
    keyRules: guard.keyRules ?? IN_HEADERS,
    hasUsage: guard.usage !== undefined,
    admit(guarded) {
      try {
        const admission = guard.admit(guarded)
        return admission instanceof Promise ? wait(admission) : check(admission)
      } catch (error) {
        return refuse(error)
      }
    },
    finish(admission, response, about) {
      try {
        return finish(admission, response, about)
      } catch (error) {
        onFailure(error)
        // The guard might have made it private.
        return { ...response, headers: response.headers.map(toUnstored) }
      }
    },
    usage: (guarded) =>
      readUsage(guard, runtime, guarded).catch((error: unknown) => {
        throw isRatesError(error) ? error : refuse(error).refusal
      }),
    close: () => callSafely(() => guard.close()),
  }
}

async function readUsage(
  guard: Guard,
  runtime: Runtime,
  guarded: Omit<GuardedRequest, 'cost'>,
): Promise<Usage> {
  const found = Promise.resolve(guard.usage?.(guarded))
  const usage = await withTimeout(runtime, GUARD_TIMEOUT_MS, found)
  if (Array.isArray(usage?.limits)) return usage
  throw new TypeError('a guard must return { plan, limits }')
}

/** Gives back what the admission of a request took that is not served. */
export function giveBack(admission: Admission): void {
  callSafely(() => admission.finish({ status: 503, headers: [], body: null }, 0))
}

function finish(
  admission: Admission,
  response: EndpointResponse,
  { request, cost }: { request: RawRequest; cost: number },
): EndpointResponse {
  // Only read for failures: on Node, the first read of the signal adds a listener.
  const isAbandoned = response.status >= 500 && request.signal?.aborted === true
  if (!isAbandoned) return requireResponse(admission.finish(response, cost))
  const given = { ...response, status: CLIENT_CLOSED_REQUEST }
  return { ...requireResponse(admission.finish(given, cost)), status: response.status }
}

function requireResponse(response: EndpointResponse): EndpointResponse {
  if (typeof response.status === 'number' && Array.isArray(response.headers)) return response
  throw new TypeError('finish() must return a response')
}

export function accessUnavailable(): RatesError {
  return new RatesError('overloaded', 'Access cannot be checked now. Please retry shortly.', {
    retryAfter: RETRY_AFTER_SECONDS,
  })
}

function toUnstored(header: Header): Header {
  return header[0] === 'cache-control' ? ['cache-control', 'no-store'] : header
}
