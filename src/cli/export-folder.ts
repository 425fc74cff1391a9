import { createHash, randomUUID } from 'node:crypto'
import { open, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { unlessMissing } from '../stores/file/missing.ts'
import { makeFolder } from './store.ts'

/** A file of `index.json`. */
interface IndexedFile {
  name: string
  size: number
  sha256: string
}

/** What an export has changed. */
interface Exported {
  /** Number of files that were written, without `index.json` and its copy of `latest`. */
  changed: number
  /** SHA-256 of `index.json`, as 64 hexadecimal digits. */
  sha256: string
}

/** A folder that one process may write. */
export interface ExportFolder {
  /** Writes a file of this text, unless the folder has it. The digest comes before the ending: `days/2026.1a2b3c4d.csv`. */
  add(name: string, ending: string, text: string): Promise<void>
  /** Makes the added files those of the folder, in one step. */
  publish(since: string): Promise<Exported>
  /** Lets others write. */
  close(): Promise<void>
}

const OURS =
  /^(?:(?:latest|currencies|sources)\.[0-9a-f]{8}\.json|days\/\d{4}\.[0-9a-f]{8}\.(?:ndjson|csv))$/

const LOCK = /^export\.([\w-]*)\.(\d+)\.[0-9a-f-]{36}\.lock$/

/** A writer waits some 2 s for another one. */
const LOCK_ATTEMPTS = 16
const LOCK_INTERVAL_MS = 125

/** A year of days takes less, and then the lock is touched. */
const MAX_LOCK_MS = 3_600_000

const MAX_INDEX_BYTES = 1024 * 1024

/**
 * Opens a folder for an export, and creates it as needed.
 *
 * @throws {Error} if another process writes to it, or its `index.json` is of another program
 */
export async function openExportFolder(root: string): Promise<ExportFolder> {
  makeFolder(join(root, 'days'))
  const { touch, release } = await acquire(root)
  const indexPath = join(root, 'index.json')
  const files: IndexedFile[] = []
  let changed = 0
  let latest: Buffer = Buffer.of()
  try {
    await namesIn(indexPath)
  } catch (error) {
    await release()
    throw error
  }

  return {
    async add(name, ending, text) {
      await touch()
      const bytes = Buffer.from(text)
      const sha256 = digestOf(bytes)
      const file = { name: `${name}.${sha256.slice(0, 8)}.${ending}`, size: bytes.length, sha256 }
      if (name === 'latest') latest = bytes
      if (await replace(join(root, file.name), bytes)) changed += 1
      files.push(file)
    },
    async publish(since) {
      await touch()
      files.sort((one, other) => (one.name < other.name ? -1 : 1))
      const index = Buffer.from(JSON.stringify({ version: 1, since, files }))
      const kept = [...files.map(({ name }) => name), ...(await namesIn(indexPath))]
      for (const folder of [join(root, 'days'), root]) await syncFolder(folder)
      const isNew = await replace(indexPath, index)
      await replace(join(root, 'latest.json'), latest)
      await syncFolder(root)
      // Readers may still use the index before one that has not changed.
      await sweep(root, (name) => !isNew || kept.includes(name))
      return { changed, sha256: digestOf(index) }
    },
    close: release,
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Returns the files of an index; none of a missing or torn one. */
async function namesIn(path: string): Promise<string[]> {
  const { size = 0 } = (await unlessMissing(stat(path))) ?? {}
  const text = size > MAX_INDEX_BYTES ? '{}' : ((await unlessMissing(readFile(path, 'utf8'))) ?? '')
  let index: unknown
  try {
    index = JSON.parse(text)
  } catch {
    return []
  }
  const { version, files }: { version?: unknown; files?: unknown } = Object(index)
  if (version === 1 && Array.isArray(files)) return files.map((each) => String(Object(each).name))
  throw new Error(`${path} is not an index of version 1 of ratesmith export: use another folder`)
}

/** Returns whether the file was another one, or damaged. A reader sees the old or the new bytes, also after a power cut. */
async function replace(path: string, bytes: Buffer): Promise<boolean> {
  const { size } = (await unlessMissing(stat(path))) ?? {}
  if (size === bytes.length && bytes.equals(await readFile(path))) return false
  const unfinished = `${path}.tmp`
  try {
    const file = await open(unfinished, 'w')
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(unfinished, path)
  } catch (error) {
    // The first error counts. What cannot be removed now is removed by the next export.
    await rm(unfinished, { force: true }).catch(() => undefined)
    throw error
  }
  return true
}

/** Makes renames survive a power cut. */
async function syncFolder(path: string): Promise<void> {
  // Windows opens no folders.
  if (process.platform === 'win32') return
  const folder = await open(path)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Removes temporary files, and those of exports that are not kept. Others are the user's. */
async function sweep(root: string, isKept: (name: string) => boolean): Promise<void> {
  for (const folder of ['', 'days/']) {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const name = `${folder}${entry.name}`
      const target = name.replace(/\.tmp$/, '')
      const isUnfinished =
        target !== name && (OURS.test(target) || /^(?:index|latest)\.json$/.test(target))
      const isLeft = OURS.test(name) && !isKept(name)
      if (entry.isFile() && (isUnfinished || isLeft)) await rm(join(root, name), { force: true })
    }
  }
}

interface Lock {
  /** Rejects if the lock is gone. */
  touch(): Promise<void>
  release(): Promise<void>
}

/**
 * Each process adds its lock file before it looks for others: of two at the same time, both wait. A lock is removed by its
 * process, or by others after the process has ended.
 */
async function acquire(root: string): Promise<Lock> {
  const host = hostname().replaceAll(/[^\w-]/g, '_')
  const path = join(root, `export.${host}.${process.pid}.${randomUUID()}.lock`)
  const touch = (): Promise<void> => writeFile(path, '.', { flag: 'r+' })
  const release = (): Promise<void> => rm(path, { force: true })
  let other: string | undefined
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt += 1) {
    await writeFile(path, '.')
    other = await findLock(root, path, host)
    if (other === undefined) return { touch, release }
    await release()
    await sleep(LOCK_INTERVAL_MS * (0.5 + Math.random()))
  }
  throw new Error(`another export writes to ${root}; if none does, remove ${other}`)
}

/** Returns the lock of another process that may run; removes those of processes that have ended. */
async function findLock(root: string, own: string, host: string): Promise<string | undefined> {
  const { mtimeMs: now } = await stat(own)
  for (const name of await readdir(root)) {
    const path = join(root, name)
    const [, otherHost, pid] = LOCK.exec(name) ?? []
    const found = pid === undefined || path === own ? undefined : await unlessMissing(stat(path))
    if (!found) continue
    const isRecent = now - found.mtimeMs < MAX_LOCK_MS
    if (isRecent && (otherHost !== host || isRunning(Number(pid)))) return path
    await rm(path, { force: true })
  }
  return undefined
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return Object(error).code !== 'ESRCH'
  }
}
