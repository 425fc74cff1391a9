import { loadProvider, loadProviders } from './providers.ts'
import { UsageError, parseNames } from './usage.ts'

/** The two sets of data, each of which has providers. */
export type ProvidedData = 'latest' | 'history'

/** The values of `--latest` and `--history`: comma-separated provider names. */
export type ProviderFlags = Partial<Record<ProvidedData, string | undefined>>

/** A selected provider. */
export interface Choice {
  name: string
  /** Root URL that replaces the provider's default. */
  url: string | undefined
}

/** The selected providers, in order of preference. */
export type ProviderChoice = Record<ProvidedData, Choice[]>

const DEFAULT_NAMES: Readonly<Record<ProvidedData, string>> = {
  latest: 'exchange-rate-api',
  history: 'frankfurter',
}

const NAME_VARIABLES = { latest: 'RATESMITH_LATEST', history: 'RATESMITH_HISTORY' } as const
/** The variables with root URLs, by data set. */
export const URL_VARIABLES = {
  latest: 'RATESMITH_LATEST_URL',
  history: 'RATESMITH_HISTORY_URL',
} as const

/**
 * Resolves to the providers that `flags` select, or else `env`.
 *
 * @throws {UsageError} naming the invalid flag or variable and the accepted names
 */
export async function chooseProviders(
  flags: ProviderFlags,
  env: NodeJS.ProcessEnv,
): Promise<ProviderChoice> {
  return {
    latest: await choose('latest', flags, env),
    history: await choose('history', flags, env),
  }
}

async function choose(
  data: ProvidedData,
  flags: ProviderFlags,
  env: NodeJS.ProcessEnv,
): Promise<Choice[]> {
  const flag = flags[data]
  const origin = flag === undefined ? NAME_VARIABLES[data] : `--${data}`
  const list = flag ?? (env[NAME_VARIABLES[data]] || DEFAULT_NAMES[data])
  const names = parseNames(origin, list, await knownNames(data, list))
  const urls = readUrls(URL_VARIABLES[data], names, env)
  return names.map((name, index) => ({ name, url: urls[index] || undefined }))
}

/** Resolves to the names in `list` if all are known, and otherwise to every name, for a message. */
async function knownNames(data: ProvidedData, list: string): Promise<string[]> {
  const named = await Promise.all(list.split(',').map((name) => loadProvider(name.trim())))
  const isKnown = named.every((provider) => provider?.[data])
  const providers = isKnown ? named : await loadProviders()
  return providers.flatMap((provider) => (provider?.[data] ? [provider.name] : []))
}

/** Returns one root per provider; empty for the default. A single root may contain commas. */
function readUrls(variable: string, names: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const text = env[variable]
  if (!text) return []
  const urls = names.length === 1 ? [text] : text.split(',').map((url) => url.trim())
  if (urls.length === names.length) return urls
  throw new UsageError(
    `${variable} must be a comma-separated list with a root, or an empty entry, for each of ${names.join(', ')}`,
  )
}
