import { withTimeout } from '../async.ts'
import type { Runtime } from '../async.ts'
import { digestOf } from '../digest.ts'
import { createCircuitBreaker } from './backoff.ts'

/**
 * A store for fetched rates that outlives one handler and can be shared between processes. A `Map` is one.
 *
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import type { CacheStore } from 'ratesmith'
 *
 * const entries = new Map<string, string>()
 * const store: CacheStore = {
 *   get: (key) => entries.get(key),
 *   set: (key, value) => entries.set(key, value),
 * }
 * const handler = createRatesHandler({ store })
 * ```
 */
export interface CacheStore {
  /** Returns the string last set for `key`, or a promise of it; any other value counts as a miss. */
  get(key: string): unknown
  /** Keeps `value`, which may be evicted after `expiresAt` (ms since the Unix epoch). The handler decides whether it is fresh. */
  set(key: string, value: string, expiresAt: number): unknown
  /**
   * Optional lease: returns true to the one caller that may refresh the value of `key` until `expiresAt` (ms since the Unix
   * epoch), and false to all others until then. A lease is never released; it expires.
   */
  claim?(key: string, expiresAt: number): boolean | Promise<boolean>
}

/** No request waits for a write, and a remote store needs more time for it. */
const READ_TIMEOUT_MS = 50
const WRITE_TIMEOUT_MS = 1_000

type StoreOperation = 'get' | 'set' | 'claim'

/** A store that never rejects, with a time limit on every operation. */
export interface GuardedStore {
  /** Passes the stored value to `found`, even if it arrives late; resolves when it has arrived or after 50 ms. */
  get(key: string, found: (value: unknown) => void): Promise<void>
  set(key: string, value: string, expiresAt: number): Promise<void>
  /** Returns whether this process may refresh `key` until `expiresAt`; true also where the store cannot decide. */
  claim(key: string, expiresAt: number): Promise<boolean>
}

export type OnStoreFailure = (operation: StoreOperation, key: string, error: unknown) => void

export function guardStore(
  store: CacheStore,
  runtime: Runtime,
  onFailure: OnStoreFailure,
): GuardedStore {
  const breaker = createCircuitBreaker(runtime)

  async function attempt<T>(
    operation: StoreOperation,
    key: string,
    work: Promise<T>,
  ): Promise<T | undefined> {
    const timeout = operation === 'set' ? WRITE_TIMEOUT_MS : READ_TIMEOUT_MS
    try {
      const result = await withTimeout(runtime, timeout, work)
      breaker.recordSuccess()
      return result
    } catch (error) {
      breaker.recordFailure()
      onFailure(operation, key, error)
      return undefined
    }
  }

  return {
    async get(key, found) {
      if (!breaker.isCallAllowed()) return
      await attempt('get', key, settle(() => store.get(key)).then(found))
    },
    async set(key, value, expiresAt) {
      if (!breaker.isCallAllowed()) return
      await attempt(
        'set',
        key,
        settle(() => store.set(key, value, expiresAt)),
      )
    },
    async claim(key, expiresAt) {
      if (!store.claim || !breaker.isCallAllowed()) return true
      const granted = await attempt(
        'claim',
        key,
        settle(() => store.claim?.(key, expiresAt)),
      )
      return granted !== false
    },
  }
}

async function settle(operation: () => unknown): Promise<unknown> {
  return operation()
}

/** Changes with the format of the envelope or its data, so that no version reads values of another. */
const ENVELOPE_VERSION = 2

/** The start of an envelope of 0.1.0, which has no digest: a miss that is not reported. */
const FIRST_VERSION = '{"v":1,'

