import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

import type { CacheStore } from '../cache/store.ts'
import { assertKnownOptions } from '../known-options.ts'

/**
 * How often the setup is tried, and how long each step of it waits for other processes, in ms: some 3 s in all, once,
 * before anything is served. SQLite itself does not wait with the switch to a write-ahead log while others write.
 */
const SETUP_ATTEMPTS = 20
const SETUP_BUSY_TIMEOUT_MS = 100

/** How long any later operation may: it blocks everything else in this process meanwhile. In ms. */
const BUSY_TIMEOUT_MS = 20

// With a write-ahead log readers never wait for a writer. NORMAL waits for the disk only now and then: a kill loses
// nothing, a power cut at most the last texts, and never the file.
const SETUP = `
  PRAGMA busy_timeout = ${SETUP_BUSY_TIMEOUT_MS};
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS ratesmith_texts (
    key TEXT PRIMARY KEY, text TEXT NOT NULL, expires_at REAL NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS ratesmith_claims (
    key TEXT PRIMARY KEY, expires_at REAL NOT NULL
  ) STRICT;
  PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS};
`

/** Options of `createSqliteStore`. */
export interface SqliteStoreOptions {
  /** The clock by which texts and claims expire, ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

/** A store in an SQLite database, whose operations are done when they return. */
export interface SqliteStore extends CacheStore {
  /** True for the one caller, in whatever process, that may refresh the value of `key` until `expiresAt` (ms since the Unix epoch). */
  claim(key: string, expiresAt: number): boolean
  /** Closes the database: every later operation throws. May be called again. */
  close(): void
}

/**
 * A store in the SQLite database at `path`, which is made where there is none, or in memory for `:memory:`. Processes
 * of one machine may share the file; a claim is granted to one of them. Needs `node:sqlite`, so importing this module
 * fails on Workers and on runtimes that lack it (Node has it from 22.13, Bun from 1.4, Deno from 2.2); Node 22 warns
 * that it is experimental.
 *
 * A new database and its log are for their owner alone (mode 0600) under any umask. An existing one keeps its mode, which
 * its log gets too, so that a group can share it.
 *
 * An operation throws SQLite's error where it fails, as when another process has kept the database locked for 20 ms, or
 * the file is damaged.
 *
 * @throws {TypeError} where `path` is not a path or `now` not a function
 * @throws {Error} where no sound database can be opened or created at `path`, naming the path
 */
export function createSqliteStore(path: string, options: SqliteStoreOptions = {}): SqliteStore {
  const { now = Date.now } = options
  assertKnownOptions(options, { now })
  if (typeof now !== 'function') throw new TypeError('now must be a function')
  const { database, select, upsert, evict, forget, take } = openDatabase(path)
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
  // SQLite takes an empty path for a file that nobody else sees and that is gone at the end.
  if (typeof path !== 'string' || path === '') {
    throw new TypeError(`path must be the path of a file, got ${String(path) || 'nothing'}`)
  }
  let database: DatabaseSync | undefined
  try {
    createPrivateFile(path)
    database = new DatabaseSync(path)
    setUp(database)
    return { database, ...prepare(database) }
  } catch (error) {
    database?.close()
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`the SQLite database ${path} cannot be used: ${reason}`, { cause: error })
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
 * Creates an empty file at `path`, unless something is there. SQLite gives its logs the mode of the database. An existing
 * file must not be opened: to close it would release the locks that another connection of this process holds.
 */
function createPrivateFile(path: string): void {
  // A URI is not a path, and this one has no file.
  if (path === ':memory:' || path.startsWith('file:')) return
  try {
    closeSync(openSync(path, 'wx', 0o600))
  } catch {
    // It is there already, or SQLite will say why it cannot be.
  }
}

function setUp(database: DatabaseSync): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      database.exec(SETUP)
      return
    } catch (error) {
      if (attempt === SETUP_ATTEMPTS || !/locked/.test(String(error))) throw error
      sleep(5 * attempt)
    }
  }
}

/** Stops this process for `duration` ms. */
function sleep(duration: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, duration)
}
