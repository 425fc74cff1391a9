import { exchangeRateApi } from '../compat/exchange-rate-api.ts'
import { exchangerateHost } from '../compat/exchangerate-host.ts'
import { frankfurterV2 } from '../compat/frankfurter-v2.ts'
import { frankfurter } from '../compat/frankfurter.ts'
import type { CompatOptions } from '../compat/frankfurter.ts'
import { openExchangeRates } from '../compat/open-exchange-rates.ts'
import type { RatesHandler } from '../index.ts'
import { didYouMean, nearest } from '../known-options.ts'
import type { ProviderFlags } from './provider-choice.ts'
import { UsageError, parseArguments } from './usage.ts'

const LOG_FORMATS = ['json', 'text'] as const
const CORS_SCOPES = ['v1', 'all', 'off'] as const

/** The flags of `ratesmith serve`. */
export interface ServeFlags {
  port: number
  host: string
  /** Paths of the key and certificate files; `undefined` for HTTP. */
  https: { key: string; cert: string } | undefined
  basePath: string
  cors: (typeof CORS_SCOPES)[number] | undefined
  /** Services whose paths are also served. */
  compat: readonly CompatName[]
  compress: boolean
  explorer: boolean
  demo: boolean
  providers: ProviderFlags
  /** Folder for fetched rates. */
  data: string | undefined
  /** URL of a Redis for fetched rates. */
  redis: string | undefined
  /** Default: text on a terminal, JSON elsewhere. */
  log: (typeof LOG_FORMATS)[number] | undefined
}

/**
 * Reads the flags of `ratesmith serve`.
 *
 * @throws {UsageError} naming the invalid flag
 */
export function parseServeFlags(args: string[]): ServeFlags {
  const flags = parse(args)
  const { port = '8787', host = '127.0.0.1', demo = false, 'base-path': basePath = '/api' } = flags
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`--port must be a number from 0 to 65535, got ${port}`)
  }
  // For an empty host, Node listens on every address.
  if (host === '') throw new UsageError('--host must be an address, got ""')
  const { data, redis, latest, history } = flags
  if (data === '') throw new UsageError('--data must be a folder, got ""')
  return {
    port: Number(port),
    // Accepts an IPv6 address in the brackets of a URL.
    host: host.replace(/^\[(.*)\]$/, '$1'),
    https: readHttps(flags),
    basePath,
    cors: readChoice('--cors', CORS_SCOPES, flags.cors),
    compat: readCompat(flags.compat, basePath),
    compress: !flags['no-compress'],
    explorer: !flags['no-explorer'],
    demo,
    providers: { latest, history },
    data,
    redis,
    log: readChoice('--log', LOG_FORMATS, flags.log),
  }
}

function readChoice<Choice extends string>(
  flag: string,
  choices: readonly Choice[],
  text: string | undefined,
): Choice | undefined {
  const chosen = choices.find((choice) => choice === text)
  if (text === undefined || chosen) return chosen
  const list = `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`
  throw new UsageError(`${flag} must be ${list}, got ${text}`)
}

function readHttps({
  https,
  'https-key': key,
  'https-cert': cert,
}: ReturnType<typeof parse>): ServeFlags['https'] {
  if (!https && key === undefined && cert === undefined) return undefined
  if (!key) throw new UsageError('HTTPS needs a private key file: set --https-key')
  if (!cert) throw new UsageError('HTTPS needs a certificate file: set --https-cert')
  return { key, cert }
}

function parse(args: string[]) {
  return parseArguments({
    args,
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      https: { type: 'boolean' },
      'https-key': { type: 'string' },
      'https-cert': { type: 'string' },
      'base-path': { type: 'string' },
      cors: { type: 'string' },
      compat: { type: 'string' },
      compress: { type: 'boolean' },
      'no-compress': { type: 'boolean' },
      'no-explorer': { type: 'boolean' },
      demo: { type: 'boolean' },
      latest: { type: 'string' },
      history: { type: 'string' },
      data: { type: 'string' },
      redis: { type: 'string' },
      log: { type: 'string' },
    },
  }).values
}

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
function readCompat(list: string | undefined, basePath: string): CompatName[] {
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
