import { UNKNOWN_CLIENT, accessUnavailable, createBoundedMap } from '../core.ts'
import type { Admission, Emit, Guard, GuardedRequest, Usage } from '../core.ts'
import { RatesError } from '../index.ts'
import type { AccessRefusal, EndpointResponse, RawRequest } from '../index.ts'
import { countersFailed } from './counters.ts'
import type { Decision, Limit, OpenCounters } from './counters.ts'
import type { Client, KeyLookup, KnownKey } from './key-lookup.ts'
import { isPublic, toInteger, withFields } from './limit-headers.ts'
import type { LocalCounters } from './memory.ts'
import { REFUSED } from './plans.ts'
import type { ResolvedPlan } from './plans.ts'
import type { KeyReader, SentKey } from './sent-key.ts'

export interface GuardOptions {
  /** Plan of requests without a key; undefined where they are refused. */
  anonymous: ResolvedPlan | undefined
  counters: OpenCounters
  /** Counts the 401s of each address. */
  attempts: LocalCounters
  /** Counts the errors of the server that each client was not charged for. */
  failures: LocalCounters
  keyOf: KeyReader
  keys: KeyLookup
  /** Identifies a client without a key; may throw. */
  clientOf(request: RawRequest): string
  emit: Emit
  now(): number
}

/** What may be given back for errors of the server, to each client: failing requests are not free. */
const FAILURES: readonly Limit[] = [{ name: 'burst', quota: 10, window: 60_000 }]

export function createGuard(options: GuardOptions): Guard {
  const { anonymous, counters, keyOf, emit, failures, now } = options
  const clientAt = createAddressReader(options)
  const identify = createIdentification(options, clientAt)

  function charge(found: Client | Admission, wanted: number): Admission | Promise<Admission> {
    if ('refusal' in found) return found
    const { name, plan } = found
    const cost = Math.min(wanted, plan.maxCost)
    const decision = counters.take(name, plan.limits, cost)
    return decision instanceof Promise
      ? decision.then((later) => conclude(found, cost, later))
      : conclude(found, cost, decision)
  }

  function conclude(client: Client, cost: number, decision: Decision): Admission {
    if (!decision.granted) return limited(client, decision, emit)
    return new Grant(client, cost, decision, failures)
  }

  function admit({ request, query, cost }: GuardedRequest): Admission | Promise<Admission> {
    const key = keyOf(request, query)
    if (key === undefined && anonymous) {
      return charge(clientAt(request), cost)
    }
    const found = identify(key, request)
    return found instanceof Promise
      ? found.then((later) => charge(later, cost))
      : charge(found, cost)
  }

  return {
    admit(guarded) {
      try {
        const admission = admit(guarded)
        return admission instanceof Promise ? admission.catch(rethrow) : admission
      } catch (error) {
        return rethrow(error)
      }
    },
    async usage({ request, query }) {
      const identifying = (async () => identify(keyOf(request, query), request))()
      const found = await identifying.catch(rethrow)
      if ('refusal' in found) throw found.refusal ?? accessUnavailable()
      const { name, plan } = found
      return usageOf(plan, await counters.take(name, plan.limits, 0), now())
    },
    close: () => counters.close(),
  }
}

/** A granted request. A class, because one is created for every request. */
class Grant implements Admission {
  readonly refusal: undefined
  readonly #client: Client
  readonly #cost: number
  readonly #decision: Decision
  readonly #failures: LocalCounters

  constructor(client: Client, cost: number, decision: Decision, failures: LocalCounters) {
    this.#client = client
    this.#cost = cost
    this.#decision = decision
    this.#failures = failures
  }