const DIGEST_FIELD = /^\{"digest":"(\w{1,40})",/

/** How far `savedAt` may be ahead of the clock, in ms: a value from the far future would never age. */
const MAX_AHEAD_MS = 3_600_000

/** A value and when it was loaded, in ms since the Unix epoch. */
export interface LoadedValue<Value> {
  value: Value
  loadedAt: number
}

/** One value in a store. Never rejects: a failing store is a miss. */
export interface StoredValue<Value> {
  /**
   * Passes the stored value to `found`, unless it did so before; `found` rejects values that fail its checks. Waits
   * 50 ms for the store; a value that arrives later is still passed to `found`.
   */
  read(found: (loaded: LoadedValue<Value>) => Promise<void>): Promise<void>
  /** `expiresAt` in ms since the Unix epoch. */
  write(loaded: LoadedValue<Value>, expiresAt: number): Promise<void>
  tryAcquireLease(expiresAt: number): Promise<boolean>
}

export interface StoredValueOptions<Value> {
  store: GuardedStore
  key: string
  runtime: Runtime
  toJson(value: Value): string | Promise<string>
  fromJson(json: string): Value | Promise<Value>
  onRejected(error: unknown): void
}

export function createStoredValue<Value>(options: StoredValueOptions<Value>): StoredValue<Value> {
  const { store, key, runtime, toJson, fromJson, onRejected } = options
  let seen: unknown
  let reported: unknown

  async function open(
    text: unknown,
    found: (loaded: LoadedValue<Value>) => Promise<void>,
  ): Promise<void> {
    try {
      const { savedAt, json } = openEnvelope(text, key)
      if (savedAt > runtime.now() + MAX_AHEAD_MS) {
        throw new Error(`savedAt is more than 1 h in the future: ${savedAt}`)
      }
      const value = await fromJson(json)
      // The clock of the writer may be ahead; the value must not appear younger than it is.
      await found({ value, loadedAt: Math.min(savedAt, runtime.now()) })
      seen = text
    } catch (error) {
      // Reported once, but checked again at each read: the checks depend on the time.
      if (text !== reported) onRejected(error)
      reported = text
    }
  }

  return {
    async read(found) {
      let opening: Promise<void> | undefined
      await store.get(key, (text) => {
        // Five years of rates take 0.5 MB: the same text is parsed only once.
        if (text === undefined || text === null || text === seen) return
        if (typeof text === 'string' && text.startsWith(FIRST_VERSION)) return
        opening = open(text, found)
      })
      await opening
    },
    async write({ value, loadedAt }, expiresAt) {
      const fields = { v: ENVELOPE_VERSION, key, savedAt: loadedAt }
      const text = sealEnvelope(fields, await toJson(value))
      seen = text
      await store.set(key, text, expiresAt)
    },
    tryAcquireLease: (expiresAt) => store.claim(key, expiresAt),
  }
}

const DATA_FIELD = ',"data":'

export function sealEnvelope(fields: object, json: string): string {
  const sealed = `${JSON.stringify(fields).slice(1, -1)}${DATA_FIELD}${json}}`
  return `{"digest":"${digestOf(sealed)}",${sealed}`
}

function openEnvelope(text: unknown, key: string): { savedAt: number; json: string } {
  if (typeof text !== 'string') throw new Error(`stored value must be a string, got ${typeof text}`)
  const [field, digest] = DIGEST_FIELD.exec(text) ?? []
  if (field === undefined) throw new Error('stored value must start with a digest')
  if (digestOf(text.slice(field.length)) !== digest) throw new Error('digest does not match')
  const end = text.indexOf(DATA_FIELD)
  if (end === -1) throw new Error('data is missing')
  const envelope: object = JSON.parse(`${text.slice(0, end)}}`)
  const fields = { v: 0, key: '', savedAt: NaN, ...envelope }
  if (fields.v !== ENVELOPE_VERSION) throw new Error(`envelope version must be ${ENVELOPE_VERSION}`)
  if (fields.key !== key) throw new Error(`key must be ${key}`)
  if (!Number.isFinite(fields.savedAt)) throw new Error('savedAt must be a time in ms')
  return { savedAt: fields.savedAt, json: text.slice(end + DATA_FIELD.length, -1) }
}
