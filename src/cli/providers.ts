import { createExchangeRateApiProvider, createFrankfurterProvider } from '../index.ts'
import type { HistoryProvider, LatestProvider } from '../index.ts'
import type { Bank } from '../upstream/bank-days.ts'

export interface Providers {
  latest: LatestProvider
  history: HistoryProvider
}

export type DataSet = keyof Providers

type Create = (options: object) => object

interface Access {
  url?: string | undefined
  key?: string | undefined
}

/** A function of `ratesmith/providers`: `createNorgesBankProvider` is `norges-bank`. */
export interface NamedProvider {
  name: string
  /** The variable with its key; undefined for providers without keys. */
  keyVariable: string | undefined
  factories: { [Data in DataSet]?: ((access: Access) => Providers[Data]) | undefined }
  /** Currency against which its bank quotes all others; undefined for others. */
  base: string | undefined
  /** Whether it has no default root. */
  needsUrl: boolean
  /** Number of currencies, roughly; undefined if that depends on banks. */
  currencies: number | undefined
}

/** Loaded without all others. */
const DEFAULTS = new Map<string, Create>([
  ['exchange-rate-api', createExchangeRateApiProvider],
  ['frankfurter', createFrankfurterProvider],
])

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
  folder: 30,
}

export async function loadProviders(): Promise<NamedProvider[]> {
  const { createEcbDataApiProvider: _, ...members } = await import('../providers/index.ts')
  const created = new Map<string, Create>()
  for (const [member, create] of Object.entries<Create>(Object(members))) {
    const [, words = ''] = /^create(\w+)Provider$/.exec(member) ?? []
    const name = words.replace(/(?<=\w)[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
    if (name !== '') created.set(name, create)
  }
  const names = new Set([...Object.keys(CURRENCIES), ...[...created.keys()].toSorted()])
  return [...names].map((name) => describe(name, created.get(name) ?? Object))
}

export async function loadProvider(name: string): Promise<NamedProvider | undefined> {
  const create = DEFAULTS.get(name)
  if (create) return describe(name, create)
  return (await loadProviders()).find((each) => each.name === name)
}

function describe(name: string, create: Create): NamedProvider {
  const needsUrl = name === 'folder'
  const open = (key?: string): object =>
    create(optionsOf(name, { key, url: needsUrl ? 'file:///' : undefined }))
  const isKeyed = needsKey(open)
  const sample = open(isKeyed ? 'a-key' : undefined)
  const factoryOf = <Provider>(member: keyof Provider) =>
    member in sample
      ? (access: Access): Provider => Object(create(optionsOf(name, access)))
      : undefined
  const { bank }: { bank?: Bank } = Object(create)
  return {
    name,
    keyVariable: isKeyed ? keyVariableOf(name) : undefined,
    needsUrl,
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

/** Only a required option makes it throw. */
function needsKey(open: () => object): boolean {
  try {
    open()
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
