import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import type { CacheStore } from '../../index.ts'
import { createFileStore } from '../../stores/file.ts'
import { createRedisStore } from '../../stores/redis.ts'
import { cacheFolder } from '../cache-folder.ts'
import type { CommandContext } from '../context.ts'
import { connectRedis } from '../redis.ts'
import type { NamedRedis } from '../redis.ts'
import { messageOf } from '../usage-error.ts'
import type { CheckResult } from './check-result.ts'

/** Expiry of the test entry, in case it is not removed. */
const TRIAL_LIFETIME_MS = 10_000

/** Checks that the cache folder is readable and writable. */
export async function checkCache(context: CommandContext): Promise<CheckResult> {
  const folder = cacheFolder(context)
  const subject = `cache, ${folder ?? 'no folder'}`
  const advice = 'set RATESMITH_CACHE_DIR to a writable folder, or use --no-cache'
  if (folder === undefined) {
    return { subject, ok: false, found: 'no home or cache folder is set', advice }
  }
  try {
    mkdirSync(folder, { recursive: true })
    const trial = mkdtempSync(join(folder, 'doctor-'))
    try {
      await tryStore(createFileStore(trial))
    } finally {
      rmSync(trial, { recursive: true })
    }
    return { subject, ok: true, found: 'readable and writable', advice: null }
  } catch (error) {
    return { subject, ok: false, found: messageOf(error), advice }
  }
}

/**
 * Checks that a Redis stores values and grants leases.
 *
 * @throws {UsageError} for an invalid URL or a missing ioredis
 */
export async function checkRedis({ name, url }: NamedRedis): Promise<CheckResult> {
  const connection = await connectRedis({ name, url })
  const subject = `Redis, ${new URL(url).host}`
  try {
    await tryStore(createRedisStore(connection))
    return { subject, ok: true, found: 'stores values and grants leases', advice: null }
  } catch (error) {
    const advice = `check that Redis runs, and the host, port and password in ${name}`
    return { subject, ok: false, found: messageOf(error), advice }
  } finally {
    connection.close()
  }
}

async function tryStore(store: CacheStore): Promise<void> {
  const key = `ratesmith-doctor-${randomUUID()}`
  const expiresAt = Date.now() + TRIAL_LIFETIME_MS
  await store.set(key, key, expiresAt)
  if ((await store.get(key)) !== key) throw new Error('expected to read the value just written')
  if (!store.claim) return
  const leases = [await store.claim(key, expiresAt), await store.claim(key, expiresAt)]
  if (leases.filter(Boolean).length !== 1) {
    throw new Error('expected exactly one of two leases to be granted')
  }
}
