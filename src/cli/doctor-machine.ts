import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import manifest from 'ratesmith/package.json' with { type: 'json' }

import type { CacheStore } from '../index.ts'
import { createFileStore } from '../stores/file.ts'
import { platform } from './context.ts'
import type { CommandContext } from './context.ts'
import { failed, passed } from './doctor-providers.ts'
import type { CheckResult } from './doctor-providers.ts'
import { cacheFolder } from './session.ts'
import { isDatabase, isRedis, makeFolder, openStore } from './store.ts'
import type { NamedStore } from './store.ts'
import { messageOf } from './usage.ts'

/** Reports the runtime; its minimum version is checked before. */
export function checkRuntime({ versions }: CommandContext): CheckResult {
  const name = platform.replace(/^./, (letter) => letter.toUpperCase())
  const version = `${name} ${versions[platform] ?? ''}`
  return passed('runtime', `${version}, ratesmith ${manifest.version}`)
}

export function checkProxies(env: NodeJS.ProcessEnv): CheckResult[] {
  const all = ['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY']
  const names = all.flatMap((name) => [name, name.toLowerCase()]).filter((name) => env[name])
  if (names.length === 0) return []
  return [passed('proxies', names.map((name) => `${name}=${env[name]}`).join(' '))]
}

export async function checkCache(context: CommandContext): Promise<CheckResult> {
  const folder = cacheFolder(context)
  const advice = 'set RATESMITH_CACHE_DIR to a writable folder, or use --no-cache'
  if (folder !== undefined) return checkFolder(`cache, ${folder}`, folder, advice)
  return failed('cache, no folder', 'no home or cache folder is set', advice)
}

/** @throws {UsageError} for an invalid URL or a missing ioredis */
export async function checkStore({ name, place }: NamedStore): Promise<CheckResult> {
  if (!isRedis(place) && !isDatabase(place)) {
    return checkFolder(`store, ${place}`, place, `set ${name} to a writable folder`)
  }
  const { store, close } = await openStore({ name, place })
  const [subject, advice] = isRedis(place)
    ? [
        `Redis, ${new URL(place).host}`,
        `check that Redis runs, and the host, port and password in ${name}`,
      ]
    : [`store, ${place}`, `check that ${name} is a database that this user can write`]
  return trial(subject, advice, () => tryStore(store).finally(close))
}

function checkFolder(subject: string, folder: string, advice: string): Promise<CheckResult> {
  return trial(subject, advice, async () => {
    makeFolder(folder)
    const created = mkdtempSync(join(folder, 'doctor-'))
    const remove = (): void => rmSync(created, { recursive: true })
    await tryStore(createFileStore(created)).finally(remove)
  })
}

async function trial(
  subject: string,
  advice: string,
  work: () => Promise<void>,
): Promise<CheckResult> {
  try {
    await work()
    return passed(subject, 'readable and writable')
  } catch (error) {
    return failed(subject, messageOf(error), advice)
  }
}

/** Expiry of the test entry, in case it is not removed. */
const TRIAL_LIFETIME_MS = 10_000

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
