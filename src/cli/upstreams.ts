import { createUndiciFetch } from '../undici.ts'
import { fakeProviders } from '../testing/fake-providers.ts'
import { platform } from './context.ts'
import type { CommandContext } from './context.ts'
import { loadProvider, loadProviders } from './providers.ts'
import type { DataSet, Providers } from './providers.ts'
import { UsageError, parseNames, refuseWith, withUsageError } from './usage.ts'

type ProviderLists = { [Data in DataSet]: Providers[Data][] }

export interface Upstreams {
  providers: ProviderLists
  fetch: typeof fetch | undefined
  now: () => number
}

/** The values of `--latest` and `--history`: comma-separated provider names. */
export type ProviderFlags = Partial<Record<DataSet, string | undefined>>

export interface UpstreamFlags extends ProviderFlags {
  demo?: boolean | undefined
  pegs?: boolean | undefined
}

export type OwnProviders = Partial<ProviderLists>

/** @throws {UsageError} naming the invalid flag or variable */
export async function chooseUpstreams(
  flags: UpstreamFlags,
  context: CommandContext,
  own: OwnProviders = {},
): Promise<Upstreams> {
  const { demo, pegs } = flags
  if (demo) refuseWith('--demo', { latest: flags.latest, history: flags.history })
  const upstreams = demo ? synthetic(context) : await choosePublished(flags, context, own)
  if (!pegs) return upstreams
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

function synthetic({ fetch, now }: CommandContext): Upstreams {
  const { latest, history } = fakeProviders()
  return { providers: { latest: [latest], history: [history] }, fetch, now }
}

async function choosePublished(
  flags: ProviderFlags,
  context: CommandContext,
  own: OwnProviders,
): Promise<Upstreams> {
  const { env, now } = context
  const chosen = await chooseProviders(flags, env, own)
  const create = <Data extends DataSet>(data: Data): Promise<Providers[Data][]> =>
    Promise.all(chosen[data].map((choice) => createProvider(data, choice, env)))
  const [latest, history] = await Promise.all([create('latest'), create('history')])
  // Providers of a file may have any roots.
  const roots = [...chosen.latest, ...chosen.history, ...Object.keys(own).map(() => ({ url: '' }))]
  return { providers: { latest, history, ...own }, fetch: await fetchFor(roots, context), now }
}

interface Choice {
  name: string
  url: string | undefined
}

async function createProvider<Data extends DataSet>(
  data: Data,
  { name, url }: Choice,
  env: NodeJS.ProcessEnv,
): Promise<Providers[Data]> {
  const named = await loadProvider(name)
  const make = named?.factories[data]
  if (!make) throw new UsageError(`unknown provider ${name}`)
  const { keyVariable } = named
  if (keyVariable === undefined)
    return withUsageError(`${VARIABLES[data]}_URL`, () => make({ url }))
  const key = env[keyVariable]
  if (!key) throw new UsageError(`${name} needs a key: set ${keyVariable}`)
  // Checks the key without the root first, so that an invalid root is not reported as an invalid key.
  withUsageError(keyVariable, () => make({ key }))
  return withUsageError(`${VARIABLES[data]}_URL`, () => make({ key, url }))
}

/** Returns a `fetch` that uses the environment's proxies; `undefined` without proxies, or if the runtime uses them itself. */
export async function fetchFor(
  roots: readonly Pick<Choice, 'url'>[],
  { env, fetch }: CommandContext,
): Promise<Upstreams['fetch']> {
  if (fetch) return fetch
  const isPlain = ({ url = '' }: Pick<Choice, 'url'>): boolean => /^http:/i.test(url)
  const variables = [
    ...(roots.every(isPlain) ? [] : ['HTTPS_PROXY', 'https_proxy']),
    ...(roots.some(isPlain) ? ['HTTP_PROXY', 'http_proxy'] : []),
  ].filter((name) => env[name])
  for (const variable of variables) {
    const url = env[variable] ?? ''
    // Some runtimes ignore an invalid URL and connect without the proxy.
    if (/^https?:\/\//i.test(url) && URL.canParse(url)) continue
    throw new UsageError(`${variable} must be an http(s) URL`)
  }
  const [variable] = variables
  // Bun and Deno use these variables themselves.
  if (variable === undefined || platform !== 'node') return undefined
  return createUndiciFetch({ proxy: 'environment' }).catch((error: Error) => {
    throw new UsageError(`${variable}: ${error.message}`, { cause: error })
  })
}

export const DEFAULT_NAMES = { latest: 'exchange-rate-api', history: 'frankfurter' } as const

const VARIABLES = { latest: 'RATESMITH_LATEST', history: 'RATESMITH_HISTORY' } as const

/**
 * Returns the selected providers, in order of preference; none of a data set that `own` has.
 *
 * @throws {UsageError} naming the invalid flag or variable and the accepted names
 */
export async function chooseProviders(
  flags: ProviderFlags,
  env: NodeJS.ProcessEnv,
  own: OwnProviders = {},
): Promise<Record<DataSet, Choice[]>> {
  return {
    latest: own.latest ? [] : await choose('latest', flags, env),
    history: own.history ? [] : await choose('history', flags, env),
  }
}

async function choose(
  data: DataSet,
  { [data]: flag }: ProviderFlags,
  env: NodeJS.ProcessEnv,
): Promise<Choice[]> {
  const origin = flag === undefined ? VARIABLES[data] : `--${data}`
  const list = flag ?? (env[VARIABLES[data]] || DEFAULT_NAMES[data])
  const named = await Promise.all(list.split(',').map((name) => loadProvider(name.trim())))
  // The message about an unknown one has every name.
  const all = named.every((each) => each?.factories[data]) ? named : await loadProviders()
  const known = all.flatMap((each) => (each?.factories[data] ? [each.name] : []))
  const names = parseNames(origin, list, known)
  const urls = readUrls(`${VARIABLES[data]}_URL`, names, env)
  return names.map((name, index) => ({ name, url: urls[index] || undefined }))
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
