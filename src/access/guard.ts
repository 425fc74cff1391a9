import { UNKNOWN_CLIENT, accessUnavailable } from '../core.ts'
import type { Admission, Emit, Guard, GuardedRequest, Usage } from '../core.ts'
import { RatesError } from '../index.ts'
import type { AccessRefusal, EndpointResponse, RawRequest } from '../index.ts'
import { countersFailed } from './counters.ts'
import type { Decision, Limit, OpenCounters } from './counters.ts'
import type { KeyLookup } from './key-lookup.ts'
import type { KeyRecord } from './keys.ts'
import { isPublic, toInteger, withFields } from './limit-headers.ts'
import type { LocalCounters } from './memory.ts'
import { REFUSED } from './plans.ts'
import type { ResolvedPlan } from './plans.ts'
import { hasMisplacedKey } from './sent-key.ts'
import type { KeyReader } from './sent-key.ts'

export interface GuardOptions {
  plans: ReadonlyMap<string, ResolvedPlan>
  /** Plan of requests without a key; undefined where they are refused. */
  anonymous: ResolvedPlan | undefined
  counters: OpenCounters
  /** Counts the 401s of each address. */
  attempts: OpenLocalCounters
  /** Counts the errors of the server that each client was not charged for. */
  failures: OpenLocalCounters
  keyOf: KeyReader
  keys: KeyLookup
  /** Identifies a client without a key; may throw. */
  clientOf(request: RawRequest): string
  emit: Emit
  now(): number
}

type OpenLocalCounters = ReturnType<LocalCounters['open']>

/** Who is counted, and by which plan. */
interface Client {
  /** `key:` or `address:` and what identifies it. */
  name: string
  plan: ResolvedPlan
  /** Id of its key. */
  key: string | undefined
}

/** What may be given back for errors of the server, to each client: failing requests are not free. */
const FAILURES: readonly Limit[] = [{ name: 'burst', quota: 10, window: 60_000 }]

