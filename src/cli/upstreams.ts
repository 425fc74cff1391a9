import { createUndiciFetch } from '../undici.ts'
import type { HistoryProvider, LatestProvider } from '../index.ts'
import { fakeProviders } from '../testing/fake-providers.ts'
import { platform } from './context.ts'
import type { CommandContext } from './context.ts'
import { loadProvider, loadProviders } from './providers.ts'
import type { Access, NamedProvider } from './providers.ts'
import { UsageError, parseNames, withUsageError } from './usage.ts'

export interface Upstreams {
  providers: { latest: LatestProvider[]; history: HistoryProvider[] }
  fetch: typeof fetch | undefined
  now: () => number
}

export interface UpstreamFlags {
  demo: boolean
  pegs: boolean
  providers: ProviderFlags
}

export type OwnProviders = Partial<Upstreams['providers']>

/** @throws {UsageError} naming the invalid flag or variable */
export async function chooseUpstreams(
  flags: UpstreamFlags,
  context: CommandContext,
  own: OwnProviders = {},
): Promise<Upstreams> {
  const upstreams = await choosePublished(flags, context, own)
  if (!flags.pegs) return upstreams
  const { pegged } = await import('../providers/derived.ts')
  const { latest, history } = upstreams.providers
  return {
    ...upstreams,
    providers: {
      latest: latest.map((each) => pegged(each)),
      history: history.map((each) => pegged(each)),
    },
  }
}

async function choosePublished(
  { demo, providers }: UpstreamFlags,
  { env, now, fetch }: CommandContext,
  own: OwnProviders,
): Promise<Upstreams> {
  if (demo) {
    requireNoNames(providers)
    const { latest, history } = fakeProviders()
    return { providers: { latest: [latest], history: [history] }, fetch, now }
  }
  const choice = await chooseProviders(providers, env, own)
  const [latest, history] = await Promise.all([
    Promise.all(
      choice.latest.map((each) => create(each, env, URL_VARIABLES.latest, (named) => named.latest)),
    ),
    Promise.all(
      choice.history.map((each) =>
        create(each, env, URL_VARIABLES.history, (named) => named.history),
      ),
    ),
  ])
  // Providers of a file may have any roots.
  const roots = [
    ...choice.latest,
    ...choice.history,
    ...Object.keys(own).map(() => ({ url: undefined })),
  ].map(({ url }) => url)
  return {
    providers: { latest: own.latest ?? latest, history: own.history ?? history },
    fetch: fetch ?? (await fetchThroughProxy(roots, env)),
    now,
  }
}

function requireNoNames(providers: ProviderFlags): void {
  const [named] = Object.entries(providers).filter(([, names]) => names !== undefined)
  if (named) throw new UsageError(`--demo cannot be combined with --${named[0]}`)
}

async function create<Provider>(
  { name, url }: Choice,
  env: NodeJS.ProcessEnv,
  variable: string,
  factoryOf: (named: NamedProvider) => ((access: Access) => Provider) | undefined,
): Promise<Provider> {
  const named = await loadProvider(name)
  const make = named && factoryOf(named)
  if (!make) throw new UsageError(`unknown provider ${name}`)
  const { keyVariable } = named
  if (keyVariable === undefined) return withUsageError(variable, () => make({ url }))
  const key = env[keyVariable]
  if (!key) throw new UsageError(`${name} needs a key: set ${keyVariable}`)
  // Checks the key without the root first, so that an invalid root is not reported as an invalid key.
  withUsageError(keyVariable, () => make({ key }))
  return withUsageError(variable, () => make({ key, url }))
}

/** Returns a `fetch` that uses the environment's proxies; `undefined` without proxies, or if the runtime uses them itself. */
async function fetchThroughProxy(
  roots: readonly (string | undefined)[],
  env: NodeJS.ProcessEnv,
): Promise<typeof fetch | undefined> {
  const isPlain = (root: string | undefined): boolean => /^http:/i.test(root ?? '')
  const variables = [
    ...(roots.every(isPlain) ? [] : ['HTTPS_PROXY', 'https_proxy']),
    ...(roots.some(isPlain) ? ['HTTP_PROXY', 'http_proxy'] : []),
  ].filter((name) => env[name])
  for (const variable of variables) requireProxy(variable, env[variable] ?? '')
  const [variable] = variables
  // Bun and Deno use these variables themselves.
  if (variable === undefined || platform !== 'node') return undefined
  return createUndiciFetch({ proxy: 'environment' }).catch((error: Error) => {
    throw new UsageError(`${variable}: ${error.message}`, { cause: error })
  })
}

/** Some runtimes ignore an invalid URL and connect without the proxy. */
function requireProxy(variable: string, url: string): void {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return
  throw new UsageError(`${variable} must be an http(s) URL`)
}

type ProvidedData = 'latest' | 'history'

/** The values of `--latest` and `--history`: comma-separated provider names. */
export type ProviderFlags = Partial<Record<ProvidedData, string | undefined>>

interface Choice {
  name: string
  url: string | undefined
}

/** The selected providers, in order of preference. */
type ProviderChoice = Record<ProvidedData, Choice[]>

const DEFAULT_NAMES: Readonly<Record<ProvidedData, string>> = {
  latest: 'exchange-rate-api',
  history: 'frankfurter',
}

const NAME_VARIABLES = { latest: 'RATESMITH_LATEST', history: 'RATESMITH_HISTORY' } as const

export const URL_VARIABLES = {
  latest: 'RATESMITH_LATEST_URL',
  history: 'RATESMITH_HISTORY_URL',
} as const

/** @throws {UsageError} naming the invalid flag or variable and the accepted names */
export async function chooseProviders(
  flags: ProviderFlags,
  env: NodeJS.ProcessEnv,
  own: OwnProviders = {},
): Promise<ProviderChoice> {
  return {
    latest: own.latest ? [] : await choose('latest', flags, env),
    history: own.history ? [] : await choose('history', flags, env),
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