  finish(response: EndpointResponse, cost: number): EndpointResponse {
    const { name, plan, key } = this.#client
    const isFree =
      cost > 0 && response.status >= 500 && this.#failures.take(name, FAILURES, 1).granted
    const unused = isFree ? this.#cost : Math.max(0, this.#cost - cost)
    if (unused > 0) this.#decision.giveBack?.(unused)
    const hasKey = key !== undefined
    if (!hasKey && isPublic(response)) return response
    return withFields(response, plan.fields, this.#decision.states, hasKey)
  }
}

function usageOf(plan: ResolvedPlan, { states }: Decision, time: number): Usage {
  const limits = states.map(({ remaining, reset }, index) => {
    const { name = '', quota = 0 } = plan.limits[index] ?? {}
    return { name, quota, remaining, resetsAt: Math.ceil(time + reset) }
  })
  return { plan: plan.name, limits }
}

/** Errors of an adapter may quote headers, and with them a key. */
function rethrow(error: unknown): never {
  throw countersFailed('admit', error).error
}

/** The reasons of 401s in events, and their summaries. */
const UNAUTHORIZED = {
  missing_key: ['missing_key', 'An API key is required'],
  several_keys: ['malformed_key', 'The request has more than one API key'],
  misplaced_key: ['malformed_key', 'The API key is in the wrong place'],
  malformed_key: ['malformed_key', 'The API key is not valid'],
  unknown_key: ['unknown_key', 'The API key is not valid'],
  expired_key: ['expired_key', 'The API key has expired'],
} as const

function refuse(emit: Emit, reason: AccessRefusal, error: RatesError, key?: string): Admission {
  emit({ type: 'access_refused', reason, ...(key !== undefined && { key }) })
  return refusalOf(error)
}

/** Also true where the clock is not a number. */
function isExpired({ expiresAt }: KnownKey, now: () => number): boolean {
  return expiresAt !== undefined && !(now() < expiresAt)
}

/**
 * Creates a function that returns the client of a key or a refusal, with a promise if it has to look the key up; every 401
 * counts for the address.
 */
function createIdentification(
  { anonymous, counters, attempts, keys, emit, now }: GuardOptions,
  clientAt: (request: RawRequest) => Client,
): (sent: SentKey, request: RawRequest) => Client | Admission | Promise<Client | Admission> {
  function forbid(reason: AccessRefusal, id: string, summary: string): Admission {
    return refuse(emit, reason, new RatesError('forbidden', `The API key ${summary}`), id)
  }

  function use({ id, client, origins }: KnownKey, request: RawRequest): Client | Admission {
    const origin = origins && request.header('origin')
    if (origin && !origins.includes(origin)) {
      return forbid('forbidden_origin', id, 'is not permitted on this website')
    }
    return client ?? forbid('unknown_plan', id, 'has no current plan')
  }

  async function reject(
    reason: keyof typeof UNAUTHORIZED,
    client: Client | undefined,
    id?: string,
  ): Promise<Admission> {
    // It also counts as a request without a key.
    const decision =
      client && anonymous && (await counters.take(client.name, client.plan.limits, 1))
    if (client && decision?.granted === false) return limited(client, decision, emit)
    const [named, summary] = UNAUTHORIZED[reason]
    const hint = 'send it as Authorization: Bearer or X-API-Key'
    return refuse(emit, named, new RatesError('unauthorized', summary, { hint }), id)
  }

  async function lookUp(key: string, recent: Recent, request: RawRequest) {
    // Does not count for the address.
    const known = recent ?? (keys.isAtHand(key) ? await keys.find(key) : undefined)
    if (typeof known === 'object' && !isExpired(known, now)) return use(known, request)
    const sender = clientAt(request)
    // All clients without an address share it: to count them together would refuse keys that are valid.
    const client = SHARED.includes(sender.name) ? undefined : sender
    const attempt = client && attempts.take(client.name, client.plan.limits, 1)
    if (client && attempt?.granted === false) return limited(client, attempt, emit)
    const found = known ?? (await keys.find(key, client?.name))
    if (typeof found === 'object' && isExpired(found, now)) {
      return reject('expired_key', client, found.id)
    }
    if (typeof found === 'string' && found !== 'unavailable') return reject(found, client)
    attempt?.giveBack?.(1)
    return found === 'unavailable' ? refusalOf(accessUnavailable()) : use(found, request)
  }

  return (sent, request) => {
    const key = typeof sent === 'string' ? sent : ''
    const recent = typeof sent === 'string' ? keys.recent(key) : (sent?.problem ?? 'missing_key')
    if (typeof recent === 'object' && !isExpired(recent, now)) return use(recent, request)
    return lookUp(key, recent, request)
  }
}

/** What is known of a key without a look-up. */
type Recent = ReturnType<KeyLookup['recent']> | Exclude<keyof typeof UNAUTHORIZED, 'expired_key'>

const MAX_CLIENT_LENGTH = 200

/** Addresses whose clients are reused: to make their names takes as long as to count a request. */
const MAX_ADDRESSES = 10_000

/** The names of all clients without an address. */
const SHARED = ['address:', `address:${UNKNOWN_CLIENT}`]

/** Creates a function that returns the client at the address of a request; all without a valid one are one client. */
function createAddressReader(options: GuardOptions): (request: RawRequest) => Client {
  const { anonymous: plan = REFUSED, clientOf, emit } = options
  const clients = createBoundedMap<string, Client>(MAX_ADDRESSES)

  function addressOf(request: RawRequest): string {
    try {
      const address: unknown = clientOf(request)
      if (typeof address === 'string' && address.length <= MAX_CLIENT_LENGTH) return address
    } catch {
      // Its message may quote addresses.
    }
    const rule = `client must return a string of at most ${MAX_CLIENT_LENGTH} characters`
    emit(countersFailed('find_client', rule))
    return ''
  }

  return (request) => {
    const address = addressOf(request)
    const known = clients.get(address)
    if (known) return known
    const client = { name: `address:${address}`, plan, key: undefined }
    clients.set(address, client, 1)
    return client
  }
}

/** `finish` adds the header fields of the limits of `client`. */
function refusalOf(
  refusal: RatesError,
  client?: Client,
  states: Decision['states'] = [],
): Admission {
  if (!client) return { refusal, finish: (response) => response }
  const { plan, key } = client
  return {
    refusal,
    finish: (response) => withFields(response, plan.fields, states, key !== undefined),
  }
}

function limited(client: Client, { states }: Decision, emit: Emit): Admission {
  const { plan, key } = client
  // The counters failed.
  if (states.length === 0) return refusalOf(accessUnavailable())
  const wait = Math.max(...states.map((state) => state.wait))
  const index = states.findIndex((state) => state.wait === wait)
  const limit = plan.limits[index]?.name ?? ''
  emit({ type: 'limit_reached', plan: plan.name, limit, ...(key !== undefined && { key }) })
  const retryAfter = Math.max(1, toInteger(Math.ceil(wait / 1_000)))
  const summary = `${plan.descriptions[index] ?? ''}; retry in ${retryAfter} s`
  return refusalOf(new RatesError('rate_limited', summary, { retryAfter }), client, states)
}
