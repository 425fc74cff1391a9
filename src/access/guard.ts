import { RatesError } from '../errors.ts'
import type { AccessRefusal, Emit } from '../events.ts'
import type { Admission, Guard, GuardedRequest } from '../http/guard.ts'
import type { EndpointResponse, Header, RawRequest } from '../http/messages.ts'
import { countersFailed } from './counters.ts'
import type { CountersContext, Decision, Limit, LimitState, OpenCounters } from './counters.ts'
import type { FoundKey, KeyLookup } from './key-lookup.ts'
import type { KeyReader } from './sent-key.ts'

/** Rules about keys, plans and limits; result of `createAccess`. */
export interface Access {
  /** Called once for each handler. */
  createGuard(context: CountersContext): Guard
}

export interface ResolvedPlan {
  name: string
  limits: readonly Limit[]
  /** The smallest quota: no request costs more, so that every request fits. */
  maxCost: number
  policy: Header
}

export interface GuardOptions {
  plans: ReadonlyMap<string, ResolvedPlan>
  /** Plan of requests without a key; undefined where they are refused. */
  anonymous: ResolvedPlan | undefined
  counters: OpenCounters
  keyOf: KeyReader
  findKey: KeyLookup
  /** Identifies a client without a key; may throw. */
  clientOf(request: RawRequest): string
  emit: Emit
  now(): number
}

export function createGuard(options: GuardOptions): Guard {
  const { anonymous, counters, keyOf, findKey, emit } = options
  const take = createTake(options)
  const clientOf = createClientReader(options)
  const refuse = createRefuse(emit)
  const admitKey = createKeyAdmission(options, take)

  function decide(guarded: GuardedRequest): Admission | Promise<Admission> {
    const { request, query, cost } = guarded
    const key = keyOf(request, query)
    if (key === false) {
      return refuse('malformed_key', unauthorized('The request has more than one API key'))
    }
    if (key !== undefined) {
      const found = findKey(key)
      return found instanceof Promise
        ? found.then((each) => admitKey(each, guarded))
        : admitKey(found, guarded)
    }
    if (!anonymous) return refuse('missing_key', unauthorized('An API key is required'))
    const client = `address:${clientOf(request)}`
    return take({ client, plan: anonymous, key: undefined }, cost)
  }

  function fail(error: unknown): Admission {
    emit(countersFailed('admit', error))
    return new Refusal(accessUnavailable())
  }

  return {
    admit(guarded) {
      try {
        const admission = decide(guarded)
        return admission instanceof Promise ? admission.catch(fail) : admission
      } catch (error) {
        // The header function of an adapter, or the clock, may throw.
        return fail(error)
      }
    },
    close: () => counters.close(),
  }
}

function accessUnavailable(): RatesError {
  return new RatesError('overloaded', 'Access cannot be checked now. Please retry shortly.', {
    retryAfter: 5,
  })
}

function createRefuse(emit: Emit) {
  return (reason: AccessRefusal, error: RatesError, key?: string): Admission => {
    emit({ type: 'access_refused', reason, ...(key !== undefined && { key }) })
    return new Refusal(error)
  }
}

