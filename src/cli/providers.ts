import type { HistoryProvider, LatestProvider } from '../index.ts'
import { MODULES } from './provider-modules.ts'

export interface Providers {
  latest: LatestProvider
  history: HistoryProvider
}

export type DataSet = keyof Providers

type Create = (options: object) => unknown

interface Access {
  url?: string | undefined
  key?: string | undefined
}

/** A module of `src/providers` or its `banks` by the name of its file. */
export interface NamedProvider {
  name: string
  /** The variable with its key; undefined for providers without keys. */
  keyVariable: string | undefined
  factories: { [Data in DataSet]?: ((access: Access) => Providers[Data]) | undefined }
  /** What its bank publishes; undefined for others. */
  bank: { base: string; currencies: number } | undefined
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
  const [main = Object] = factories
  const isKeyed = needsKey(main)
  const samples = factories.map((create) => create(isKeyed ? { key: 'a-key' } : {}))

  function factoryOf<Provider>(isExpected: (provider: unknown) => provider is Provider) {
    const create = factories[samples.findIndex(isExpected)]
    return create && ((access: Access) => made(create, name, access, isExpected))
  }

  return {
    name,
    keyVariable: isKeyed ? keyVariableOf(name) : undefined,
    factories: { latest: factoryOf(isLatestProvider), history: factoryOf(isHistoryProvider) },
    bank: Object(main).bank,
  }
}

export function providerKeys(env: NodeJS.ProcessEnv): string[] {
  return [...NAMES].map((name) => env[keyVariableOf(name)] ?? '')
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
  // Accepts several roots.
  const root = name === 'fawazahmed0' ? { urls: url === undefined ? url : [url] } : { url }
  const provider = create({ ...(key !== undefined && { key }), ...root })
  if (!isExpected(provider)) throw new Error(`${name} returned another kind of provider`)
  return provider
}

function isLatestProvider(provider: unknown): provider is LatestProvider {
  return typeof Object(provider).fetchLatest === 'function'
}

function isHistoryProvider(provider: unknown): provider is HistoryProvider {
  return typeof Object(provider).fetchHistory === 'function'
}
