import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readFile, readdir, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'

import type { CacheStore } from '../cache/store.ts'

/** How much older than a new file an unfinished one must be to have been left behind, in ms: writing takes far less. */
const MAX_UNFINISHED_MS = 60_000

const UNFINISHED = /-[0-9a-f]{32}\.cache\.[0-9a-f-]{36}\.tmp$/

/**
 * A store of one file per key in `folder`, for one process or a few on one machine (Node, Bun and Deno). The folder is
 * made when it is first written to. A file is replaced in one step: whoever reads, even after a crash or a power cut,
 * finds an earlier text or the new one, whole. What a killed writer left unfinished is removed by the first `set` of a
 * later store.
 *
 * Nothing expires: a key's file stays until it is overwritten, which suits a handler, whose keys are three. There are no
 * claims: processes that share a folder share what they fetched, but two may fetch at the same time.
 *
 * `get` rejects where a file is there and cannot be read, or is a folder, a pipe or a device; `set` rejects where it cannot be
 * written. A file is for its owner alone (mode 0600).
 *
 * @throws {TypeError} where `folder` is not a path
 */
export function createFileStore(folder: string): CacheStore {
  if (typeof folder !== 'string' || folder === '') {
    throw new TypeError(`folder must be the path of a folder, got ${String(folder) || 'nothing'}`)
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
      // One after another, so that of two texts for one key the one set last stays.
      const written = lastWrite.then(() => write(key, value))
      lastWrite = written.catch(() => undefined)
      return written
    },
  }
}

/** A name for eyes and a digest that tells keys apart on every file system, whatever they hold and however long they are. */
function fileName(key: string): string {
  const readable = key.toLowerCase().match(/[a-z0-9]+/g) ?? ['key']
  const digest = createHash('sha256').update(key, 'utf16le').digest('hex')
  return `${readable.join('-').slice(0, 60)}-${digest.slice(0, 32)}.cache`
}

/** Returns the text of the file at `path`, or nothing where there is none. */
async function readRegularFile(path: string): Promise<string | undefined> {
  const found = await unlessMissing(stat(path))
  if (!found) return undefined
  // To open a pipe takes a thread of the runtime until there is a writer, and the process could not end before.
  if (!found.isFile()) throw new Error(`${path} is not a regular file`)
  return unlessMissing(readFile(path, 'utf8'))
}

/** Puts `text` in the place of the file at `path` and returns when it was written, by the file system's clock in ms. */
async function replaceFile(path: string, text: string): Promise<number> {
  const unfinished = `${path}.${randomUUID()}.tmp`
  try {
    const writtenAt = await writeThrough(unfinished, text)
    await rename(unfinished, path)
    return writtenAt
  } catch (error) {
    // What went wrong first is the error to tell; a file that cannot be removed now is removed as left behind.
    await rm(unfinished, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Writes a new file and waits for the disk: a rename could otherwise outlive a power cut that the text does not. */
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

/** Removes the unfinished files in `root` that were last written before `before`, by the file system's clock in ms. */
async function removeUnfinished(root: string, before: number): Promise<void> {
  for (const name of await readdir(root)) {
    if (!UNFINISHED.test(name)) continue
    const path = join(root, name)
    const found = await unlessMissing(stat(path))
    if (found && found.mtimeMs < before) await rm(path, { force: true })
  }
}

/** What `found` resolves to, or nothing where there is no such file. */
async function unlessMissing<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found
  } catch (error) {
    if (Object(error).code === 'ENOENT') return undefined
    throw error
  }
}
