import type { HistoryProvider, LatestProvider } from '../index.ts'
import { MODULES } from './provider-modules.ts'

type Create = (options: object) => unknown

export interface Access {
  url?: string | undefined
  key?: string | undefined
}

/** A module of `src/providers` or its `banks` by the name of its file, or another publication of a module by the name of its function. */
export interface NamedProvider {
  name: string
  /** The variable with its key; absent for providers without keys. */
  keyVariable?: string
  latest?: (access: Access) => LatestProvider
  history?: (access: Access) => HistoryProvider
}

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

const NAMES = new Set([...FIRST, ...Object.keys(MODULES).toSorted()])

export async function loadProviders(): Promise<NamedProvider[]> {
  const loaded = await Promise.all([...NAMES].map(loadProvider))
  return loaded.filter((provider) => provider !== undefined)
}

export async function loadProvider(name: string): Promise<NamedProvider | undefined> {
  if (!NAMES.has(name)) return undefined
  const factories = Object.entries<Create>({ ...(await MODULES[name]?.()) })
    .filter(([member]) => /^create\w+Provider$/.test(member))
    // The main function of a module has the shortest name.
    .sort(([one], [other]) => one.length - other.length)
    .map(([, create]) => create)
  const [main] = factories
  return main && describe(name, factories, needsKey(main))
}

export function providerKeys(env: NodeJS.ProcessEnv): string[] {
  return [...NAMES].map((name) => env[keyVariableOf(name)] ?? '')
}

function describe(name: string, factories: readonly Create[], isKeyed: boolean): NamedProvider {
  const samples = factories.map((create) => create(isKeyed ? { key: 'a-key' } : {}))
  const provider: NamedProvider = { name }
  if (isKeyed) provider.keyVariable = keyVariableOf(name)
  const latest = factories[samples.findIndex(isLatestProvider)]
  if (latest) provider.latest = (access) => made(latest, name, access, isLatestProvider)
  const history = factories[samples.findIndex(isHistoryProvider)]
  if (history) provider.history = (access) => made(history, name, access, isHistoryProvider)
  return provider
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
