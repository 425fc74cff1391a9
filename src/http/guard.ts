import { callSafely, withTimeout } from '../async.ts'
import type { Runtime } from '../async.ts'
import { RatesError, isRatesError } from '../errors.ts'
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
}

/** Rules about keys, plans and limits; result of `createAccess`. */
export interface Access {
  /** Called once for each handler. */
  createGuard(context: GuardContext): Guard
}

/** What is left for the owner of a key; response of `/v1/usage`. */
export interface Usage {
  /** Name of the plan of the key. */
  plan: string
  /** The limits of the plan; empty while requests cannot be counted. */
  limits: {
    /** `burst` or `month`. */
    name: string
    /** Requests in one window. */
    quota: number
    /** What is left, in whole requests. */
    remaining: number
    /** When the limit has its whole quota again, in ms since the Unix epoch. */
    resetsAt: number
  }[]
}

/** A request to a guarded endpoint. */
export interface GuardedRequest {
  request: RawRequest
  /** Raw query, without the question mark. */
  query: string
  /** What the request takes from every limit, 1 or more. */
  cost: number
}

/** How requests send a key, for the OpenAPI document. */
export interface KeyRules {
  /** Whether requests without a key are served. */
  isOptional: boolean
  /** Query parameters that may contain the key. */
  queryParameters: readonly string[]
}

/** Decides which requests are served, and counts them. */
export interface Guard {
  /** How requests send a key (default: a key is required, in a header). */
  readonly keyRules?: KeyRules | undefined
  /**
   * Decides about a request before its endpoint runs. Returns a promise only if it has to wait, because a synchronous result
   * is much cheaper. Where it throws, rejects or takes longer than 5 s, the request gets a 503.
   */
  admit(request: GuardedRequest): Admission | Promise<Admission>
  /** Ends timers and connections that the guard has opened. */
  close(): void
}

/** The decision about one request. */
export interface Admission {
  /** The error to respond with instead of running the endpoint. */
  readonly refusal: RatesError | undefined
  /**
   * Returns `response` with the headers that the decision requires. Called once, with the complete response. `cost` is the
   * real cost where only the endpoint knew it; the guard gives the rest back.
   */
  finish(response: EndpointResponse, cost?: number): EndpointResponse
}

/** Longer than the timeouts of key stores and counters. */
const ADMIT_TIMEOUT_MS = 5_000

const RETRY_AFTER_SECONDS = 5

/** Where the client has disconnected: expensive requests must not be free for clients that do not wait. Never sent. */
const CLIENT_CLOSED_REQUEST = 499

export function accessUnavailable(): RatesError {
  return new RatesError('overloaded', 'Access cannot be checked now. Please retry shortly.', {
    retryAfter: RETRY_AFTER_SECONDS,
  })
}

export interface SafeGuardOptions {
  runtime: Runtime
  /** Called with everything that the guard throws, and with results that are not admissions. */
  onFailure(error: unknown): void
}

/** Returns `guard` as one that never throws or rejects, and refuses all requests that it does not clearly admit. */
export function createSafeGuard(guard: Guard, { runtime, onFailure }: SafeGuardOptions): Guard {
  function refuse(error: unknown): Admission {
    onFailure(error)
    return { refusal: accessUnavailable(), finish: (response) => response }
  }

  function check(admission: Admission, { request }: GuardedRequest): Admission {
    try {
      return new CheckedAdmission(admission, request, onFailure)
    } catch (error) {
      return refuse(error)
    }
  }

  async function wait(admission: Promise<Admission>, guarded: GuardedRequest): Promise<Admission> {
    try {
      return check(await withTimeout(runtime, ADMIT_TIMEOUT_MS, admission), guarded)
    } catch (error) {
      // What a late admission has taken is given back.
      admission.then(
        (late) => check(late, guarded).finish({ status: 503, headers: [], body: null }),
        () => undefined,
      )
      return refuse(error)
    }
  }

  return {
    keyRules: guard.keyRules,
    admit(guarded) {
      try {
        const admission = guard.admit(guarded)
        return admission instanceof Promise ? wait(admission, guarded) : check(admission, guarded)
      } catch (error) {
        return refuse(error)
      }
    },
    close: () => callSafely(() => guard.close()),
  }
}

/** An admission whose `finish` never throws. A class, because one is created for every request. */
class CheckedAdmission implements Admission {
  readonly refusal: RatesError | undefined
  readonly #admission: Admission
  readonly #request: RawRequest
  readonly #onFailure: (error: unknown) => void

  /** @throws {TypeError} unless `admission` is one */
  constructor(admission: Admission, request: RawRequest, onFailure: (error: unknown) => void) {
    const { refusal, finish } = admission
    const isRefusal = refusal === undefined || isRatesError(refusal)
    if (typeof finish !== 'function' || !isRefusal) {
      throw new TypeError('a guard must return { refusal, finish }')
    }
    this.refusal = refusal
    this.#admission = admission
    this.#request = request
    this.#onFailure = onFailure
  }

  finish(response: EndpointResponse, cost?: number): EndpointResponse {
    try {
      // Only read for failures: on Node, the first read of the signal adds a listener.
      const isAbandoned = response.status >= 500 && this.#request.signal?.aborted === true
      const given = isAbandoned ? { ...response, status: CLIENT_CLOSED_REQUEST } : response
      const { status, headers, body } = this.#admission.finish(given, cost)
      if (typeof status !== 'number' || !Array.isArray(headers)) {
        throw new TypeError('finish() must return a response')
      }
      return { status: isAbandoned ? response.status : status, headers, body }
    } catch (error) {
      this.#onFailure(error)
      // The guard might have made it private.
      return { ...response, headers: response.headers.map(toUnstored) }
    }
  }
}

function toUnstored(header: Header): Header {
  return header[0] === 'cache-control' ? ['cache-control', 'no-store'] : header
}
