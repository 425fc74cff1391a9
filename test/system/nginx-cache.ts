import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect } from 'vitest'

/** The form of nginx's files that is known here: `NGX_HTTP_CACHE_VERSION`. */
const VERSION = 5n
/** Where in a file there are 64 bits of: seconds since the Unix epoch, and durations in seconds. */
const AT = { version: 0, validUntil: 8, staleWhileRevalidate: 16, staleIfError: 24, keptAt: 40 }

/** For how many seconds nginx takes an answer that it keeps for fresh, and for how many more it may still serve it. */
export interface Kept {
  maxAge: number
  staleWhileRevalidate: number
  staleIfError: number
}

/** Resolves when nginx writes no file in a folder any more: an answer may be with its client before it is kept. */
export async function settled(folder: string): Promise<void> {
  const unfinished = (): string[] => readdirSync(folder).filter((name) => name.includes('.'))
  await expect.poll(unfinished, { timeout: 5_000, interval: 10 }).toEqual([])
}

/** Everything that nginx keeps in a folder. */
export function readKept(folder: string): Kept[] {
  return pathsIn(folder).map((path) => {
    const file = read(path)
    const numberAt = (offset: number): number => Number(file.readBigInt64LE(offset))
    return {
      maxAge: numberAt(AT.validUntil) - numberAt(AT.keptAt),
      staleWhileRevalidate: numberAt(AT.staleWhileRevalidate),
      staleIfError: numberAt(AT.staleIfError),
    }
  })
}

/** Makes everything that nginx keeps in a folder so many `seconds` older, as if they had passed. */
export function makeOlder(folder: string, seconds: number): void {
  for (const path of pathsIn(folder)) {
    const file = read(path)
    for (const offset of [AT.validUntil, AT.keptAt]) {
      file.writeBigInt64LE(file.readBigInt64LE(offset) - BigInt(seconds), offset)
    }
    writeFileSync(path, file)
  }
}

function pathsIn(folder: string): string[] {
  return readdirSync(folder).map((name) => join(folder, name))
}

function read(path: string): Buffer {
  const file = readFileSync(path)
  const version = file.readBigInt64LE(AT.version)
  if (version !== VERSION) throw new Error(`nginx writes files of version ${version}`)
  return file
}
