import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/**
 * At most about 3 s in all, once, before the first request is served. SQLite does not apply its busy timeout to the switch
 * to a write-ahead log, hence the attempts.
 */
const SETUP_ATTEMPTS = 20
const SETUP_BUSY_TIMEOUT_MS = 100

/** Short, because a waiting operation blocks this process. */
const BUSY_TIMEOUT_MS = 20

export interface OpenDatabase<Prepared> {
  database: DatabaseSync
  prepared: Prepared
}

/**
 * Opens the SQLite database at `path`, or in memory for `:memory:`; creates it with mode 0600 if it does not exist. Runs
 * the statements of `schema`, which must permit repetition, then `prepare`. Later statements wait at most 20 ms for a lock.
 *
 * @throws {TypeError} if `path` is not a path
 * @throws {Error} naming `path`, if a database cannot be opened or created there
 */
export function openDatabase<Prepared>(
  path: string,
  schema: string,
  prepare: (database: DatabaseSync) => Prepared,
): OpenDatabase<Prepared> {
  // For SQLite, an empty path means a private temporary file.
  if (typeof path !== 'string' || path === '') {
    throw new TypeError(`path must be a non-empty file path, got ${JSON.stringify(path)}`)
  }
  let database: DatabaseSync | undefined
  try {
    createPrivateFile(path)
    database = new DatabaseSync(path)
    setUp(database, schema)
    return { database, prepared: prepare(database) }
  } catch (error) {
    database?.close()
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`cannot open the SQLite database ${path}: ${reason}`, { cause: error })
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

function setUp(database: DatabaseSync, schema: string): void {
  // With a write-ahead log, readers never wait for a writer. NORMAL rarely waits for the disk: a killed process loses
  // nothing, a power cut at most the last values, and the file stays intact.
  const setup = `
    PRAGMA busy_timeout = ${SETUP_BUSY_TIMEOUT_MS};
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    ${schema}
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
