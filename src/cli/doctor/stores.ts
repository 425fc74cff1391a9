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

/** What is written lives so long, in ms, where it is not removed. */
const TRIAL_LIFETIME_MS = 10_000

/** Whether the user's cache can be written and read. */
export async function checkCache(context: CommandContext): Promise<CheckResult> {
  const folder = cacheFolder(context)
  const subject = `cache, ${folder ?? 'no folder'}`
  const advice = 'name a folder of your own in RATESMITH_CACHE_DIR, or say --no-cache'
  if (folder === undefined) return { subject, ok: false, found: 'there is no place for it', advice }
  try {
    mkdirSync(folder, { recursive: true })
    const trial = mkdtempSync(join(folder, 'doctor-'))
    try {
      await tryStore(createFileStore(trial))
    } finally {
      rmSync(trial, { recursive: true })
    }
    return { subject, ok: true, found: 'can be written and read', advice: null }
  } catch (error) {
    return { subject, ok: false, found: messageOf(error), advice }
  }
}

/**
 * Whether a Redis keeps texts and grants claims.
 *
 * @throws {UsageError} where its URL is none, or ioredis is missing
 */
export async function checkRedis({ name, url }: NamedRedis): Promise<CheckResult> {
  const connection = await connectRedis({ name, url })
  const subject = `Redis, ${new URL(url).host}`
  try {
    await tryStore(createRedisStore(connection))
    return { subject, ok: true, found: 'keeps texts and grants claims', advice: null }
  } catch (error) {
    const advice = `look whether it runs, and at the host, port and password in ${name}`
    return { subject, ok: false, found: messageOf(error), advice }
  } finally {
    connection.close()
  }
}

/** Rejects unless `store` gives back what it is given, and one claim of two. */
async function tryStore(store: CacheStore): Promise<void> {
  const key = `ratesmith-doctor-${randomUUID()}`
  const expiresAt = Date.now() + TRIAL_LIFETIME_MS
  await store.set(key, key, expiresAt)
  if ((await store.get(key)) !== key) throw new Error('it does not give back what it was given')
  if (!store.claim) return
  const claims = [await store.claim(key, expiresAt), await store.claim(key, expiresAt)]
  if (claims.filter(Boolean).length !== 1) throw new Error('it does not grant one claim of two')
}
