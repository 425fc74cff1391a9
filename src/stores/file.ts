import { randomUUID } from 'node:crypto'
import { mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import type { CacheStore } from '../cache/store.ts'
import { unlessMissing } from './file/missing.ts'
import { fileName } from './file/name.ts'

/** A temporary file older than this comes from a killed process: a write takes far less. */
const MAX_UNFINISHED_MS = 60_000

const UNFINISHED = /-[0-9a-f]{32}\.cache\.[0-9a-f-]{36}\.tmp$/

/**
 * Creates a store with one file per key in `folder`, for one process or a few on one machine (Node, Bun and Deno). The
 * first write creates the folder. Writes are atomic: after a crash or a power cut, `get` returns the earlier or the new
 * value, never a part of one. The first `set` of a later store removes temporary files of killed processes.
 *
 * Entries never expire: a file stays until it is overwritten. A handler has three keys, and some hundreds with the history
 * of a bank. The store has no `claim` method: processes share the fetched rates, but two may fetch at the same time.
 *
 * `get` rejects if the file exists but cannot be read, or is a directory, a pipe or a device. `set` rejects if the file
 * cannot be written. Files have mode 0600.
 *
 * @throws {TypeError} if `folder` is not a path
 * @example
 * ```ts
 * import { createRatesHandler } from 'ratesmith'
 * import { createFileStore } from 'ratesmith/stores/file'
 *
 * const handler = createRatesHandler({ store: createFileStore('./cache') })
 * ```
 */
export function createFileStore(folder: string): CacheStore {
  if (typeof folder !== 'string' || folder === '') {
    throw new TypeError(`folder must be a non-empty path, got ${JSON.stringify(folder)}`)
  }
  const root = resolve(folder)
  let lastWrite: Promise<unknown> = Promise.resolve()
  let isSwept = false

  async function write(key: string, value: string): Promise<void> {
    await mkdir(root, { recursive: true })
    const writtenAt = await replaceFile(join(root, fileName(key)), value)
    if (isSwept) return
    isSwept = true
    await removeUnfinished(root, writtenAt - MAX_UNFINISHED_MS)
  }

  return {
    get: (key) => readRegularFile(join(root, fileName(key))),
    set(key, value) {
      // One after another, so that the value set last for a key wins.
      const written = lastWrite.then(() => write(key, value))
      lastWrite = written.catch(() => undefined)
      return written
    },
  }
}

async function readRegularFile(path: string): Promise<string | undefined> {
  const found = await unlessMissing(stat(path))
  if (!found) return undefined
  // Opening a pipe would block a thread of the runtime, and the end of the process, until a writer opens it.
  if (!found.isFile()) throw new Error(`${path} is not a regular file`)
  return unlessMissing(readFile(path, 'utf8'))
}

/** Resolves to the time of the write, in ms by the file system's clock. */
async function replaceFile(path: string, text: string): Promise<number> {
  const unfinished = `${path}.${randomUUID()}.tmp`
  try {
    const writtenAt = await writeThrough(unfinished, text)
    await rename(unfinished, path)
    return writtenAt
  } catch (error) {
    // The first error counts. A file that cannot be removed now is removed later by `removeUnfinished`.
    await rm(unfinished, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Waits for the disk: otherwise the rename could survive a power cut and the text not. */
async function writeThrough(path: string, text: string): Promise<number> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.datasync()
    return (await file.stat()).mtimeMs
  } finally {
    await file.close()
  }
}

/** `before` is in ms by the file system's clock. */
async function removeUnfinished(root: string, before: number): Promise<void> {
  for (const name of await readdir(root)) {
    if (!UNFINISHED.test(name)) continue
    const path = join(root, name)
    const found = await unlessMissing(stat(path))
    if (found && found.mtimeMs < before) await rm(path, { force: true })
  }
}