export function createGuard(options: GuardOptions): Guard {
  const { anonymous, counters, keyOf, keys, emit, now } = options
  const addressOf = createAddressReader(options)
  const toClient = createClientOfKey(options)
  const identify = createIdentification(options, addressOf)

  function admitClient(client: Client, wanted: number): Admission | Promise<Admission> {
    const cost = Math.min(wanted, client.plan.maxCost)
    const conclude = (decision: Decision): Admission =>
      decision.granted
        ? new Grant(client, cost, decision, options)
        : limited(client, decision, emit)
    const decision = counters.take(client.name, client.plan.limits, cost)
    return decision instanceof Promise ? decision.then(conclude) : conclude(decision)
  }

  function admitFound(found: Client | Admission, cost: number): Admission | Promise<Admission> {
    return 'refusal' in found ? found : admitClient(found, cost)
  }

  function admit({ request, query, cost }: GuardedRequest): Admission | Promise<Admission> {
    const key = keyOf(request, query)
    if (key === undefined && anonymous && !hasMisplacedKey(request)) {
      const name = `address:${addressOf(request)}`
      return admitClient({ name, plan: anonymous, key: undefined }, cost)
    }
    const recent = typeof key === 'string' ? keys.recent(key) : undefined
    if (typeof recent === 'object' && !isExpired(recent, now)) {
      return admitFound(toClient(recent, request), cost)
    }
    return identify(key, request).then((found) => admitFound(found, cost))
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

/** Also true where the clock is not a number. */
function isExpired({ expiresAt }: KeyRecord, now: () => number): boolean {
  return expiresAt !== undefined && !(now() < expiresAt)
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

/** Creates a function that returns the client of a key that has not expired, or its refusal with 403. */
function createClientOfKey({ plans, emit }: GuardOptions) {
  const forbid = (reason: AccessRefusal, id: string, summary: string): Admission =>
    refuse(emit, reason, new RatesError('forbidden', `The API key ${summary}`), id)
  return ({ id, plan: name, origins }: KeyRecord, request: RawRequest): Client | Admission => {
    const origin = request.header('origin')
    if (origins && origin && !origins.includes(origin)) {
      return forbid('forbidden_origin', id, 'is not permitted on this website')
    }
    const plan = plans.get(name)
    return plan
      ? { name: `key:${id}`, plan, key: id }
      : forbid('unknown_plan', id, 'has no current plan')
  }
}

/** Creates a function that looks a key up and returns its client or a refusal; every 401 counts for its address. */
function createIdentification(
  options: GuardOptions,
  addressOf: (request: RawRequest) => string,
): (key: ReturnType<KeyReader>, request: RawRequest) => Promise<Client | Admission> {
  const { anonymous, counters, attempts, keys, emit, now } = options
  const toClient = createClientOfKey(options)
  const plan = anonymous ?? REFUSED

  async function reject(
    reason: keyof typeof UNAUTHORIZED,
    client: Client | undefined,
    id?: string,
  ): Promise<Admission> {
    // It also counts as a request without a key.
    const decision = client && anonymous && (await counters.take(client.name, plan.limits, 1))
    if (client && decision?.granted === false) return limited(client, decision, emit)
    const [named, summary] = UNAUTHORIZED[reason]
    const hint = 'send it as Authorization: Bearer or X-API-Key'
    return refuse(emit, named, new RatesError('unauthorized', summary, { hint }), id)
  }

  /** Returns what is known without a new look-up, which would count for the address. */
  async function findKnown(key: ReturnType<KeyReader>, request: RawRequest) {
    if (key === false) return 'several_keys'
    if (key === undefined) return hasMisplacedKey(request) ? 'misplaced_key' : 'missing_key'
    return keys.recent(key) ?? (keys.hasRecord(key) ? keys.find(key) : undefined)
  }

  return async (key, request) => {
    const known = await findKnown(key, request)
    if (typeof known === 'object' && !isExpired(known, now)) return toClient(known, request)
    const address = addressOf(request)
    // All clients without an address share it: to count them together would refuse keys that are valid.
    const isShared = address === '' || address === UNKNOWN_CLIENT
    const client = isShared ? undefined : { name: `address:${address}`, plan, key: undefined }
    const attempt = client && attempts.take(client.name, plan.limits, 1)
    if (client && attempt?.granted === false) return limited(client, attempt, emit)
    const found = known ?? (await keys.find(String(key), isShared ? undefined : address))
    if (typeof found === 'object' && isExpired(found, now)) {
      return reject('expired_key', client, found.id)
    }
    if (typeof found === 'string' && found !== 'unavailable') return reject(found, client)
    attempt?.giveBack?.(1)
    return found === 'unavailable' ? refusalOf(accessUnavailable()) : toClient(found, request)
  }
}

const MAX_CLIENT_LENGTH = 200

/** Creates a function that returns a client, or an empty text, which all unidentified clients share. */
function createAddressReader({ clientOf, emit }: GuardOptions): (request: RawRequest) => string {
  return (request) => {
    try {
      const client: unknown = clientOf(request)
      if (typeof client === 'string' && client.length <= MAX_CLIENT_LENGTH) return client
    } catch {
      // Its message may quote addresses.
    }
    const rule = `client must return a string of at most ${MAX_CLIENT_LENGTH} characters`
    emit(countersFailed('find_client', rule))
    return ''
  }
}

/** A granted request. A class, because one is created for every request. */
class Grant implements Admission {
  readonly refusal: undefined
  readonly #client: Client
  readonly #cost: number
  readonly #decision: Decision
  readonly #failures: OpenLocalCounters

  constructor(client: Client, cost: number, decision: Decision, { failures }: GuardOptions) {
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
    return withFields(response, plan, this.#decision.states, hasKey)
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
  return { refusal, finish: (response) => withFields(response, plan, states, key !== undefined) }
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
