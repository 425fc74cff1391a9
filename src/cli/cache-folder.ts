import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

import type { CacheStore } from '../index.ts'
import type { CommandContext } from './context.ts'
import { ARCHIVE_KEY, KEYS, preload } from './preload.ts'
import { chooseProviders } from './provider-choice.ts'
import type { ProviderChoice, ProviderFlags } from './provider-choice.ts'

/** Returns the cache folder, which may not exist yet; `undefined` without a cache and home folder. */
export function cacheFolder({
  env,
  platform,
  home = findHome(),
}: Pick<CommandContext, 'env' | 'platform' | 'home'>): string | undefined {
  const chosen = env['RATESMITH_CACHE_DIR']
  if (chosen) return chosen
  if (platform === 'win32') {
    const local = env['LOCALAPPDATA']
    return local ? join(local, 'ratesmith', 'Cache') : undefined
  }
  const xdg = env['XDG_CACHE_HOME']
  // The XDG Base Directory Specification ignores relative paths.
  if (xdg && isAbsolute(xdg)) return join(xdg, 'ratesmith')
  if (!home) return undefined
  return join(home, ...(platform === 'darwin' ? ['Library', 'Caches'] : ['.cache']), 'ratesmith')
}

/**
 * Opens the store of rates fetched from the providers that the flags or the environment select; `undefined` without a cache folder.
 * Preloads the reference rates since 1999 if `hasArchive`.
 */
export async function openCache(
  { providers, hasArchive }: { providers: ProviderFlags; hasArchive: boolean },
  context: CommandContext,
): Promise<CacheStore | undefined> {
  const folder = cacheFolder(context)
  if (folder === undefined) return undefined
  const { createFileStore } = await import('../stores/file.ts')
  const store = createFileStore(
    join(folder, upstreamsName(chooseProviders(providers, context.env))),
  )
  return preload(store, hasArchive ? [...KEYS, ARCHIVE_KEY] : KEYS)
}

/** Names a separate cache for each combination of providers and URLs. */
function upstreamsName(choice: ProviderChoice): string {
  const text = JSON.stringify(choice)
  if (text === JSON.stringify(chooseProviders({}, {}))) return 'default'
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

function findHome(): string {
  try {
    return homedir() ?? ''
  } catch {
    // A user without an entry in the password database has no home folder.
    return ''
  }
}
