import { didYouMean, nearest } from '../nearest.ts'
import { PROVIDERS } from './providers.ts'
import { UsageError } from './usage-error.ts'

/** What there are providers of. */
type Provided = 'latest' | 'history'

/** The lists of names that flags give. */
export type ProviderFlags = Partial<Record<Provided, string | undefined>>

/** One provider that is to be asked. */
export interface Choice {
  name: string
  /** Another root than its own. */
  url: string | undefined
}

/** Whom to ask, in order of preference. */
export type ProviderChoice = Record<Provided, Choice[]>

/** Whom to ask where nobody says. */
const DEFAULT_NAMES: Readonly<Record<Provided, string>> = {
  latest: 'exchange-rate-api',
  history: 'frankfurter',
}

/** The variables that name providers, and those with their roots. */
const NAME_VARIABLES = { latest: 'RATESMITH_LATEST', history: 'RATESMITH_HISTORY' } as const
export const URL_VARIABLES = {
  latest: 'RATESMITH_LATEST_URL',
  history: 'RATESMITH_HISTORY_URL',
} as const

/**
 * The providers that `flags`, or else `env`, name.
 *
 * @throws {UsageError} naming the flag or the variable that cannot be used, with the names that can
 */
export function chooseProviders(flags: ProviderFlags, env: NodeJS.ProcessEnv): ProviderChoice {
  return { latest: choose('latest', flags, env), history: choose('history', flags, env) }
}

/** Those of `provided` that the command line knows. */
function namesOf(provided: Provided): string[] {
  return Object.keys(PROVIDERS).filter((name) => PROVIDERS[name]?.[provided] !== undefined)
}

function choose(provided: Provided, flags: ProviderFlags, env: NodeJS.ProcessEnv): Choice[] {
  const flag = flags[provided]
  const teller = flag === undefined ? NAME_VARIABLES[provided] : `--${provided}`
  const list = flag ?? (env[NAME_VARIABLES[provided]] || DEFAULT_NAMES[provided])
  const names = list.split(',').map((name) => name.trim())
  for (const name of names) requireName(name, { provided, teller })
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new UsageError(`${teller} names ${twice} twice`)
  const urls = readUrls(URL_VARIABLES[provided], names, env)
  return names.map((name, index) => ({ name, url: urls[index] || undefined }))
}

function requireName(
  name: string,
  { provided, teller }: { provided: Provided; teller: string },
): void {
  const fitting = namesOf(provided)
  if (fitting.includes(name)) return
  const list = `${fitting.slice(0, -1).join(', ')} or ${fitting.at(-1)}`
  // In a short name, another letter leaves too little to go by.
  const meant = didYouMean(nearest(name, fitting, Math.min(3, Math.floor(name.length / 2))))
  throw new UsageError(`${teller} must name ${list}, got ${name || 'nothing'}${meant}`)
}

/** The roots of the providers: one text for one; for several, separated by commas, and nothing for one's own. */
function readUrls(variable: string, names: readonly string[], env: NodeJS.ProcessEnv): string[] {
  const text = env[variable]
  if (!text) return []
  const urls = names.length === 1 ? [text] : text.split(',').map((url) => url.trim())
  if (urls.length === names.length) return urls
  throw new UsageError(
    `${variable} must have a root, or nothing, for each of ${names.join(', ')}, separated by commas`,
  )
}
