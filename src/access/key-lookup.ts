import { withTimeout } from '../async.ts'
import { createCircuitBreaker } from '../cache/backoff.ts'
import { createBoundedMap } from '../http/response-cache.ts'
import { countersFailed } from './counters.ts'
import type { CountersContext } from './counters.ts'
import { hashKey, isKey } from './keys.ts'
import type { KeyRecord, KeyStore } from './keys.ts'

export type FoundKey = KeyRecord | 'malformed_key' | 'unknown_key' | 'unavailable'

/** Looks keys up. Returns a promise only if it has to wait; never rejects. */
export type KeyLookup = (key: string) => FoundKey | Promise<FoundKey>

/** How long a result of the store is used, in ms: a revoked key works no longer than that. */
const MAX_AGE_MS = 10_000

/** How long a record is used while the store fails, in ms. */
const MAX_AGE_DURING_FAILURE_MS = 3_600_000

/** How long a request waits for the store, in ms: shorter where a record is in hand. */
const FIRST_TIMEOUT_MS = 1_000
const REPEATED_TIMEOUT_MS = 100

/** Known keys, and separately as many unknown ones, so that wrong keys evict no record. */
const MAX_REMEMBERED = 10_000

/** Look-ups at once; those of keys with a record in hand may be twice as many, so that wrong keys do not displace them. */
const MAX_LOOKUPS = 100

interface Result {
  found: KeyRecord | 'unknown_key'
  /** When the look-up started, by the monotonic clock. */
  startedAt: number
}

export function createKeyLookup(store: KeyStore, context: CountersContext): KeyLookup {
  const { runtime, emit } = context
  const { known, unknown, remember } = createResults()
  const breaker = createCircuitBreaker(runtime)
  const running = new Map<string, Promise<FoundKey>>()

  /** Also remembers a result that arrives after the timeout. */
  async function readStore(key: string): Promise<void> {
    const startedAt = runtime.monotonic()
    const found = await findValidated(store, key, emit)
    remember(key, { found, startedAt })
  }

  async function refresh(key: string, current: Result | undefined): Promise<FoundKey> {
    try {
      const timeout = current ? REPEATED_TIMEOUT_MS : FIRST_TIMEOUT_MS
      await withTimeout(runtime, timeout, readStore(key))
      breaker.recordSuccess()
    } catch (error) {
      breaker.recordFailure()
      emit(countersFailed('find_key', error, key))
    } finally {
      running.delete(key)
    }
    return inHand(key) ?? 'unavailable'
  }

  function inHand(key: string): Result['found'] | undefined {
    const result = known.get(key) ?? unknown.get(key)
    if (!result) return undefined
    const { found, startedAt } = result
    const lifetime = found === 'unknown_key' ? MAX_AGE_MS : MAX_AGE_DURING_FAILURE_MS
    return runtime.monotonic() - startedAt < lifetime ? found : undefined
  }

  return (key) => {
    const current = known.get(key) ?? unknown.get(key)
    if (current && runtime.monotonic() - current.startedAt < MAX_AGE_MS) return current.found
    if (!isKey(key)) return 'malformed_key'
    const shared = running.get(key)
    if (shared) return shared
    const isFull = running.size >= (known.get(key) ? 2 * MAX_LOOKUPS : MAX_LOOKUPS)
    if (isFull || !breaker.isCallAllowed()) return inHand(key) ?? 'unavailable'
    const lookup = refresh(key, known.get(key))
    running.set(key, lookup)
    return lookup
  }
}

function createResults() {
  const known = createBoundedMap<string, Result>(MAX_REMEMBERED)
  const unknown = createBoundedMap<string, Result>(MAX_REMEMBERED)
  return {
    known,
    unknown,
    remember(key: string, result: Result): void {
      const former = known.get(key) ?? unknown.get(key)
      // An earlier look-up may end later.
      if (former && former.startedAt > result.startedAt) return
      const [keep, drop] = result.found === 'unknown_key' ? [unknown, known] : [known, unknown]
      drop.delete(key)
      keep.set(key, result, 1)
    },
  }
}

async function findValidated(
  store: KeyStore,
  key: string,
  emit: CountersContext['emit'],
): Promise<Result['found']> {
  const record: unknown = await store.find(await hashKey(key))
  if (record === undefined || record === null) return 'unknown_key'
  try {
    return validateRecord(record)
  } catch (error) {
    emit(countersFailed('find_key', error, key))
    return 'unknown_key'
  }
}

/** The last moment that a `Date` writes with a year of four digits; later ones are not in ms. */
const MAX_TIME = 253_402_300_799_999

const MAX_ID_LENGTH = 200

/** @throws {TypeError} naming the invalid field */
function validateRecord(record: unknown): KeyRecord {
  const { id, plan, expiresAt, origins }: { [Field in keyof KeyRecord]?: unknown } = Object(record)
  if (typeof id !== 'string' || id === '' || id.length > MAX_ID_LENGTH) {
    throw new TypeError(`id of a key must be a string of 1 to ${MAX_ID_LENGTH} characters`)
  }
  if (/rsk_[0-9A-Za-z]{36}/.test(id)) throw new TypeError('id of a key must not contain a key')
  if (typeof plan !== 'string') throw new TypeError('plan of a key must be a string')
  if (expiresAt !== undefined && !isTime(expiresAt)) {
    throw new TypeError('expiresAt of a key must be in ms since the Unix epoch')
  }
  if (origins === undefined) return { id, plan, expiresAt }
  if (!isTexts(origins)) throw new TypeError('origins of a key must be an array of strings')
  return { id, plan, expiresAt, origins: [...origins] }
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MAX_TIME
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
