import { RatesError } from '../errors.ts'
import type { AccessRefusal, Emit } from '../events.ts'
import type { Admission, Guard, GuardedRequest } from '../http/guard.ts'
import type { EndpointResponse, Header, RawRequest } from '../http/messages.ts'
import type { CountersContext, Decision, Limit, OpenCounters } from './counters.ts'
import type { KeyRecord } from './keys.ts'

/** Rules about keys, plans and limits; result of `createAccess`. */
export interface Access {
  /** Called once for each handler. */
  createGuard(context: CountersContext): Guard
}

/** A plan, ready to use. */
export interface ResolvedPlan {
  name: string
  limits: readonly Limit[]
  /** `RateLimit-Policy` of its responses. */
  policy: Header
}

/** What a guard needs besides its handler. */
export interface GuardOptions {
  plans: ReadonlyMap<string, ResolvedPlan>
  /** Plan of requests without a key; undefined where they are refused. */
  anonymous: ResolvedPlan | undefined
  counters: OpenCounters
  /** Returns the key that a request sends, or undefined. */
  keyOf(request: RawRequest, query: string): string | undefined
  /** Returns the record of a key; undefined for an unknown one. Returns a promise only if it has to wait. */
  findKey(key: string): FoundKey | Promise<FoundKey>
  /** Identifies a client without a key. */
  clientOf(request: RawRequest): string
  emit: Emit
  now(): number
}

/** The result of a look-up: a record, or why there is none. */
export type FoundKey = KeyRecord | 'malformed_key' | 'unknown_key' | 'unavailable'

/** Creates a guard. */
export function createGuard(options: GuardOptions): Guard {
  const { plans, anonymous, counters, keyOf, findKey, clientOf, emit, now } = options

  function refuse(reason: AccessRefusal, error: RatesError, key?: string): Admission {
    emit({ type: 'access_refused', reason, ...(key !== undefined && { key }) })
    return new Refusal(error)
  }

  const take = createTake(options)

  function admitKey(
    found: FoundKey,
    { request, cost }: GuardedRequest,
  ): Admission | Promise<Admission> {
    if (found === 'unavailable') return new Refusal(keysUnavailable())
    if (typeof found === 'string') return refuse(found, unauthorized('The API key is not valid'))
    const { id, plan: name, expiresAt = Infinity, origins } = found
    if (expiresAt <= now()) {
      return refuse('expired_key', unauthorized('The API key has expired'), id)
    }
    const origin = request.header('origin')
    if (origins && origin && !origins.includes(origin)) {
      return refuse('forbidden_origin', forbidden('is not permitted on this website'), id)
    }
    const plan = plans.get(name)
    if (!plan) return refuse('unknown_plan', forbidden('has no current plan'), id)
    return take({ client: `key:${id}`, plan, key: id }, cost)
  }

  return {
    admit(guarded) {
      const { request, query, cost } = guarded
      const key = keyOf(request, query)
      if (key !== undefined) {
        const found = findKey(key)
        return found instanceof Promise
          ? found.then((each) => admitKey(each, guarded))
          : admitKey(found, guarded)
      }
      if (!anonymous) return refuse('missing_key', unauthorized('An API key is required'))
      return take({ client: `address:${clientOf(request)}`, plan: anonymous }, cost)
    },
    close: () => counters.close(),
  }
}

/** Returns a function that takes the cost of a request from the limits of its client. */
function createTake({ counters, emit }: GuardOptions) {
  function toAdmission(counted: Counted, cost: number, decision: Decision): Admission {
    if (decision.granted) return new Grant(counters, counted, cost, decision)
    const { plan, key } = counted
    const exceeded = decision.states.findIndex(({ wait }) => wait > 0)
    const limit = plan.limits[exceeded]?.name ?? ''
    emit({ type: 'limit_reached', plan: plan.name, limit, ...(key !== undefined && { key }) })
    return new Refusal(limited(limit, decision), counted, decision)
  }
  return (counted: Counted, cost: number): Admission | Promise<Admission> => {
    const decision = counters.take(counted.client, counted.plan.limits, cost)
    return decision instanceof Promise
      ? decision.then((each) => toAdmission(counted, cost, each))
      : toAdmission(counted, cost, decision)
  }
}

