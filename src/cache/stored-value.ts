import type { Runtime } from '../runtime.ts'
import type { CacheStore } from './store.ts'
import { within } from './within.ts'

/** A store that takes longer than this, in ms, counts as failed: nobody waits for a cache. */
const OPERATION_LIMIT = 50

/** Changes when the form of the envelope or of anything in it does, so that no version reads another's values. */
const ENVELOPE_VERSION = 1

/** A value and the moment at which it was loaded, in ms since the Unix epoch. */
export interface Loaded<Value> {
  value: Value
  loadedAt: number
}

/** One value's place in a store. Neither method rejects: a store in trouble is a miss. */
export interface StoredValue<Value> {
  read(): Promise<Loaded<Value> | undefined>
  /** `expiresAt` in ms since the Unix epoch. */
  write(loaded: Loaded<Value>, expiresAt: number): Promise<void>
}

/** What a value needs in order to be kept as text. */
export interface StoredValueOptions<Value> {
  store: CacheStore
  key: string
  runtime: Runtime
  /** The value as plain data for JSON. */
  toData(value: Value): unknown
  /** The value again; throws where the data are not to be trusted. */
  fromData(data: unknown): Value
  /** Told of every operation that failed. */
  onFailure(operation: 'get' | 'set', error: unknown): void
}

/** Keeps a value in a store as a self-describing envelope, `{ v, key, savedAt, data }`. */
export function createStoredValue<Value>(options: StoredValueOptions<Value>): StoredValue<Value> {
  const { store, key, runtime, toData, fromData, onFailure } = options
  return {
    async read() {
      try {
        const text = await within(
          runtime,
          OPERATION_LIMIT,
          settle(() => store.get(key)),
        )
        const envelope = openEnvelope(text, key)
        if (!envelope) return undefined
        // A writer whose clock is ahead must not make a value younger than it can be.
        const loadedAt = Math.min(envelope.savedAt, runtime.now())
        return { value: fromData(envelope.data), loadedAt }
      } catch (error) {
        onFailure('get', error)
        return undefined
      }
    },
    async write({ value, loadedAt }, expiresAt) {
      try {
        const envelope = { v: ENVELOPE_VERSION, key, savedAt: loadedAt, data: toData(value) }
        const text = JSON.stringify(envelope)
        await within(
          runtime,
          OPERATION_LIMIT,
          settle(() => store.set(key, text, expiresAt)),
        )
      } catch (error) {
        onFailure('set', error)
      }
    },
  }
}

/** The result of `operation`, which may be a value, a promise or a throw. */
async function settle(operation: () => unknown): Promise<unknown> {
  return operation()
}

function openEnvelope(text: unknown, key: string): { savedAt: number; data: unknown } | undefined {
  if (typeof text !== 'string') return undefined
  const envelope: unknown = JSON.parse(text)
  if (typeof envelope !== 'object' || envelope === null) return undefined
  const {
    v,
    key: storedKey,
    savedAt,
    data,
  } = { v: 0, key: '', savedAt: 0, data: null, ...envelope }
  if (v !== ENVELOPE_VERSION || storedKey !== key || !Number.isFinite(savedAt)) return undefined
  return { savedAt, data }
}
