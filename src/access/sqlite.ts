import type { Counters } from './counters.ts'
import type { KeyStore } from './keys.ts'

/** Creates a key store in the SQLite database at `path`. */
export function createSqliteKeyStore(path: string): KeyStore {
  throw new Error(`not implemented: ${path}`)
}

/** Creates counters in the SQLite database at `path`. */
export function createSqliteCounters(path: string): Counters {
  throw new Error(`not implemented: ${path}`)
}
