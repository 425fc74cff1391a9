import { loadProviders } from './providers.ts'
import type { NamedProvider } from './providers.ts'
import { DEFAULT_NAMES } from './upstreams.ts'

/** Where it is not the country of the currency that all rates are quoted against. */
const PLACES: Readonly<Record<string, string>> = {
  'banca-d-italia': 'Italy',
  ecb: 'Euro area',
  folder: 'Euro area',
  frankfurter: 'Euro area',
  'frankfurter-v2': 'many',
  imf: 'many',
  nbp: 'Poland',
}

/** Whether others may get the rates, where it is known; conditions are in docs/choose-your-rates.md. */
const MAY_PASS_ON = Object.entries({
  yes: 'fawazahmed0 us-treasury',
  no: 'exchange-rate-api exchange-rate-api-v6',
  'with credit':
    'bank-of-canada bcb cnb danmarks-nationalbank ecb folder frankfurter hmrc nbp norges-bank rba',
  'by plan': 'open-exchange-rates',
  'by account': 'currencyapi',
  'by each bank': 'frankfurter-v2',
  'by its terms': 'imf',
})

/** Returns whether others may get the rates of a provider: `yes`, `no`, `with credit`, `unknown` and others. */
export function rightOf(provider: string): string {
  const found = MAY_PASS_ON.find(([, names]) => names.split(' ').includes(provider))
  return found?.[0] ?? 'unknown'
}

const REGIONS = new Intl.DisplayNames(['en'], { type: 'region' })

export async function providerRows(): Promise<string[][]> {
  const head = ['name', 'country', 'currencies', 'rates', 'key', 'may pass on']
  return [head, ...(await loadProviders()).map(rowOf)]
}

function rowOf({ name, base, currencies, factories, keyVariable }: NamedProvider): string[] {
  // The first two letters of a currency are those of its country.
  const country = PLACES[name] ?? (base && REGIONS.of(base.slice(0, 2))) ?? '-'
  const [one = '', other] = (['latest', 'history'] as const).filter((each) => factories[each])
  return [
    Object.values<string>(DEFAULT_NAMES).includes(name) ? `${name} *` : name,
    country,
    String(currencies ?? '-'),
    other ? 'both' : one,
    keyVariable === undefined ? '-' : 'yes',
    rightOf(name),
  ]
}
