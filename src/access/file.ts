import { open, realpath, rename, rm, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { reasonOf } from '../events.ts'
import { assertStoredKey, resolveKeyStoreOptions, toKeyRecord } from './stored-keys.ts'
import type { KeyStoreOptions, StoredKey, WritableKeyStore } from './stored-keys.ts'

export type { KeyStoreOptions, StoredKey, WritableKeyStore } from './stored-keys.ts'

/** The format of the file. Fields that this version does not use are kept. */
const VERSION = 1

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
 *     plans: { pro: { burst: '600/min', month: 100_000 } },
 *   }),
 * })
 * ```
 */
export function createFileKeyStore(path: string, options: KeyStoreOptions = {}): WritableKeyStore {
  if (typeof path !== 'string' || path === '') {
    throw new TypeError(`path must be a non-empty file path, got ${JSON.stringify(path)}`)
  }
  const { now } = resolveKeyStoreOptions(options)
  const file = resolve(path)
  let read: { version: string; keys: ReadonlyMap<string, StoredKey> } | undefined

  return {
    async find(hash) {
      const version = await versionOf(file)
      if (read?.version !== version) {
        const { keys, found } = await readKeyFile(file)
        read = { version: found.version, keys: new Map(keys.map((key) => [key.hash, key])) }
      }
      return toKeyRecord(read.keys.get(hash))
    },
    async list() {
      return (await readKeyFile(file)).keys
    },
    async add(record) {
      assertStoredKey(record)
      await change(file, ({ document, keys }) => {
        const isKnown = keys.some(({ id, hash }) => id === record.id || hash === record.hash)
        if (isKnown) throw new Error(`a key with the id ${record.id} or its hash exists`)
        document.keys.push(toEntry(record))
        return true
      })
    },
    async revoke(id) {
      let isKnown = false
      await change(file, ({ document, keys }) => {
        const at = keys.findIndex((key) => key.id === id)
        isKnown = at !== -1
        if (!isKnown || keys[at]?.revokedAt !== undefined) return false
        document.keys[at] = { ...document.keys[at], revoked: toTime(now()) }
        return true
      })
      return isKnown
    },
    close() {},
  }
}

interface KeyDocument {
  keys: Record<string, unknown>[]
}

interface KeyFile {
  document: KeyDocument
  keys: StoredKey[]
}

interface FoundFile {
  /** Differs after every change. */
  version: string
  mode: number
  uid: number
  gid: number
}

async function versionOf(path: string): Promise<string> {
  return describeFile(path, await unlessFailing(path, stat(path, { bigint: true }))).version
}

function describeFile(path: string, found: Awaited<ReturnType<typeof bigintStat>>): FoundFile {
  // Opening a pipe would block a thread of the runtime until a writer opens it.
  if (!found.isFile()) throw new Error(`key file ${path}: not a regular file`)
  const { dev, ino, size, mtimeNs, ctimeNs, mode, uid, gid } = found
  return {
    version: [dev, ino, size, mtimeNs, ctimeNs].join(' '),
    mode: Number(mode) & 0o777,
    uid: Number(uid),
    gid: Number(gid),
  }
}

function bigintStat(file: FileHandle) {
  return file.stat({ bigint: true })
}

/** Reads the file at `path`; rejects with an error that names it and quotes none of its text. */
async function readKeyFile(path: string): Promise<KeyFile & { found: FoundFile }> {
  await versionOf(path)
  const file = await unlessFailing(path, open(path, 'r'))
  try {
    // Of the open file, before its text: a later change then has another version.
    const found = describeFile(path, await bigintStat(file))
    return { ...parseKeyFile(path, await file.readFile('utf8')), found }
  } finally {
    await file.close()
  }
}

async function unlessFailing<Result>(path: string, work: Promise<Result>): Promise<Result> {
  return work.catch((error: unknown) => {
    const reason = isCode(error, 'ENOENT') ? 'does not exist' : reasonOf(error)
    throw new Error(`key file ${path}: ${reason}`, { cause: error })
  })
}

function parseKeyFile(path: string, text: string): KeyFile {
  const fail = (reason: string): never => {
    throw new Error(`key file ${path}: ${reason}`)
  }
  const document = parseJson(text)
  if (!isObject(document)) return fail('damaged, not a JSON object')
  const { version, keys: entries } = document
  if (version !== VERSION) return fail(`version must be ${VERSION}, got ${String(version)}`)
  if (!Array.isArray(entries) || !entries.every(isObject)) {
    return fail('damaged, keys must be a list of objects')
  }
  const keys = entries.map((entry, index) => {
    try {
      return fromEntry(entry)
    } catch (error) {
      return fail(`damaged, keys[${index}].${reasonOf(error)}`)
    }
  })
  for (const field of ['id', 'hash'] as const) {
    if (new Set(keys.map((key) => key[field])).size < keys.length) {
      return fail(`damaged, two keys have the same ${field}`)
    }
  }
  return { document: Object.assign(document, { keys: entries }), keys }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Times are text in the file, so that it can be read. */
function toEntry({ createdAt, expiresAt, revokedAt, ...same }: StoredKey): Record<string, unknown> {
  const { id, hash, plan, name, origins } = same
  return {
    id,
    hash,
    plan,
    name,
    created: toTime(createdAt),
    expires: expiresAt === undefined ? undefined : toTime(expiresAt),
    origins,
    revoked: revokedAt === undefined ? undefined : toTime(revokedAt),
  }
}

function fromEntry({ created, expires, revoked, ...same }: Record<string, unknown>): StoredKey {
  const { id, hash, plan, name, origins } = same
  const key = {
    id,
    hash,
    plan,
    name,
    createdAt: fromTime(created),
    expiresAt: fromTime(expires),
    revokedAt: fromTime(revoked),
    origins,
  }
  assertStoredKey(key)
  return key
}

function toTime(instant: number): string {
  return new Date(instant).toISOString()
}

/** Returns NaN for an invalid time: a key whose end cannot be read must not work forever. */
function fromTime(text: unknown): number | undefined {
  if (text === undefined) return undefined
  return typeof text === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)
    ? Date.parse(text)
    : NaN
}

/** Calls `edit` with the current content, then replaces the file if `edit` returns true. */
async function change(path: string, edit: (file: KeyFile) => boolean): Promise<void> {
  const target = await realpath(path).catch((error: unknown) => {
    if (isCode(error, 'ENOENT')) return path
    throw error
  })
  const lock = `${target}.lock`
  const file = await openLock(lock)
  let isReplaced = false
  try {
    const current = await readOrCreate(target)
    if (!edit(current)) return
    await file.writeFile(`${JSON.stringify(current.document, undefined, 2)}\n`)
    await keepOwner(file, current.found)
    // Otherwise the rename could survive a power cut and the text not.
    await file.datasync()
    await rename(lock, target)
    isReplaced = true
  } finally {
    await file.close()
    if (!isReplaced) await rm(lock, { force: true })
  }
}

async function readOrCreate(path: string): Promise<KeyFile & { found: FoundFile | undefined }> {
  try {
    return await readKeyFile(path)
  } catch (error) {
    if (!isCode(Object(error).cause, 'ENOENT')) throw error
    const document = { version: VERSION, keys: [] }
    return { document, keys: [], found: undefined }
  }
}

async function keepOwner(file: FileHandle, found: FoundFile | undefined): Promise<void> {
  const own = describeFile('', await bigintStat(file))
  const { mode, uid, gid } = found ?? { ...own, mode: 0o600 }
  // Otherwise the server that owns the file could no longer read it.
  if (uid !== own.uid || gid !== own.gid) await file.chown(uid, gid)
  // An umask may have removed bits of the owner.
  await file.chmod(mode)
}

/** Creates the file in which the next content is written; only one process can have it. */
async function openLock(path: string): Promise<FileHandle> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await open(path, 'wx', 0o600)
    } catch (error) {
      if (!isCode(error, 'EEXIST')) throw error
      if (attempt === LOCK_ATTEMPTS) {
        throw new Error(
          `${path} exists: another command is writing, or was killed. If none is running, delete this file.`,
          { cause: error },
        )
      }
    }
    await sleep(LOCK_INTERVAL_MS)
  }
}

function isCode(error: unknown, code: string): boolean {
  return Object(error).code === code
}
