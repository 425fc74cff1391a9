import type { DatabaseSync } from 'node:sqlite'

import { openDatabase } from '../connections/sqlite.ts'
import { assertStoredKey, resolveKeyStoreOptions, toKeyRecord } from './stored-keys.ts'
import type { KeyStoreOptions, StoredKey, WritableKeyStore } from './stored-keys.ts'

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS ratesmith_keys (
    id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, plan TEXT NOT NULL, name TEXT NOT NULL,
    created_at REAL NOT NULL, expires_at REAL, origins TEXT, revoked_at REAL
  ) STRICT;
`

const COLUMNS = 'id, hash, plan, name, created_at, expires_at, origins, revoked_at'

/** Changes are rare, and waiting for another process is better than losing one; reads wait for 20 ms. */
const WRITE_TIMEOUT_MS = 2_000
const READ_TIMEOUT_MS = 20

/**
 * Creates a key store in the SQLite database at `path`, which commands and servers on one machine share (Node, Bun and
 * Deno); creates the database, with mode 0600, if it does not exist. It contains hashes, never keys. `find` reads the
 * database on every call, and throws when it fails.
 *
 * @throws {TypeError} if `path` is not a path or an option is invalid
 * @throws {Error} naming `path`, if a database cannot be opened or created there
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createAccess } from 'ratesmith/access'
 * import { createSqliteKeyStore } from 'ratesmith/access/sqlite'
 *
 * const handler = createRatesHandler({
 *   access: createAccess({
 *     keys: createSqliteKeyStore('./keys.db'),
 *     plans: { pro: { burst: '600/min', month: 100_000 } },
 *   }),
 * })
 * ```
 */
export function createSqliteKeyStore(
  path: string,
  options: KeyStoreOptions = {},
): WritableKeyStore {
  const { now } = resolveKeyStoreOptions(options)
  const { database, prepared } = openDatabase(path, SCHEMA, prepare)
  const { select, selectAll, insert, revoke, exists } = prepared

  return {
    find(hash) {
      const row = select.get(hash)
      return row && toKeyRecord(fromRow(row))
    },
    list: async () => selectAll.all().map(fromRow),
    async add(record) {
      assertStoredKey(record)
      const { id, hash, plan, name, createdAt, expiresAt, origins, revokedAt } = record
      const listed = origins ? JSON.stringify(origins) : null
      const { changes } = patiently(database, () =>
        insert.run(id, hash, plan, name, createdAt, expiresAt ?? null, listed, revokedAt ?? null),
      )
      if (Number(changes) === 0) throw new Error(`a key with the id ${id} or its hash exists`)
    },
    async revoke(id) {
      patiently(database, () => revoke.run(now(), id))
      return exists.get(id) !== undefined
    },
    close() {
      if (database.isOpen) database.close()
    },
  }
}

function prepare(database: DatabaseSync) {
  return {
    select: database.prepare(`SELECT ${COLUMNS} FROM ratesmith_keys WHERE hash = ?`),
    selectAll: database.prepare(`SELECT ${COLUMNS} FROM ratesmith_keys ORDER BY created_at, rowid`),
    exists: database.prepare('SELECT 1 FROM ratesmith_keys WHERE id = ?'),
    insert: database.prepare(`
      INSERT INTO ratesmith_keys (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO NOTHING`),
    revoke: database.prepare(`
      UPDATE ratesmith_keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL`),
  }
}

function patiently<Result>(database: DatabaseSync, work: () => Result): Result {
  database.exec(`PRAGMA busy_timeout = ${WRITE_TIMEOUT_MS}`)
  try {
    return work()
  } finally {
    database.exec(`PRAGMA busy_timeout = ${READ_TIMEOUT_MS}`)
  }
}

/** @throws {TypeError} for a row that another program has changed to an invalid one */
function fromRow(row: Record<string, unknown>): StoredKey {
  const { id, hash, plan, name, created_at, expires_at, origins, revoked_at } = row
  const key = {
    id,
    hash,
    plan,
    name,
    createdAt: created_at,
    expiresAt: expires_at ?? undefined,
    origins: typeof origins === 'string' ? JSON.parse(origins) : undefined,
    revokedAt: revoked_at ?? undefined,
  }
  assertStoredKey(key)
  return key
}
