import type { HistoryProvider, LatestProvider } from '../index.ts'
import { MODULES } from './provider-modules.ts'

/** A function that a provider's module exports. */
type Create = (options: object) => unknown

/** Root URL and key of a provider. */
export interface Access {
  /** Root that replaces the provider's default. */
  url?: string | undefined
  /** Absent for providers without keys. */
  key?: string | undefined
}

/** A module of `src/providers` by the name of its file, or another publication of a module by the name of its function. */
export interface NamedProvider {
  name: string
  /** The variable with its key; absent for providers without keys. */
  keyVariable?: string
  latest?: (access: Access) => LatestProvider
  history?: (access: Access) => HistoryProvider
}

/** Providers that are listed first. */
const FIRST = [
  'exchange-rate-api',
  'frankfurter',
  'frankfurter-v2',
  'ecb',
  'fawazahmed0',
  'exchange-rate-api-v6',
  'open-exchange-rates',
  'currencyapi',
]

const NAMES = new Set([...FIRST, ...[...Object.keys(MODULES)].toSorted()])

/** Loads every provider. */
export async function loadProviders(): Promise<NamedProvider[]> {
  return (await Promise.all([...NAMES].map(loadModule))).flat()
}

/** Loads the provider of a name; resolves to `undefined` if there is none. */
export async function loadProvider(name: string): Promise<NamedProvider | undefined> {
  const modules = [...NAMES].filter((module) => name === module || name.startsWith(`${module}-`))
  const loaded = await Promise.all(modules.map(loadModule))
  return loaded.flat().find((provider) => provider.name === name)
}

/** Loads the providers of a module: one for both data sets, and its other publications. */
async function loadModule(name: string): Promise<NamedProvider[]> {
  const members = await MODULES[name]?.()
  const factories = Object.entries<Create>({ ...members })
    .filter(([member]) => /^create\w+Provider$/.test(member))
    // The main function of a module has the shortest name.
    .sort(([one], [other]) => one.length - other.length)
  const [main, ...others] = factories.map(([, create]) => create)
  if (!main) return []
  const isKeyed = needsKey(main)
  const first = describe(name, [main, ...others], isKeyed)
  const further = factories.filter(([, create]) => {
    const sample = sampleOf(create, isKeyed)
    return create !== first.create && isHistoryProvider(sample) && sample.publication !== undefined
  })
  return [
    first.provider,
    ...further.map(([member, create]) => describe(toName(member), [create], isKeyed).provider),
  ]
}

/** Returns the name of a function's provider: `frankfurter-v2-history` for `createFrankfurterV2HistoryProvider`. */
function toName(member: string): string {
  const words = member.replace(/^create|Provider$/g, '')
  return words.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()
}

/** Returns the keys in `env` of all providers. */
export function providerKeys(env: NodeJS.ProcessEnv): string[] {
  return [...NAMES].map((name) => env[keyVariableOf(name)] ?? '')
}

interface Described {
  provider: NamedProvider
  /** Creates its history. */
  create: Create | undefined
}

/** Describes the first provider of each data set that `factories` create. */
function describe(name: string, factories: readonly Create[], isKeyed: boolean): Described {
  const samples = factories.map((create) => sampleOf(create, isKeyed))
  const provider: NamedProvider = { name }
  if (isKeyed) provider.keyVariable = keyVariableOf(name)
  const latest = factories[samples.findIndex(isLatestProvider)]
  if (latest) provider.latest = (access) => made(latest, name, access, isLatestProvider)
  const history = factories[samples.findIndex(isHistoryProvider)]
  if (history) provider.history = (access) => made(history, name, access, isHistoryProvider)
  return { provider, create: history }
}

function sampleOf(create: Create, isKeyed: boolean): unknown {
  return create(isKeyed ? { key: 'a-key' } : {})
}

/** Versions of a service have the same key: that of `exchange-rate-api-v6` is in `RATESMITH_EXCHANGE_RATE_API_KEY`. */
function keyVariableOf(name: string): string {
  const service = name.replace(/-v\d+$/, '')
  return `RATESMITH_${service.replaceAll('-', '_').toUpperCase()}_KEY`
}

/** Only a required option makes an empty object invalid. */
function needsKey(create: Create): boolean {
  try {
    create({})
    return false
  } catch {
    return true
  }
}

function made<Provider>(
  create: Create,
  name: string,
  { url, key }: Access,
  isExpected: (provider: unknown) => provider is Provider,
): Provider {
  const keyOption = key === undefined ? {} : { key }
  // Accepts several roots.
  const urlOption = name === 'fawazahmed0' ? { urls: url === undefined ? url : [url] } : { url }
  const provider = create({ ...keyOption, ...urlOption })
  if (!isExpected(provider)) throw new Error(`${name} returned another kind of provider`)
  return provider
}

function isLatestProvider(provider: unknown): provider is LatestProvider {
  return typeof Object(provider).fetchLatest === 'function'
}

function isHistoryProvider(provider: unknown): provider is HistoryProvider {
  return typeof Object(provider).fetchHistory === 'function'
}
