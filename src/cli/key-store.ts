import { statSync } from 'node:fs'

import type { WritableKeyStore } from '../access/file.ts'
import type { CommandContext } from './context.ts'
import { UsageError, messageOf } from './usage.ts'

export interface NamedFile {
  /** The flag or variable that set the path. */
  name: string
  path: string
}

/** @throws {UsageError} for an empty path */
export function findKeys(flag: string | undefined, env: NodeJS.ProcessEnv): NamedFile | undefined {
  if (flag === '') throw new UsageError('--keys must be a file, got ""')
  if (flag !== undefined) return { name: '--keys', path: flag }
  const path = env['RATESMITH_KEYS']
  return path ? { name: 'RATESMITH_KEYS', path } : undefined
}

/** @throws {UsageError} if the file does not exist, unless `mayCreate`, or if it cannot be opened */
export async function openKeyStore(
  { name, path }: NamedFile,
  { now }: Pick<CommandContext, 'now'>,
  mayCreate = false,
): Promise<WritableKeyStore> {
  const fail = (reason: string, cause?: unknown): never => {
    throw new UsageError(`${name}: ${reason}`, { cause })
  }
  if (!mayCreate && !exists(path)) {
    return fail(`${path} does not exist; create a key with: ratesmith keys create --keys ${path}`)
  }
  try {
    return (await import('../access/file.ts')).createFileKeyStore(path, { now })
  } catch (error) {
    return fail(messageOf(error), error)
  }
}

/** A group may read it, as in a secret mounted into a container. False if it does not exist. */
export function isShared(path: string, { platform }: Pick<CommandContext, 'platform'>): boolean {
  // Windows has no such modes.
  if (platform === 'win32') return false
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && (found.mode & 0o027) !== 0
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}
