import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { assertKnownOptions, isOrigin, reasonOf, requireFunctions } from '../core.ts'
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
}

/** Options of `createFileKeyStore`. */
export interface KeyStoreOptions {
  /** Clock for the time of a revocation, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

/** The format of the file. Fields that this version does not use are kept. */
const VERSION = 1
const EMPTY = `{"version":${VERSION},"keys":[]}`

/** A writer waits at most 5 s for another one. */
const LOCK_ATTEMPTS = 200
const LOCK_INTERVAL_MS = 25

/**
 * Creates a key store in the JSON file at `path`, for commands and servers on one machine (Node, Bun and Deno). It contains
 * hashes, never keys. The first `add` creates the file, with mode 0600.
 *
 * `find` checks on each call whether the file has changed, so that servers notice keys that a command adds or revokes. It
 * rejects while the file is missing or damaged.
 *
 * Writes are atomic. Each writer creates `<path>.lock` first, so that none of two changes at the same time is lost, and
 * rejects if that file exists for 5 s. A link keeps its target, an existing file its owner and its mode.
 *
 * @throws {TypeError} if `path` is not a path or an option is invalid
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createAccess } from 'ratesmith/access'
 * import { createFileKeyStore } from 'ratesmith/access/file'
 *
 * const handler = createRatesHandler({
 *   access: createAccess({
 *     keys: createFileKeyStore('./keys.json'),
 *     plans: { pro: '600/min, 100000/month' },
 *   }),
 * })
 * ```
 */
export function createFileKeyStore(path: string, options: KeyStoreOptions = {}): WritableKeyStore {
  if (typeof path !== 'string' || path === '') {
    throw new TypeError(`path must be a non-empty file path, got ${JSON.stringify(path)}`)
  }
  const { now = Date.now } = options
  assertKnownOptions(options, { now })
  requireFunctions({ now })
  const file = resolve(path)
  let read: { version: string; keys: ReadonlyMap<string, StoredKey> } | undefined

  return {
    async find(hash) {
      const version = await about(file, () => versionOf(file))
      if (read?.version !== version) {
        const current = await readKeyFile(file)
        const keys = new Map(current.keys.map((key) => [key.hash, key]))
        read = { version: current.version, keys }
      }
      const found = read.keys.get(hash)
      if (!found || found.revokedAt !== undefined) return undefined
      const { id, plan, expiresAt, origins } = found
      return { id, plan, expiresAt, origins }
    },
    async list() {
      return (await readKeyFile(file)).keys
    },
    async add(record) {
      assertStoredKey(record)
      await change(file, ({ entries, keys }) => {
        const isKnown = keys.some(({ id, hash }) => id === record.id || hash === record.hash)
        if (isKnown) throw new Error(`a key with the id ${record.id} or its hash exists`)
        entries.push(toEntry(record))
        return true
      })
    },
    async revoke(id) {
      let isKnown = false
      await change(file, ({ entries, keys }) => {
        const at = keys.findIndex((key) => key.id === id)
        isKnown = at !== -1
        if (!isKnown || keys[at]?.revokedAt !== undefined) return false
        entries[at] = { ...entries[at], revoked: toTime(now()) }
        return true
      })
      return isKnown
    },
  }
}

type Entry = Record<string, unknown>

interface KeyFile {
  /** The whole content; `entries` are its keys as they are written. */
  document: Entry
  entries: Entry[]
  keys: StoredKey[]
}

/** Rejects with an error that names the file and quotes none of its text. */
async function about<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  return work().catch((error: unknown) => {
    const reason = isCode(error, 'ENOENT') ? 'does not exist' : reasonOf(error)
    // Without the cause, which logs would add to it again.
    throw new Error(`key file ${path}: ${reason}`)
  })
}

/** Returns a text that differs after every change. */
async function versionOf(path: string): Promise<string> {
  const found = await stat(path, { bigint: true })
  // Reading a pipe would block a thread of the runtime until a writer opens it.
  if (!found.isFile()) throw new Error('not a regular file')
  const { dev, ino, size, mtimeNs, ctimeNs } = found
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ')
}

async function readKeyFile(path: string): Promise<KeyFile & { version: string }> {
  return about(path, async () => {
    // Before the text: a later change then has another version.
    const version = await versionOf(path)
    return { version, ...parseKeyFile(await readFile(path, 'utf8')) }
  })
}

