import type { DatabaseSync } from 'node:sqlite'

import type { CacheStore } from '../cache/store.ts'
import { openDatabase } from '../connections/sqlite.ts'
import { assertKnownOptions } from '../known-options.ts'

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS ratesmith_texts (
    key TEXT PRIMARY KEY, text TEXT NOT NULL, expires_at REAL NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS ratesmith_claims (
    key TEXT PRIMARY KEY, expires_at REAL NOT NULL
  ) STRICT;
`

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
  const { database, prepared } = openDatabase(path, SCHEMA, prepare)
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
