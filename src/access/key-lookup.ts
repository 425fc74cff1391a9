import { createBoundedMap, createCircuitBreaker, withTimeout } from '../core.ts'
import type { Runtime } from '../core.ts'
import { countersFailed } from './counters.ts'
import type { CountersContext } from './counters.ts'
import { hashKey, isKey } from './keys.ts'
import type { KeyRecord, KeyStore } from './keys.ts'
import { createLookupQueue } from './lookup-queue.ts'
import type { ResolvedPlan } from './plans.ts'

/** Who is counted, and by which plan. */
export interface Client {
  /** `key:` or `address:` and what identifies it. */
  name: string
  plan: ResolvedPlan
  /** Id of its key. */
  key: string | undefined
}

/** A key of the store. */
export interface KnownKey extends Pick<KeyRecord, 'id' | 'expiresAt' | 'origins'> {
  /** Undefined for a plan that does not exist. */
  client: Client | undefined
}

type FoundKey = KnownKey | 'malformed_key' | 'unknown_key' | 'unavailable'

/** Looks keys up; never throws or rejects. */
export interface KeyLookup {
  /** Returns what is known of a key without a look-up: nothing after 10 s. */
  recent(key: string): FoundKey | undefined
  /** Returns whether a look-up costs the store little: there is a record, up to an hour old, or another look-up of it runs. */
  isAtHand(key: string): boolean
  /** Looks a key up; without a record, the look-up counts for `address`, undefined if nothing identifies the client. */
  find(key: string, address?: string): Promise<FoundKey>
}

/** How long a result of the store is used, in ms: a revoked key works no longer than that. */
const MAX_AGE_MS = 10_000

/** How long a record is used while the store fails, in ms. */
const MAX_AGE_DURING_FAILURE_MS = 3_600_000

/** How long a request waits for the store, in ms: shorter where a record is in hand. */
const FIRST_TIMEOUT_MS = 1_000
const REPEATED_TIMEOUT_MS = 100

/** Known keys, and separately as many unknown ones, so that wrong keys evict no record. */
const MAX_REMEMBERED = 10_000

/** Look-ups of keys with a record, besides those without: wrong keys do not delay them. */
const MAX_REFRESHES = 100

/** Requests that wait for the look-up of another one without an attempt of their address: more than a page sends at once. */
const MAX_JOINED = 20

interface Result {
  found: KnownKey | 'unknown_key'
  /** When the look-up started, by the monotonic clock. */
  startedAt: number
}

export function createKeyLookup(
  store: KeyStore,
  plans: ReadonlyMap<string, ResolvedPlan>,
  { runtime, emit }: CountersContext,
): KeyLookup {
  const { inHand, remember, isKnown } = createResults(runtime)
  const breaker = createCircuitBreaker(runtime)
  const queue = createLookupQueue(runtime)
  const running = new Map<string, { lookup: Promise<FoundKey>; joined: number }>()
  let refreshes = 0

  /** Also remembers a result that arrives after the timeout. */
  async function readStore(key: string): Promise<void> {
    const startedAt = runtime.monotonic()
    const record: unknown = await store.find(await hashKey(key))
    const onInvalid = (error: unknown): void => emit(countersFailed('find_key', error, key))
    remember(key, { found: toFound(record, plans, onInvalid), startedAt })
  }

  async function lookUp(key: string, timeout: number): Promise<void> {
    if (!breaker.isCallAllowed()) return
    try {
      await withTimeout(runtime, timeout, readStore(key))
      breaker.recordSuccess()
    } catch (error) {
      breaker.recordFailure()
      emit(countersFailed('find_key', error, key))
    }
  }

  async function find(key: string, address: string | undefined): Promise<FoundKey> {
    if (!isKnown(key)) await queue(address, () => lookUp(key, FIRST_TIMEOUT_MS))
    else if (refreshes < MAX_REFRESHES) {
      refreshes += 1
      await lookUp(key, REPEATED_TIMEOUT_MS)
      refreshes -= 1
    }
    running.delete(key)
    const lifetime = isKnown(key) ? MAX_AGE_DURING_FAILURE_MS : MAX_AGE_MS
    return inHand(key, lifetime) ?? 'unavailable'
  }

  return {
    recent: (key) => inHand(key, MAX_AGE_MS) ?? (isKey(key) ? undefined : 'malformed_key'),
    isAtHand: (key) =>
      (running.get(key)?.joined ?? MAX_JOINED) < MAX_JOINED ||
      typeof inHand(key, MAX_AGE_DURING_FAILURE_MS) === 'object',
    async find(key, address) {
      const flight = running.get(key) ?? { lookup: find(key, address), joined: -1 }
      flight.joined += 1
      running.set(key, flight)
      return flight.lookup
    },
  }
}

function createResults({ monotonic }: Pick<Runtime, 'monotonic'>) {
  const known = createBoundedMap<string, Result>(MAX_REMEMBERED)
  const unknown = createBoundedMap<string, Result>(MAX_REMEMBERED)
  const resultOf = (key: string): Result | undefined => known.get(key) ?? unknown.get(key)
  return {
    isKnown: (key: string) => known.get(key) !== undefined,
    /** Returns a result that is younger than `lifetime` ms. */
    inHand(key: string, lifetime: number): Result['found'] | undefined {
      const result = resultOf(key)
      return result && monotonic() - result.startedAt < lifetime ? result.found : undefined
    },
    remember(key: string, result: Result): void {
      const former = resultOf(key)
      // An earlier look-up may end later.
      if (former && former.startedAt > result.startedAt) return
      const [keep, drop] = result.found === 'unknown_key' ? [unknown, known] : [known, unknown]
      drop.delete(key)
      keep.set(key, result, 1)
    },
  }
}

function toFound(
  record: unknown,
  plans: ReadonlyMap<string, ResolvedPlan>,
  onInvalid: (error: unknown) => void,
): Result['found'] {
  if (record === undefined || record === null) return 'unknown_key'
  try {
    return toKnownKey(record, plans)
  } catch (error) {
    onInvalid(error)
    return 'unknown_key'
  }
}

/** The last moment that a `Date` writes with a year of four digits; later ones are not in ms. */
const MAX_TIME = 253_402_300_799_999

const MAX_ID_LENGTH = 200

/** @throws {TypeError} naming the invalid field */
function toKnownKey(record: unknown, plans: ReadonlyMap<string, ResolvedPlan>): KnownKey {
  const { id, plan, expiresAt, origins }: { [Field in keyof KeyRecord]?: unknown } = Object(record)
  const fail = (field: string, expected: string): never => {
    throw new TypeError(`${field} of a key must ${expected}`)
  }
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH) {
    return fail('id', `be a string of 1 to ${MAX_ID_LENGTH} characters`)
  }
  if (/rsk_[0-9A-Za-z]{36}/.test(id)) return fail('id', 'not contain a key')
  if (typeof plan !== 'string') return fail('plan', 'be a string')
  const isTime = typeof expiresAt === 'number' && Math.abs(expiresAt) <= MAX_TIME
  if (expiresAt !== undefined && !isTime) return fail('expiresAt', 'be in ms since the Unix epoch')
  const areTexts = Array.isArray(origins) && origins.every((each) => typeof each === 'string')
  if (origins !== undefined && !areTexts) return fail('origins', 'be an array of strings')
  const resolved = plans.get(plan)
  const client = resolved && { name: `key:${id}`, plan: resolved, key: id }
  return { id, client, expiresAt, origins: origins && [...origins] }
}
