import { exchangeRateApi } from '../compat/exchange-rate-api.ts'
import { exchangerateHost } from '../compat/exchangerate-host.ts'
import { frankfurterV2 } from '../compat/frankfurter-v2.ts'
import { frankfurter } from '../compat/frankfurter.ts'
import type { CompatOptions } from '../compat/frankfurter.ts'
import { openExchangeRates } from '../compat/open-exchange-rates.ts'
import type { RatesHandler } from '../index.ts'
import { didYouMean, nearest } from '../nearest.ts'
import { UsageError } from './usage-error.ts'

type Mount = (handler: RatesHandler, options: CompatOptions) => RatesHandler

interface Service {
  mount: Mount
  /** A path for the start message of `serve`. */
  example: string
}

// No two services share a path.
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

/** The name of a service that `--compat` accepts. */
export type CompatName = keyof typeof SERVICES

const NAMES = Object.keys(SERVICES)

/** Base paths that overlap the paths of a service. */
const OVERLAPPING = /^(?:\/v\d+(?:\/.*)?)?$/

/**
 * Reads a comma-separated list of services.
 *
 * @throws {UsageError} for an unknown or repeated name, and for a `basePath` that overlaps the paths of a service
 */
export function readCompat(list: string | undefined, basePath: string): CompatName[] {
  if (list === undefined) return []
  const names = list.split(',').map((name) => requireName(name.trim()))
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw new UsageError(`--compat contains ${repeated} twice`)
  if (OVERLAPPING.test(basePath)) {
    throw new UsageError(
      `--base-path must not overlap the paths of --compat, got ${basePath || '""'}; try /api`,
    )
  }
  return names
}

function requireName(name: string): CompatName {
  if (isName(name)) return name
  const known = `${NAMES.slice(0, -1).join(', ')} or ${NAMES.at(-1)}`
  const suggestion = didYouMean(nearest(name, NAMES, 3))
  throw new UsageError(`--compat must be ${known}, got ${name || '""'}${suggestion}`)
}

function isName(name: string): name is CompatName {
  return Object.hasOwn(SERVICES, name)
}

/** Returns `handler` with the paths of the services `names` mounted in front of it. */
export function mountCompat(
  handler: RatesHandler,
  names: readonly CompatName[],
  options: CompatOptions,
): RatesHandler {
  return names.reduce((mounted, name) => SERVICES[name].mount(mounted, options), handler)
}

/** Returns a path that demonstrates the service `name`. */
export function exampleOf(name: CompatName): string {
  return SERVICES[name].example
}