function createKeyAdmission(
  { plans, emit, now }: GuardOptions,
  take: ReturnType<typeof createTake>,
) {
  const refuse = createRefuse(emit)
  return (found: FoundKey, { request, cost }: GuardedRequest): Admission | Promise<Admission> => {
    if (found === 'unavailable') return new Refusal(accessUnavailable())
    if (typeof found === 'string') return refuse(found, unauthorized('The API key is not valid'))
    const { id, plan: name, expiresAt, origins } = found
    // Also refused where the clock is not a number.
    if (expiresAt !== undefined && !(now() < expiresAt)) {
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
}

const MAX_CLIENT_LENGTH = 200

/** Creates a function that returns a client, or an empty text, which all unidentified clients share. */
function createClientReader({ clientOf, emit }: GuardOptions): (request: RawRequest) => string {
  return (request) => {
    let failure = `client must return a string of at most ${MAX_CLIENT_LENGTH} characters`
    try {
      const client: unknown = clientOf(request)
      if (typeof client === 'string' && client.length <= MAX_CLIENT_LENGTH) return client
    } catch (error) {
      // The message may quote addresses.
      failure = `client threw ${error instanceof Error ? error.name : typeof error}`
    }
    emit(countersFailed('find_client', failure))
    return ''
  }
}

function createTake(context: GrantContext) {
  const { counters, emit } = context

  function admit(counted: Counted, cost: number, decision: Decision): Admission {
    const { granted, states } = decision
    if (typeof granted !== 'boolean' || !Array.isArray(states)) {
      throw new TypeError('counters must return { granted, states }')
    }
    if (granted) return new Grant(context, counted, cost, decision)
    const { plan, key } = counted
    const exceeded = states.findIndex(({ wait }) => wait > 0)
    const limit = plan.limits[exceeded]?.name ?? ''
    emit({ type: 'limit_reached', plan: plan.name, limit, ...(key !== undefined && { key }) })
    return new Refusal(limited(limit, decision), counted, decision)
  }

  function fail(counted: Counted, error: unknown): Admission {
    // Reported by the counters themselves.
    if (error instanceof RatesError && error.code === 'overloaded') return new Refusal(error)
    emit(countersFailed('take', error, secretIn(counted)))
    return new Refusal(accessUnavailable())
  }

  return (counted: Counted, wanted: number): Admission | Promise<Admission> => {
    const { client, plan } = counted
    const cost = Math.min(wanted, plan.maxCost)
    try {
      const decision = counters.take(client, plan.limits, cost)
      if (!(decision instanceof Promise)) return admit(counted, cost, decision)
      return decision
        .then((each) => admit(counted, cost, each))
        .catch((error: unknown) => fail(counted, error))
    } catch (error) {
      return fail(counted, error)
    }
  }
}

interface Counted {
  client: string
  plan: ResolvedPlan
  key: string | undefined
}

/** Returns the address of a client without a key, which events must not contain. */
function secretIn({ client, key }: Counted): string {
  return key === undefined ? client.slice('address:'.length) : ''
}

type GrantContext = Pick<GuardOptions, 'counters' | 'emit'>

/** A granted request. A class, because one is created for every request. */
class Grant implements Admission {
  readonly refusal: undefined
  readonly #context: GrantContext
  readonly #counted: Counted
  readonly #cost: number
  readonly #decision: Decision

  constructor(context: GrantContext, counted: Counted, cost: number, decision: Decision) {
    this.#context = context
    this.#counted = counted
    this.#cost = cost
    this.#decision = decision
  }

  finish(response: EndpointResponse, cost = this.#cost): EndpointResponse {
    const unused = this.#cost - Math.min(this.#cost, costOf(response.status, cost))
    if (unused > 0) this.#giveBack(unused)
    return withLimits(response, this.#counted, this.#decision, unused)
  }

  #giveBack(unused: number): void {
    const { counters, emit } = this.#context
    const { client, plan } = this.#counted
    // Nothing was taken while the counters failed.
    if (this.#decision.states.length === 0) return
    try {
      counters.giveBack(client, plan.limits, unused, this.#decision.takenAt)
    } catch (error) {
      emit(countersFailed('give_back', error, secretIn(this.#counted)))
    }
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

/** Adds the header fields of limits, except to public responses; one that needed a key becomes private. */
function withLimits(
  response: EndpointResponse,
  { plan, key }: Counted,
  { states }: Decision,
  givenBack: number,
): EndpointResponse {
  const { status, headers: given, body } = response
  if (key === undefined && isPublic(given)) return response
  const headers = key === undefined ? given.slice() : privateHeaders(given)
  if (states.length > 0) headers.push(plan.policy, rateLimit(plan, states, givenBack))
  return { status, headers, body }
}

function isPublic(headers: readonly Header[]): boolean {
  for (const header of headers) {
    if (header[0] === 'cache-control') return header[1].startsWith('public')
  }
  return false
}

const KEY_HEADERS = 'Authorization, X-API-Key'
const VARY: Header = ['vary', KEY_HEADERS]

/**
 * Shared caches may keep a public response to a request with `Authorization` (RFC 9111 §3.5). In one pass: it is frequent.
 */
function privateHeaders(headers: readonly Header[]): Header[] {
  const result: Header[] = []
  let caching: Header | undefined
  let vary: Header | undefined
  for (const header of headers) {
    if (header[0] === 'cache-control') result.push((caching = toPrivate(header[1])))
    else if (header[0] === 'vary') result.push((vary = ['vary', `${header[1]}, ${KEY_HEADERS}`]))
    else result.push(header)
  }
  if (!caching) result.push(toPrivate(''))
  if (!vary) result.push(VARY)
  return result
}

/** Private headers by public value; the API sends few different ones. */
const privateCaching = new Map<string, Header>()

function toPrivate(caching: string): Header {
  let header = privateCaching.get(caching)
  if (!header) privateCaching.set(caching, (header = ['cache-control', privateValue(caching)]))
  return header
}

function privateValue(caching: string): string {
  if (/no-store|private/.test(caching)) return caching
  const others = caching.replace(/^public(?:, )?/, '')
  return others === '' ? 'private' : `private, ${others}`
}

// draft-ietf-httpapi-ratelimit-headers-10, section 4
function rateLimit(
  { limits }: ResolvedPlan,
  states: readonly LimitState[],
  givenBack: number,
): Header {
  let text = ''
  for (const [index, limit] of limits.entries()) {
    const { remaining = 0, reset = 0, wait = 0 } = states[index] ?? {}
    const left = toInteger(Math.min(limit.quota, remaining + givenBack))
    const time = wait > 0 ? wait : resetAfter(limit, { left, reset, givenBack })
    if (index > 0) text += ', '
    text += `"${limit.name}";r=${left};t=${toInteger(Math.ceil(time / 1_000))}`
  }
  return ['ratelimit', text]
}

/** Returns the time until the limit is whole again after `givenBack` was given back, in ms. */
function resetAfter(
  { quota, window }: Limit,
  { left, reset, givenBack }: { left: number; reset: number; givenBack: number },
): number {
  if (left === quota) return 0
  if (window === 'month' || givenBack === 0) return reset
  // Rounded to 1 µs: sums of fractions of a ms are not exact.
  return Math.round((reset - (givenBack * window) / quota) * 1_000) / 1_000
}

/** Returns an integer that structured fields accept (RFC 9651 §3.3.1). */
function toInteger(value: number): number {
  return value > 0 ? Math.min(Math.floor(value), 999_999_999_999_999) : 0
}

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
  const wait = Math.max(0, ...states.map((state) => state.wait))
  return new RatesError('rate_limited', `Rate limit reached: ${limit}`, {
    retryAfter: Math.max(1, toInteger(Math.ceil(wait / 1_000))),
  })
}
