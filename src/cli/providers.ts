import type { HistoryProvider, LatestProvider } from '../index.ts'
import type { Bank } from '../upstream/bank-days.ts'
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
  /** Currency against which its bank quotes all others; undefined for others. */
  base: string | undefined
  /** Number of currencies, roughly; undefined if that depends on banks. */
  currencies: number | undefined
}

/** The currencies of those without data of one bank, roughly, in the order of lists. */
const CURRENCIES: Readonly<Record<string, number | undefined>> = {
  'exchange-rate-api': 160,
  frankfurter: 30,
  'frankfurter-v2': undefined,
  ecb: 30,
  fawazahmed0: 170,
  'exchange-rate-api-v6': 160,
  'open-exchange-rates': 170,
  currencyapi: 170,
  nbp: 30,
}

const NAMES = new Set([...Object.keys(CURRENCIES), ...Object.keys(MODULES).toSorted()])

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
  const sample = isKeyed ? { key: 'a-key' } : {}

  function factoryOf<Provider>(member: keyof Provider) {
    const create = factories.find((each) => Object.hasOwn(Object(each(sample)), member))
    return create && ((access: Access): Provider => Object(create(optionsOf(name, access))))
  }

  const { bank }: { bank?: Bank } = Object(main)
  return {
    name,
    keyVariable: isKeyed ? keyVariableOf(name) : undefined,
    factories: {
      latest: factoryOf<LatestProvider>('fetchLatest'),
      history: factoryOf<HistoryProvider>('fetchHistory'),
    },
    base: bank?.base,
    currencies: bank?.currencies ?? CURRENCIES[name],
  }
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

function optionsOf(name: string, { url, key }: Access): object {
  // Accepts several roots.
  const root = name === 'fawazahmed0' ? { urls: url === undefined ? url : [url] } : { url }
  return { ...(key !== undefined && { key }), ...root }
}
