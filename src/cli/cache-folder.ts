import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

import type { CacheStore } from '../index.ts'
import type { CommandContext } from './context.ts'
import { chooseProviders } from './provider-choice.ts'
import type { ProviderChoice, ProviderFlags } from './provider-choice.ts'
import { ARCHIVE_KEY, KEYS, readAhead } from './read-ahead.ts'

/** The folder of the cache, whether it is there or not; `undefined` where the user has no place for one. */
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
  // A relative one is to be ignored, says the XDG Base Directory Specification.
  if (xdg && isAbsolute(xdg)) return join(xdg, 'ratesmith')
  if (!home) return undefined
  return join(home, ...(platform === 'darwin' ? ['Library', 'Caches'] : ['.cache']), 'ratesmith')
}

/**
 * The store of what was fetched from the upstreams that the flags or the environment name, with the reference rates since 1999 at hand
 * where `hasArchive`; `undefined` where there is no place for it.
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
  return readAhead(store, hasArchive ? [...KEYS, ARCHIVE_KEY] : KEYS)
}

/** A name for the upstreams of `choice`: data of one must not be taken for data of another. */
function upstreamsName(choice: ProviderChoice): string {
  const text = JSON.stringify(choice)
  if (text === JSON.stringify(chooseProviders({}, {}))) return 'default'
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

function findHome(): string {
  try {
    return homedir() ?? ''
  } catch {
    // A user without an entry has none.
    return ''
  }
}
