import { UNKNOWN_CLIENT, accessUnavailable, createBoundedMap } from '../core.ts'
import type { Admission, Emit, Guard, GuardedRequest, Usage } from '../core.ts'
import { RatesError } from '../index.ts'
import type { AccessRefusal, RawRequest } from '../index.ts'
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

/** Addresses whose names are reused: to make the name of a client takes as long as to count its request. */
const MAX_ADDRESSES = 10_000

export function createGuard(options: GuardOptions): Guard {
  const { anonymous, counters, keyOf, emit, failures, now } = options
  const addressOf = createAddressReader(options)
  const identify = createIdentification(options, addressOf)
  const addresses = createBoundedMap<string, Client>(MAX_ADDRESSES)

  function charge(found: Client | Admission, wanted: number): Admission | Promise<Admission> {
    if ('refusal' in found) return found
    const { name, plan } = found
    const cost = Math.min(wanted, plan.maxCost)
    const decision = counters.take(name, plan.limits, cost)
    return decision instanceof Promise
      ? decision.then((later) => conclude(found, cost, later))
      : conclude(found, cost, decision)
  }

  function conclude(client: Client, taken: number, decision: Decision): Admission {
    if (!decision.granted) return limited(client, decision, emit)
    const { name, plan, key } = client
    const hasKey = key !== undefined
    return {
      refusal: undefined,
      finish(response, cost) {
        const isFree =
          cost > 0 && response.status >= 500 && failures.take(name, FAILURES, 1).granted
        const unused = isFree ? taken : Math.max(0, taken - cost)
        if (unused > 0) decision.giveBack?.(unused)
        if (!hasKey && isPublic(response)) return response
        return withFields(response, plan.fields, decision.states, hasKey)
      },
    }
  }

  function anonymousAt(address: string, plan: ResolvedPlan): Client {
    let client = addresses.get(address)
    if (!client) addresses.set(address, (client = addressed(address, plan)), 1)
    return client
  }

  function admit({ request, query, cost }: GuardedRequest): Admission | Promise<Admission> {
    const key = keyOf(request, query)
    if (key === undefined && anonymous) {
      return charge(anonymousAt(addressOf(request), anonymous), cost)
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

function addressed(address: string, plan: ResolvedPlan): Client {
  return { name: `address:${address}`, plan, key: undefined }
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

/**
 * Creates a function that returns the client of a key or a refusal, with a promise if it has to look the key up; every 401
 * counts for the address.
 */
function createIdentification(
  { anonymous, counters, attempts, keys, emit, now }: GuardOptions,
  addressOf: (request: RawRequest) => string,
): (key: SentKey, request: RawRequest) => Client | Admission | Promise<Client | Admission> {
  const plan = anonymous ?? REFUSED

  /** Also true where the clock is not a number. */
  function isExpired({ expiresAt }: KnownKey): boolean {
    return expiresAt !== undefined && !(now() < expiresAt)
  }

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
    const decision = client && anonymous && (await counters.take(client.name, plan.limits, 1))
    if (client && decision?.granted === false) return limited(client, decision, emit)
    const [named, summary] = UNAUTHORIZED[reason]
    const hint = 'send it as Authorization: Bearer or X-API-Key'
    return refuse(emit, named, new RatesError('unauthorized', summary, { hint }), id)
  }

  async function lookUp(key: SentKey, recent: Recent, request: RawRequest) {
    const hasRecord = recent === undefined && keys.hasRecord(String(key))
    // Does not count for the address.
    const known = hasRecord ? await keys.find(String(key)) : recent
    if (typeof known === 'object' && !isExpired(known)) return use(known, request)
    const address = addressOf(request)
    // All clients without an address share it: to count them together would refuse keys that are valid.
    const isShared = address === '' || address === UNKNOWN_CLIENT
    const client = isShared ? undefined : addressed(address, plan)
    const attempt = client && attempts.take(client.name, plan.limits, 1)
    if (client && attempt?.granted === false) return limited(client, attempt, emit)
    const found = known ?? (await keys.find(String(key), isShared ? undefined : address))
    if (typeof found === 'object' && isExpired(found)) {
      return reject('expired_key', client, found.id)
    }
    if (typeof found === 'string' && found !== 'unavailable') return reject(found, client)
    attempt?.giveBack?.(1)
    return found === 'unavailable' ? refusalOf(accessUnavailable()) : use(found, request)
  }

  function recentOf(key: SentKey): Recent {
    if (typeof key === 'string') return keys.recent(key)
    return key?.problem ?? 'missing_key'
  }

  return (key, request) => {
    const recent = recentOf(key)
    if (typeof recent === 'object' && !isExpired(recent)) return use(recent, request)
    return lookUp(key, recent, request)
  }
}

/** What is known of a key without a look-up. */
type Recent = ReturnType<KeyLookup['recent']> | Exclude<keyof typeof UNAUTHORIZED, 'expired_key'>

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
