import { exchangeRateApi } from '../compat/exchange-rate-api.ts'
import { exchangerateHost } from '../compat/exchangerate-host.ts'
import { frankfurterV2 } from '../compat/frankfurter-v2.ts'
import { frankfurter } from '../compat/frankfurter.ts'
import type { CompatOptions } from '../compat/frankfurter.ts'
import { openExchangeRates } from '../compat/open-exchange-rates.ts'
import type { RatesHandler } from '../index.ts'
import { didYouMean, nearest } from '../nearest.ts'
import { UsageError } from './usage-error.ts'

/** Serves the paths of a service, and all others as the handler does. */
type Mount = (handler: RatesHandler, options: CompatOptions) => RatesHandler

/** A service whose paths can be served. */
interface Service {
  mount: Mount
  /** A path to try it with. */
  example: string
}

/** The services by their names. No two of them have a path in common. */
const SERVICES = {
  frankfurter: { mount: frankfurter, example: '/v1/latest?base=USD&symbols=EUR,GBP' },
  'frankfurter-v2': { mount: frankfurterV2, example: '/v2/rates?base=USD&quotes=EUR,GBP' },
  'exchangerate-host': {
    mount: exchangerateHost,
    example: '/convert?from=USD&to=EUR&amount=100',
  },
  'open-exchange-rates': {
    mount: openExchangeRates,
    example: '/api/latest.json?symbols=EUR,GBP',
  },
  'exchange-rate-api': { mount: exchangeRateApi, example: '/v6/latest/USD' },
} as const satisfies Record<string, Service>

/** The name of a service whose paths can be served. */
export type CompatName = keyof typeof SERVICES

const NAMES = Object.keys(SERVICES)

/** Base paths of which a service would take some paths away. */
const TAKEN = /^(?:\/v\d+(?:\/.*)?)?$/

/**
 * Reads the names of services, separated by commas.
 *
 * @throws {UsageError} for an unknown or repeated name, and for a `basePath` that a service has paths below
 */
export function readCompat(list: string | undefined, basePath: string): CompatName[] {
  if (list === undefined) return []
  const names = list.split(',').map((name) => requireName(name.trim()))
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new UsageError(`--compat names ${twice} twice`)
  if (TAKEN.test(basePath)) {
    const got = basePath || 'nothing'
    throw new UsageError(`--compat needs a --base-path apart from the services' paths, got ${got}`)
  }
  return names
}

function requireName(name: string): CompatName {
  if (isName(name)) return name
  const known = `${NAMES.slice(0, -1).join(', ')} or ${NAMES.at(-1)}`
  const meant = didYouMean(nearest(name, NAMES, 3))
  throw new UsageError(`--compat must name ${known}, got ${name || 'nothing'}${meant}`)
}

function isName(name: string): name is CompatName {
  return Object.hasOwn(SERVICES, name)
}

/** Serves the paths of the services `names` in front of those of `handler`. */
export function mountCompat(
  handler: RatesHandler,
  names: readonly CompatName[],
  options: CompatOptions,
): RatesHandler {
  return names.reduce((mounted, name) => SERVICES[name].mount(mounted, options), handler)
}

/** A path to try the service `name` with. */
export function exampleOf(name: CompatName): string {
  return SERVICES[name].example
}
