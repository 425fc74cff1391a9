import { assertKnownOptions } from '../known-options.ts'
import type { KeyRecord, KeyStore } from './keys.ts'

/** A key as `createFileKeyStore` keeps it: without the key itself. */
export interface StoredKey extends KeyRecord {
  /** SHA-256 of the key, as 64 lower-case hexadecimal digits: see `hashKey`. */
  hash: string
  /** The owner of the key, up to 100 characters on one line. */
  name: string
  /** When the key was created, in ms since the Unix epoch. */
  createdAt: number
  /** When the key was revoked, in ms since the Unix epoch (default never). */
  revokedAt?: number | undefined
}

/** A key store that can be changed. */
export interface WritableKeyStore extends KeyStore {
  /** Resolves to all keys in the order of their creation, with expired and revoked ones; rejects if the store is missing or damaged. */
  list(): Promise<StoredKey[]>
  /**
   * Adds a key; resolves when it is stored. Rejects with a `TypeError` for an invalid record, and with an `Error` if its id or
   * hash exists.
   */
  add(record: StoredKey): Promise<void>
  /** Revokes the key with this id; resolves to false for an unknown id. A revoked key keeps its time. */
  revoke(id: string): Promise<boolean>
  /** Closes the store; does nothing for a file. */
  close(): void
}

/** Options of `createFileKeyStore`. */
export interface KeyStoreOptions {
  /** Clock for the time of a revocation, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

/** @throws {TypeError} that names the invalid option */
export function resolveKeyStoreOptions(options: KeyStoreOptions): { now: () => number } {
  const { now = Date.now } = options
  assertKnownOptions(options, { now })
  if (typeof now !== 'function') throw new TypeError('now must be a function')
  return { now }
}

/** Returns what a request needs of a stored key: nothing of a revoked one. */
export function toKeyRecord(stored: StoredKey | undefined): KeyRecord | undefined {
  if (!stored || stored.revokedAt !== undefined) return undefined
  const { id, plan, expiresAt, origins } = stored
  return { id, plan, expiresAt, origins }
}

/** The largest time of a `Date`, in ms since the Unix epoch. */
const MAX_TIME = 8_640_000_000_000_000

/** @throws {TypeError} that names the invalid field */
export function assertStoredKey(
  record: Readonly<Partial<Record<keyof StoredKey, unknown>>>,
): asserts record is StoredKey {
  const { id, hash, plan, name, createdAt, expiresAt, origins, revokedAt } = record
  if (!isMatch(id, /^[\w.-]{1,64}$/)) fail('id', 'up to 64 letters, digits, ., _ or -')
  if (!isMatch(hash, /^[0-9a-f]{64}$/)) fail('hash', '64 lower-case hexadecimal digits')
  if (!isMatch(plan, /^[\w.-]{1,64}$/)) fail('plan', 'up to 64 letters, digits, ., _ or -')
  if (!isMatch(name, /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,100}$/u)) {
    fail('name', 'up to 100 characters on one line')
  }
  for (const [field, time] of Object.entries({ createdAt, expiresAt, revokedAt })) {
    const isAbsent = time === undefined && field !== 'createdAt'
    if (!isAbsent && !(Number.isFinite(time) && Math.abs(Number(time)) <= MAX_TIME)) {
      fail(field, 'ms since the Unix epoch')
    }
  }
  if (origins === undefined) return
  if (!Array.isArray(origins) || !origins.every(isOrigin)) {
    fail('origins', 'a list of origins such as https://example.com')
  }
}

export function isOrigin(value: unknown): boolean {
  if (typeof value !== 'string' || !URL.canParse(value)) return false
  const { protocol, origin } = new URL(value)
  return /^https?:$/.test(protocol) && origin === value
}

function isMatch(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value)
}

function fail(field: string, expected: string): never {
  throw new TypeError(`${field} must be ${expected}`)
}