function parseKeyFile(text: string): KeyFile {
  // Some editors write a byte order mark.
  const document = parseJson(text.replace(/^\uFEFF/, ''))
  if (!isObject(document)) throw new Error('damaged, not a JSON object')
  const { version, keys: entries } = document
  if (version !== VERSION) throw new Error(`version must be ${VERSION}, got ${String(version)}`)
  if (!Array.isArray(entries) || !entries.every(isObject)) {
    throw new Error('damaged, keys must be a list of objects')
  }
  const keys = entries.map((entry, index) => fromEntry(entry, `damaged, keys[${index}].`))
  for (const field of ['id', 'hash'] as const) {
    if (new Set(keys.map((key) => key[field])).size === keys.length) continue
    throw new Error(`damaged, two keys have the same ${field}`)
  }
  return { document, entries, keys }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Times are text in the file, so that it can be read. */
function toEntry({ createdAt, expiresAt, revokedAt, origins, ...same }: StoredKey): Entry {
  const { id, hash, plan, name } = same
  const [created, expires, revoked] = [createdAt, expiresAt, revokedAt].map(
    (time) => time && toTime(time),
  )
  return { id, hash, plan, name, created, expires, origins, revoked }
}

/** Fields that restrict a key, and how they are written by mistake: ignored, they would permit more than was meant. */
const RESTRICTIONS: readonly [field: string, mistaken: RegExp][] = [
  ['expires', /^(expir|valid(until|to)$|notafter$|until$)/],
  ['revoked', /^(revo[ck]|disabled$|blocked$)/],
  ['origins', /^(allowed)?origins?$/],
]

/** @throws {TypeError} that begins with `place` */
function fromEntry(entry: Entry, place: string): StoredKey {
  for (const [field, mistaken] of RESTRICTIONS) {
    const isWritten = Object.hasOwn(entry, field)
    const isMistaken = (each: string): boolean =>
      mistaken.test(each.toLowerCase().replaceAll(/[^a-z]/g, ''))
    // Its name in `StoredKey` is never that of another field.
    const found = Object.keys(entry).find(
      (each) => each === `${field}At` || (!isWritten && isMistaken(each)),
    )
    if (found !== undefined) throw new TypeError(`${place}${found} must be written as ${field}`)
  }
  const { id, hash, plan, name, created, expires, revoked, origins } = entry
  const [createdAt, expiresAt, revokedAt] = [created, expires, revoked].map(fromTime)
  const key = { id, hash, plan, name, createdAt, expiresAt, revokedAt, origins }
  assertStoredKey(key, (field) => place + field.replace(/At$/, ''))
  return key
}

function toTime(instant: number): string {
  return new Date(instant).toISOString()
}

/** Returns NaN for an invalid time: a key whose end cannot be read must not work forever. */
function fromTime(text: unknown): number | undefined {
  if (text === undefined) return undefined
  const isTime = typeof text === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)
  return isTime ? Date.parse(text) : NaN
}

/** The largest time of a `Date`, in ms since the Unix epoch. */
const MAX_TIME = 8_640_000_000_000_000

const isWord = matching(/^[\w.-]{1,64}$/)
const WORD = 'up to 64 letters, digits, ., _ or -'
const TIME = 'ms since the Unix epoch, or in a file a time such as 2026-01-31T00:00:00Z'
const RULES: readonly [keyof StoredKey, accepts: (value: unknown) => boolean, string][] = [
  ['id', isWord, WORD],
  ['hash', matching(/^[0-9a-f]{64}$/), '64 lower-case hexadecimal digits'],
  ['plan', isWord, WORD],
  ['name', matching(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]{1,100}$/u), 'up to 100 characters on one line'],
  ['createdAt', isTime, TIME],
  ['expiresAt', (value) => value === undefined || isTime(value), TIME],
  ['revokedAt', (value) => value === undefined || isTime(value), TIME],
  ['origins', areOrigins, 'a list of origins such as https://example.com'],
]

/** @throws {TypeError} that names the invalid field */
function assertStoredKey(
  record: Readonly<Partial<Record<keyof StoredKey, unknown>>>,
  nameOf = (field: string) => field,
): asserts record is StoredKey {
  for (const [field, accepts, expected] of RULES) {
    if (!accepts(record[field])) throw new TypeError(`${nameOf(field)} must be ${expected}`)
  }
}

function matching(pattern: RegExp) {
  return (value: unknown): boolean => typeof value === 'string' && pattern.test(value)
}

function isTime(value: unknown): boolean {
  return Number.isFinite(value) && Math.abs(Number(value)) <= MAX_TIME
}

function areOrigins(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isOrigin))
}

/** Calls `edit` with the current content, then replaces the file if `edit` returns true. */
async function change(path: string, edit: (file: KeyFile) => boolean): Promise<void> {
  const target: string = (await unlessMissing(realpath(path))) ?? path
  const lock = `${target}.lock`
  const file = await openLock(lock)
  let isReplaced = false
  try {
    const former = await unlessMissing(stat(target))
    const current = former ? await readKeyFile(target) : parseKeyFile(EMPTY)
    if (!edit(current)) return
    await file.writeFile(`${JSON.stringify(current.document, undefined, 2)}\n`)
    const own = await file.stat()
    // Otherwise the server that owns the file could no longer read it.
    if (former && (former.uid !== own.uid || former.gid !== own.gid)) {
      await file.chown(former.uid, former.gid)
    }
    // An umask may have removed bits of the owner.
    await file.chmod((former?.mode ?? 0o600) & 0o777)
    // Otherwise the rename could survive a power cut and the text not.
    await file.datasync()
    await rename(lock, target)
    isReplaced = true
  } finally {
    await file.close()
    if (!isReplaced) await rm(lock, { force: true })
  }
}

async function unlessMissing<Result>(work: Promise<Result>): Promise<Result | undefined> {
  return work.catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  })
}

const LOCKED =
  'exists: another command is writing, or was killed. If none is running, delete this file.'

/** Creates the file in which the next content is written; only one process can have it. */
async function openLock(path: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open(path, 'wx', 0o600)
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error
      if (attempt === LOCK_ATTEMPTS) throw new Error(`${path} ${LOCKED}`, { cause: error })
      await sleep(LOCK_INTERVAL_MS)
    }
  }
}

function isCode(error: unknown, code: string): boolean {
  return Object(error).code === code
}
