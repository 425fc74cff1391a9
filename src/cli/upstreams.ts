import type { HistoryProvider, LatestProvider } from '../index.ts'
import type { CommandContext } from './context.ts'
import { platform } from './platform.ts'
import { URL_VARIABLES, chooseProviders } from './provider-choice.ts'
import type { Choice, ProviderChoice, ProviderFlags } from './provider-choice.ts'
import { PROVIDERS } from './providers.ts'
import type { Access } from './providers.ts'
import { UsageError } from './usage-error.ts'

/** Who is asked for rates, each list in order of preference, and how. */
export interface Upstreams {
  providers: { latest: LatestProvider[]; history: HistoryProvider[] }
  fetch: typeof fetch | undefined
  now: () => number
}

/** What the flags say of upstreams. */
export interface UpstreamFlags {
  demo: boolean
  /** Names of providers, where there are any. */
  providers: ProviderFlags
}

/**
 * The providers that the flags or the environment name, through the proxies that it names; with `demo` none of it.
 *
 * @throws {UsageError} naming the flag or the variable that cannot be used
 */
export async function chooseUpstreams(
  { demo, providers }: UpstreamFlags,
  { env, now, fetch }: CommandContext,
): Promise<Upstreams> {
  if (demo) {
    requireNoNames(providers)
    const { fakeProviders } = await import('../testing/fake-providers.ts')
    const { latest, history } = fakeProviders()
    return { providers: { latest: [latest], history: [history] }, fetch, now }
  }
  const choice = chooseProviders(providers, env)
  const [latest, history] = await Promise.all([
    Promise.all(
      choice.latest.map((each) =>
        create(each, env, { variable: URL_VARIABLES.latest, make: PROVIDERS[each.name]?.latest }),
      ),
    ),
    Promise.all(
      choice.history.map((each) =>
        create(each, env, { variable: URL_VARIABLES.history, make: PROVIDERS[each.name]?.history }),
      ),
    ),
  ])
  return {
    providers: { latest, history },
    fetch: fetch ?? (await fetchThroughProxy(choice, env)),
    now,
  }
}

function requireNoNames(providers: ProviderFlags): void {
  const [named] = Object.entries(providers).filter(([, names]) => names !== undefined)
  if (named) throw new UsageError(`--demo asks no provider: leave out --${named[0]}`)
}

/** What `make` makes of a choice; what it refuses is put down to the variable at fault, the one of roots being `variable`. */
async function create<Provider>(
  { name, url }: Choice,
  env: NodeJS.ProcessEnv,
  {
    variable,
    make,
  }: { variable: string; make: ((access: Access) => Promise<Provider>) | undefined },
): Promise<Provider> {
  if (!make) throw new UsageError(`no provider ${name}`)
  const keyVariable = PROVIDERS[name]?.keyVariable
  if (keyVariable === undefined) return make({ key: '', url }).catch(throwOffline(variable))
  const key = env[keyVariable]
  if (!key) throw new UsageError(`${name} needs a key: set ${keyVariable}`)
  // Alone, so that what is wrong with the root is not put down to it.
  await make({ key }).catch(throwOffline(keyVariable))
  return make({ key, url }).catch(throwOffline(variable))
}

function throwOffline(variable: string): (error: Error) => never {
  return (error) => {
    throw new UsageError(`${variable}: ${error.message}`, { cause: error })
  }
}

/** A `fetch` that heeds the proxies of the environment; `undefined` where the platform's own does, or there is none. */
async function fetchThroughProxy(
  { latest, history }: ProviderChoice,
  env: NodeJS.ProcessEnv,
): Promise<typeof fetch | undefined> {
  const roots = [...latest, ...history].map(({ url }) => url)
  const isPlain = (root: string | undefined): boolean => /^http:/i.test(root ?? '')
  const variables = [
    ...(roots.every(isPlain) ? [] : ['HTTPS_PROXY', 'https_proxy']),
    ...(roots.some(isPlain) ? ['HTTP_PROXY', 'http_proxy'] : []),
  ].filter((name) => env[name])
  for (const variable of variables) requireProxy(variable, env[variable] ?? '')
  const [variable] = variables
  // Bun and Deno heed them by themselves.
  if (variable === undefined || platform !== 'node') return undefined
  const { createUndiciFetch } = await import('../../adapters/node.ts')
  return createUndiciFetch({ proxy: 'environment' }).catch((error: Error) => {
    throw new UsageError(`${variable}: ${error.message}`, { cause: error })
  })
}

/** Some platforms would take no notice of what is none, and go past the proxy. */
function requireProxy(variable: string, url: string): void {
  if (/^https?:\/\//i.test(url) && URL.canParse(url)) return
  throw new UsageError(`${variable} must be the URL of a proxy, with http or https`)
}
