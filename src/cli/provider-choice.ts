import { didYouMean, nearest } from '../known-options.ts'
import { PROVIDERS } from './providers.ts'
import { UsageError } from './usage.ts'

type ProvidedData = 'latest' | 'history'

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
 * Returns the providers that `flags` select, or else `env`.
 *
 * @throws {UsageError} naming the invalid flag or variable and the accepted names
 */
export function chooseProviders(flags: ProviderFlags, env: NodeJS.ProcessEnv): ProviderChoice {
  return { latest: choose('latest', flags, env), history: choose('history', flags, env) }
}

function namesOf(data: ProvidedData): string[] {
  return Object.keys(PROVIDERS).filter((name) => PROVIDERS[name]?.[data] !== undefined)
}

function choose(data: ProvidedData, flags: ProviderFlags, env: NodeJS.ProcessEnv): Choice[] {
  const flag = flags[data]
  const origin = flag === undefined ? NAME_VARIABLES[data] : `--${data}`
  const list = flag ?? (env[NAME_VARIABLES[data]] || DEFAULT_NAMES[data])
  const names = list.split(',').map((name) => name.trim())
  for (const name of names) requireName(name, { data, origin })
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw new UsageError(`${origin} contains ${repeated} twice`)
  const urls = readUrls(URL_VARIABLES[data], names, env)
  return names.map((name, index) => ({ name, url: urls[index] || undefined }))
}

function requireName(name: string, { data, origin }: { data: ProvidedData; origin: string }): void {
  const accepted = namesOf(data)
  if (accepted.includes(name)) return
  const list = `${accepted.slice(0, -1).join(', ')} or ${accepted.at(-1)}`
  // A short name with several wrong letters could be any of them.
  const near = nearest(name, accepted, Math.min(3, Math.floor(name.length / 2)))
  throw new UsageError(`${origin} must be ${list}, got ${name || '""'}${didYouMean(near)}`)
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