/** Who is counted. */
interface Counted {
  client: string
  plan: ResolvedPlan
  /** Id of the key; undefined without one. */
  key?: string
}

/** A granted request. A class, because one is created for every request. */
class Grant implements Admission {
  readonly refusal: undefined
  readonly #counters: OpenCounters
  readonly #counted: Counted
  readonly #cost: number
  readonly #decision: Decision

  constructor(counters: OpenCounters, counted: Counted, cost: number, decision: Decision) {
    this.#counters = counters
    this.#counted = counted
    this.#cost = cost
    this.#decision = decision
  }

  finish(response: EndpointResponse, cost = this.#cost): EndpointResponse {
    const { status } = response
    const unused = this.#cost - Math.min(this.#cost, costOf(status, cost))
    if (unused > 0) {
      this.#counters.giveBack(this.#counted.client, this.#counted.plan.limits, unused)
    }
    return withLimits(response, this.#counted, this.#decision, unused)
  }
}

function costOf(status: number, cost: number): number {
  if (status >= 500) return 0
  return status === 304 || status >= 400 ? 1 : cost
}

class Refusal implements Admission {
  readonly refusal: RatesError
  readonly #counted: Counted | undefined
  readonly #decision: Decision | undefined

  constructor(refusal: RatesError, counted?: Counted, decision?: Decision) {
    this.refusal = refusal
    this.#counted = counted
    this.#decision = decision
  }

  finish(response: EndpointResponse): EndpointResponse {
    if (!this.#counted || !this.#decision) return response
    return withLimits(response, this.#counted, this.#decision, 0)
  }
}

const VARY: Header = ['vary', 'Authorization, X-API-Key']

/** Adds the header fields of limits, except to public responses; one that needed a key becomes private. */
function withLimits(
  response: EndpointResponse,
  { plan, key }: Counted,
  { states }: Decision,
  givenBack: number,
): EndpointResponse {
  const isPublic = response.headers.some(
    ([name, value]) => name === 'cache-control' && value.startsWith('public'),
  )
  // Shared caches may keep a public response to a request with `Authorization` (RFC 9111 §3.5).
  if (isPublic && key === undefined) return response
  const headers = isPublic ? response.headers.map(toPrivate) : [...response.headers]
  if (key !== undefined) headers.push(VARY)
  if (states.length > 0) headers.push(plan.policy, rateLimit(plan, states, givenBack))
  return { ...response, headers }
}

function toPrivate(header: Header): Header {
  const [name, value] = header
  return name === 'cache-control' ? [name, value.replace(/^public/, 'private')] : header
}

// draft-ietf-httpapi-ratelimit-headers-10, section 4
function rateLimit(
  { limits }: ResolvedPlan,
  states: Decision['states'],
  givenBack: number,
): Header {
  const items = states.map(({ remaining, reset, wait }, index) => {
    const { name, quota } = limits[index] ?? { name: '', quota: 0 }
    const left = Math.min(quota, remaining + givenBack)
    return `"${name}";r=${left};t=${Math.ceil((wait || reset) / 1_000)}`
  })
  return ['ratelimit', items.join(', ')]
}

/** Returns the `RateLimit-Policy` of limits. */
export function policyOf(limits: readonly Limit[]): Header {
  const items = limits.map(({ name, quota, window }) =>
    window === 'month'
      ? `"${name}";q=${quota}`
      : `"${name}";q=${quota};w=${Math.max(1, Math.round(window / 1_000))}`,
  )
  return ['ratelimit-policy', items.join(', ')]
}

function unauthorized(summary: string): RatesError {
  return new RatesError('unauthorized', summary, {
    hint: 'send it as Authorization: Bearer or X-API-Key',
  })
}

function forbidden(reason: string): RatesError {
  return new RatesError('forbidden', `The API key ${reason}`)
}

function limited(limit: string, { states }: Decision): RatesError {
  const wait = Math.max(...states.map((state) => state.wait))
  return new RatesError('rate_limited', `Rate limit reached: ${limit}`, {
    retryAfter: Math.max(1, Math.ceil(wait / 1_000)),
  })
}

function keysUnavailable(): RatesError {
  return new RatesError('overloaded', 'API keys cannot be checked now. Please retry shortly.', {
    retryAfter: 5,
  })
}
