import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

import type { CacheStore } from '../cache/store.ts'
import { assertKnownOptions } from '../known-options.ts'

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS ratesmith_texts (
    key TEXT PRIMARY KEY, text TEXT NOT NULL, expires_at REAL NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS ratesmith_claims (
    key TEXT PRIMARY KEY, expires_at REAL NOT NULL
  ) STRICT;
`

/**
 * At most about 3 s in all, once, before the first request is served. SQLite does not apply its busy timeout to the switch
 * to a write-ahead log, hence the attempts.
 */
const SETUP_ATTEMPTS = 20
const SETUP_BUSY_TIMEOUT_MS = 100

/** Short, because a waiting operation blocks this process. */
const BUSY_TIMEOUT_MS = 20

/** Options of `createSqliteStore`. */
export interface SqliteStoreOptions {
  /** Clock for the expiry of values and claims, in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

/** A synchronous store in an SQLite database. */
export interface SqliteStore extends CacheStore {
  /** Returns true for exactly one caller across processes, which may refresh the value of `key` until `expiresAt` (ms since the Unix epoch). */
  claim(key: string, expiresAt: number): boolean
  /** Closes the database; every later operation throws. Repeated calls do nothing. */
  close(): void
}

/**
 * Creates a store in the SQLite database at `path`, or in memory for `:memory:`; creates the database if it does not
 * exist. Processes on one machine can share the file; exactly one of them gets a claim. Requires `node:sqlite` (Node
 * 22.13, Bun 1.4, Deno 2.2 or later; not on Workers): importing this module fails without it. Node 22 prints a warning
 * that it is experimental.
 *
 * A new database and its log have mode 0600 under any umask. An existing database keeps its mode, and its log gets the
 * same, so that a group can share it.
 *
 * Operations throw SQLite's error when they fail, for example after another process has locked the database for 20 ms, or
 * if the file is damaged.
 *
 * @throws {TypeError} if `path` is not a path or `now` is not a function
 * @throws {Error} naming `path`, if a database cannot be opened or created there
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createSqliteStore } from 'ratesmith/stores/sqlite'
 *
 * const handler = createRatesHandler({ store: createSqliteStore('./rates.db') })
 * ```
 */
export function createSqliteStore(path: string, options: SqliteStoreOptions = {}): SqliteStore {
  const { now = Date.now } = options
  assertKnownOptions(options, { now })
  if (typeof now !== 'function') throw new TypeError('now must be a function')
  const { database, prepared } = openDatabase(path)
  const { select, upsert, evict, forget, take } = prepared
  return {
    get: (key) => select.get(key)?.['text'],
    set(key, value, expiresAt) {
      upsert.run(key, value, expiresAt)
      evict.run(now(), key)
      forget.run(now())
    },
    claim: (key, expiresAt) => Number(take.run(key, expiresAt, now()).changes) === 1,
    close() {
      if (database.isOpen) database.close()
    },
  }
}

function openDatabase(path: string) {
  // For SQLite, an empty path means a private temporary file.
  if (typeof path !== 'string' || path === '') {
    throw new TypeError(`path must be a non-empty file path, got ${JSON.stringify(path)}`)
  }
  let database: DatabaseSync | undefined
  try {
    createPrivateFile(path)
    database = new DatabaseSync(path)
    setUp(database)
    return { database, prepared: prepare(database) }
  } catch (error) {
    database?.close()
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot open the SQLite database ${path}: ${reason}`, { cause: error })
  }
}

function prepare(database: DatabaseSync) {
  return {
    select: database.prepare('SELECT text FROM ratesmith_texts WHERE key = ?'),
    upsert: database.prepare(`
      INSERT INTO ratesmith_texts (key, text, expires_at) VALUES (?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET text = excluded.text, expires_at = excluded.expires_at`),
    evict: database.prepare('DELETE FROM ratesmith_texts WHERE expires_at < ? AND key <> ?'),
    forget: database.prepare('DELETE FROM ratesmith_claims WHERE expires_at < ?'),
    take: database.prepare(`
      INSERT INTO ratesmith_claims (key, expires_at) VALUES (?, ?)
      ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at WHERE expires_at <= ?`),
  }
}

/**
 * SQLite gives its logs the mode of the database. An existing file must not be opened here: closing it would release the
 * locks of other connections in this process.
 */
function createPrivateFile(path: string): void {
  // Neither is a file path.
  if (path === ':memory:' || path.startsWith('file:')) return
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // The file exists, or SQLite's error will give the reason.
  }
}

function setUp(database: DatabaseSync): void {
  // With a write-ahead log, readers never wait for a writer. NORMAL rarely waits for the disk: a killed process loses
  // nothing, a power cut at most the last values, and the file stays intact.
  const setup = `
    PRAGMA busy_timeout = ${SETUP_BUSY_TIMEOUT_MS};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    ${SCHEMA}
    PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
  `
  for (let attempt = 1; ; attempt += 1) {
    try {
      database.exec(setup)
      return
    } catch (error) {
      if (attempt === SETUP_ATTEMPTS || !/locked/.test(String(error))) throw error
      sleep(5 * attempt)
    }
  }
}

function sleep(durationMs: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs)
}
