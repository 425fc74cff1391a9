import type { DatabaseSync } from 'node:sqlite'

import { openDatabase } from '../connections/sqlite.ts'
import type { OpenDatabase } from '../connections/sqlite.ts'
import { assertKnownOptions } from '../known-options.ts'
import type { Counters } from './counters.ts'
import { createLeasedCounters } from './leases.ts'
import { count } from './shared-count.ts'
import type { SharedReply, SharedRequest } from './shared-count.ts'

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS ratesmith_limits (
    key TEXT PRIMARY KEY, state TEXT NOT NULL, expires_at REAL NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS ratesmith_limits_expiry ON ratesmith_limits (expires_at);
`

/** Expired rows are deleted in steps, because a call blocks the process. */
const ROWS_PER_STEP = 10

/** Options of `createSqliteCounters`. */
export interface SqliteCountersOptions {
  /** Prefix of every key, for several APIs that count in one database (default `''`). */
  prefix?: string | undefined
}

/**
 * Creates counters in the SQLite database at `path`, which the processes of one machine share; creates the database with
 * mode 0600 if it does not exist. A process takes permits in lots, with one transaction for each lot, which waits at most
 * 20 ms for other processes. Requires `node:sqlite` (Node 22.15, Bun 1.4, Deno 2.2 or later).
 *
 * @throws {TypeError} if `path` is not a path or an option is invalid
 * @throws {Error} naming `path`, if a database cannot be opened or created there
 * @example
 * ```ts
 * import { createAccess } from 'ratesmith/access'
 * import { createSqliteCounters } from 'ratesmith/access/sqlite'
 *
 * const access = createAccess({
 *   anonymous: 'public',
 *   plans: { public: { burst: '60/min' } },
 *   counters: createSqliteCounters('./limits.db'),
 * })
 * ```
 */
export function createSqliteCounters(path: string, options: SqliteCountersOptions = {}): Counters {
  const { prefix = '' } = options
  assertKnownOptions(options, { prefix })
  if (typeof prefix !== 'string') throw new TypeError('prefix must be a string')
  // Opened here, so that a wrong path is an error of this call. Each handler has a separate connection.
  let opened: Opened | undefined = openDatabase(path, SCHEMA, prepare)

  return createLeasedCounters(({ runtime }) => {
    const { database, prepared } = opened ?? openDatabase(path, SCHEMA, prepare)
    opened = undefined
    return {
      count: (client, request) => {
        const now = Math.round(runtime.now() * 1_000)
        return inTransaction(database, () => countIn(prepared, prefix + client, request, now))
      },
      close() {
        if (database.isOpen) database.close()
      },
    }
  })
}

type Prepared = ReturnType<typeof prepare>
type Opened = OpenDatabase<Prepared>

function countIn(
  prepared: Prepared,
  key: string,
  request: SharedRequest,
  now: number,
): SharedReply {
  const { select, upsert, evict } = prepared
  const { text, keepFor, reply } = count(select.get(key)?.['state'], request, now)
  upsert.run(key, text, now / 1_000 + keepFor)
  evict.run(now / 1_000)
  return reply
}

/** Runs `work` in a transaction, in which no other process writes. */
function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    rollBack(database)
    throw error
  }
}

function prepare(database: DatabaseSync) {
  return {
    select: database.prepare('SELECT state FROM ratesmith_limits WHERE key = ?'),
    upsert: database.prepare(`
      INSERT INTO ratesmith_limits (key, state, expires_at) VALUES (?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET state = excluded.state, expires_at = excluded.expires_at`),
    evict: database.prepare(`
      DELETE FROM ratesmith_limits WHERE key IN (
        SELECT key FROM ratesmith_limits WHERE expires_at < ? LIMIT ${ROWS_PER_STEP})`),
  }
}

function rollBack(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // SQLite has ended the transaction; the first error counts.
  }
}
