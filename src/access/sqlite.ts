import type { Counters } from './counters.ts'

export { createSqliteKeyStore } from './sqlite-keys.ts'
export type { KeyStoreOptions, StoredKey, WritableKeyStore } from './stored-keys.ts'

/** Creates counters in the SQLite database at `path`. */
export function createSqliteCounters(path: string): Counters {
  throw new Error(`not implemented: ${path}`)
}
