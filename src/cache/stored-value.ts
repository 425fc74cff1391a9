import { digestOf } from '../digest.ts'
import type { Runtime } from '../runtime.ts'
import type { GuardedStore } from './guarded-store.ts'

/** Changes when the form of the envelope or of anything in it does, so that no version reads another's values. */
const ENVELOPE_VERSION = 2

/** How 0.1.0 began its envelopes, which had no digest: a miss, and nothing to report. */
const FIRST_VERSION = '{"v":1,'

/** The first field of an envelope: the digest of the whole text behind it. */
const DIGEST_FIELD = /^\{"digest":"(\w{1,40})",/

/** A value saved longer than this ahead of the clock, in ms, would never age. */
const MAX_AHEAD_MS = 3_600_000

/** A value and the moment at which it was loaded, in ms since the Unix epoch. */
export interface LoadedValue<Value> {
  value: Value
  loadedAt: number
}

/** One value's place in a store. Nothing rejects: a store in trouble is a miss. */
export interface StoredValue<Value> {
  /**
   * Gives what is stored to `found`, unless that has seen it before; `found` rejects where it is not to be trusted.
   * Waits 50 ms for the store; what it brings later is given to `found` all the same.
   */
  read(found: (loaded: LoadedValue<Value>) => Promise<void>): Promise<void>
  /** `expiresAt` in ms since the Unix epoch. */
  write(loaded: LoadedValue<Value>, expiresAt: number): Promise<void>
  /** Whether this caller may refresh the value until `expiresAt`: true too where the store cannot say. */
  tryAcquireLease(expiresAt: number): Promise<boolean>
}

/** What a value needs in order to be kept as text. */
export interface StoredValueOptions<Value> {
  store: GuardedStore
  key: string
  runtime: Runtime
  /** The value as JSON. */
  toJson(value: Value): string | Promise<string>
  /** The value again; throws where the JSON is not to be trusted. */
  fromJson(json: string): Value | Promise<Value>
  /** Told of what is stored but not to be used. */
  onRejected(error: unknown): void
}

/** Keeps a value in a store as a self-describing envelope, `{ digest, v, key, savedAt, data }`. */
export function createStoredValue<Value>(options: StoredValueOptions<Value>): StoredValue<Value> {
  const { store, key, runtime, toJson, fromJson, onRejected } = options
  let seen: unknown
  let refused: unknown

  async function open(
    text: unknown,
    found: (loaded: LoadedValue<Value>) => Promise<void>,
  ): Promise<void> {
    try {
      const { savedAt, json } = openEnvelope(text, key)
      if (savedAt > runtime.now() + MAX_AHEAD_MS) throw new Error('it was saved in the future')
      const value = await fromJson(json)
      // A writer whose clock is ahead must not make a value younger than it can be.
      await found({ value, loadedAt: Math.min(savedAt, runtime.now()) })
      seen = text
    } catch (error) {
      // Reported once, but judged again: another time may find it good.
      if (text !== refused) onRejected(error)
      refused = text
    }
  }

  return {
    async read(found) {
      let opening: Promise<void> | undefined
      await store.get(key, (text) => {
        // Five years of a market are half a megabyte: what was looked at once need not be again.
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

/** What precedes the value, the last of the fields. */
const DATA_FIELD = ',"data":'

/** Returns the text of an envelope with these `fields` and then `json` as its data, after the digest of all of them. */
export function sealEnvelope(fields: object, json: string): string {
  const sealed = `${JSON.stringify(fields).slice(1, -1)}${DATA_FIELD}${json}}`
  return `{"digest":"${digestOf(sealed)}",${sealed}`
}

function openEnvelope(text: unknown, key: string): { savedAt: number; json: string } {
  if (typeof text !== 'string') throw new Error('it is not a text')
  const [field, digest] = DIGEST_FIELD.exec(text) ?? []
  if (field === undefined) throw new Error('it does not begin with a digest')
  if (digestOf(text.slice(field.length)) !== digest) throw new Error('its digest does not match')
  const end = text.indexOf(DATA_FIELD)
  if (end === -1) throw new Error('it has no data')
  const envelope: object = JSON.parse(`${text.slice(0, end)}}`)
  const fields = { v: 0, key: '', savedAt: NaN, ...envelope }
  if (fields.v !== ENVELOPE_VERSION) throw new Error('it is of another version')
  if (fields.key !== key) throw new Error("it is another key's value")
  if (!Number.isFinite(fields.savedAt)) throw new Error('it does not say when it was saved')
  return { savedAt: fields.savedAt, json: text.slice(end + DATA_FIELD.length, -1) }
}
