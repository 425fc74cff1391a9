import { DatabaseSync } from 'node:sqlite'

import { usedInMonth } from './shared-count.ts'

/**
 * Returns what each of `clients` has used in the month of `now` (ms since the Unix epoch), by the counters in the SQLite
 * database at `path`, in their order.
 *
 * @throws {Error} if the database cannot be opened
 */
export function readSqliteUsage(path: string, clients: readonly string[], now: number): number[] {
  const database = new DatabaseSync(path, { readOnly: true })
  try {
    const table = database.prepare("SELECT 1 FROM sqlite_master WHERE name = 'ratesmith_limits'")
    if (!table.get()) return clients.map(() => 0)
    const select = database.prepare('SELECT state FROM ratesmith_limits WHERE key = ?')
    return clients.map((client) => usedInMonth(select.get(client)?.['state'], now))
  } finally {
    database.close()
  }
}
