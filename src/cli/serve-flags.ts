import type { CompatOptions } from '../compat/frankfurter.ts'
import type { RatesHandler } from '../index.ts'
import { toAlternatives } from '../known-options.ts'
import type { ProviderFlags } from './upstreams.ts'
import { UsageError, parseArguments, parseNames, text, texts, toggle } from './usage.ts'

const LOG_FORMATS = ['json', 'text'] as const
const CORS_SCOPES = ['v1', 'all', 'off'] as const

/** Adds the paths of a service to a handler. */
type Mount = (handler: RatesHandler, options: CompatOptions) => RatesHandler

interface Service {
  load(): Promise<Mount>
  /** A path for the start message of `serve`. */
  example: string
}

/** The services of `--compat`. No two share a path. */
export const SERVICES = {
  frankfurter: {
    load: async () => (await import('../compat/frankfurter.ts')).frankfurter,
    example: '/v1/latest?base=USD&symbols=EUR,GBP',
  },
  'exchangerate-host': {
    load: async () => (await import('../compat/exchangerate-host.ts')).exchangerateHost,
    example: '/convert?from=USD&to=EUR&amount=100',
  },
  'open-exchange-rates': {
    load: async () => (await import('../compat/open-exchange-rates.ts')).openExchangeRates,
    example: '/api/latest.json?symbols=EUR,GBP',
  },
} as const satisfies Record<string, Service>

type ServiceName = keyof typeof SERVICES

/** The flags of `ratesmith serve`. */
export interface ServeFlags {
  port: number
  host: string
  /** Paths of the key and certificate files; `undefined` for HTTP. */
  https: { key: string; cert: string } | undefined
  basePath: string
  /** A scope, or the origins that may read the versioned responses. */
  cors: (typeof CORS_SCOPES)[number] | readonly string[] | undefined
  /** Services whose paths are also served. */
  compat: readonly ServiceName[]
  compress: boolean
  explorer: boolean
  demo: boolean
  /** Whether to add currencies with an official peg. */
  pegs: boolean
  providers: ProviderFlags
  /** Folder for fetched rates. */
  data: string | undefined
  /** URL of a Redis for fetched rates. */
  redis: string | undefined
  /** Default: text on a terminal, JSON elsewhere. */
  log: (typeof LOG_FORMATS)[number] | undefined
  access: AccessFlags
  monitoring: MonitoringFlags
}

/** The flags about keys, plans and limits, as typed; `src/cli/access.ts` reads them. */
export interface AccessFlags {
  /** File or database with the keys. */
  keys: string | undefined
  /** Names and limits: `pro=600/min,100000/month`. */
  plans: readonly string[]
  anonymous: string | undefined
  trustedProxies: readonly string[]
  forwardedHeader: string | undefined
  counters: string | undefined
  whenCountersFail: string | undefined
  keyParameters: readonly string[]
}

/** The flags about metrics and access logs, as typed; `src/cli/monitoring.ts` reads them. */
interface MonitoringFlags {
  metrics: boolean
  metricsPort: string | undefined
  accessLog: string | undefined
}

const SERVICE_NAMES = Object.keys(SERVICES)

/** The flags of `serve` for `parseArguments()`, the help and completion. */
export const SERVE_OPTIONS = {
  port: text('<number>', 'port to listen on; 0 picks a free one (default 8787)'),
  host: text('<address>', 'address to listen on (default 127.0.0.1)'),
  https: toggle('serve HTTPS; implied by the next two'),
  'https-key': text('<file>', 'private key (PEM)', { complete: 'file' }),
  'https-cert': text('<file>', 'certificate (PEM), followed by the intermediate ones', {
    complete: 'file',
  }),
  'base-path': text('<path>', 'prefix of every path (default /api)'),
  cors: text(
    '<scope>',
    'responses that every origin may read: v1, all or off (default v1); or the origins that may read v1, comma-separated',
    { complete: CORS_SCOPES },
  ),
  compat: text(
    '<names>',
    `also serve the paths of these services, comma-separated: ${SERVICE_NAMES.join(', ')}`,
    { complete: SERVICE_NAMES },
  ),
  compress: toggle(''),
  'no-compress': toggle('turn brotli and gzip off'),
  'no-explorer': toggle('turn the explorer page at the base path off'),
  demo: toggle('use synthetic rates, without network'),
  latest: text('<names>', 'providers of latest rates, in order, comma-separated', {
    complete: 'latest',
  }),
  history: text('<names>', 'providers of reference rates, in order, comma-separated', {
    complete: 'history',
  }),
  pegs: toggle('add currencies with an official peg'),
  data: text('<folder>', 'store fetched rates in this folder for the next start', {
    complete: 'file',
  }),
  redis: text('<url>', 'store fetched rates in this Redis and share them with other servers'),
  log: text('<format>', 'json or text (default: text on a terminal, json elsewhere)', {
    complete: LOG_FORMATS,
  }),
  plan: texts('<limits>', 'name and limits of a plan, repeatable: pro=600/min,100000/month'),
  keys: text('<file>', 'require keys from this file: see ratesmith help keys', {
    complete: 'file',
  }),
  anonymous: text(
    '<plan>',
    'plan of requests without a key, by address, or refuse (default refuse)',
  ),
  'trusted-proxy': texts(
    '<range>',
    'address or range of a proxy in front, repeatable, or the number of proxies',
  ),
  'forwarded-header': text(
    '<name>',
    'the header that these proxies write: x-forwarded-for or forwarded',
    { complete: ['x-forwarded-for', 'forwarded'] },
  ),
  'key-parameter': texts(
    '<name>',
    'query parameter that may have the key, repeatable (default none)',
  ),
  counters: text(
    '<place>',
    'count in this Redis (redis://...) or memory (default: the Redis of --redis, else memory)',
  ),
  'when-counters-fail': text('<rule>', 'local, allow or refuse (default local)', {
    complete: ['local', 'allow', 'refuse'],
  }),
  metrics: toggle('serve metrics at /metrics, for everyone'),
  'metrics-port': text('<number>', 'serve metrics on this port instead, with the probes'),
  'access-log': text('<format>', 'print a line for every response: json', { complete: ['json'] }),
}

type Values = ReturnType<typeof parseArguments<{ options: typeof SERVE_OPTIONS }>>['values']

/**
 * Reads the flags of `ratesmith serve`.
 *
 * @throws {UsageError} naming the invalid flag
 */
export function parseServeFlags(args: string[]): ServeFlags {
  const flags = parseArguments({ args, options: SERVE_OPTIONS }).values
  const { port = '8787', host = '127.0.0.1', demo = false, 'base-path': basePath = '/api' } = flags
  // For an empty host, Node listens on every address.
  if (host === '') throw new UsageError('--host must be an address, got ""')
  const { data, redis, latest, history } = flags
  if (data === '') throw new UsageError('--data must be a folder, got ""')
  return {
    port: readPort('--port', port),
    // Accepts an IPv6 address in the brackets of a URL.
    host: host.replace(/^\[(.*)\]$/, '$1'),
    https: readHttps(flags),
    basePath,
    cors: readCors(flags),
    compat: flags.compat === undefined ? [] : readCompat(flags.compat, basePath),
    compress: !flags['no-compress'],
    explorer: !flags['no-explorer'],
    demo,
    pegs: flags.pegs ?? false,
    providers: { latest, history },
    data,
    redis,
    log: readChoice('--log', LOG_FORMATS, flags.log),
    access: readAccessFlags(flags),
    monitoring: {
      metrics: flags.metrics ?? false,
      metricsPort: flags['metrics-port'],
      accessLog: flags['access-log'],
    },
  }
}

/**
 * Reads a port.
 *
 * @throws {UsageError} naming `flag`
 */
export function readPort(flag: string, text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new UsageError(`${flag} must be a number from 0 to 65535, got ${text}`)
}

/** Returns whether flags or environment turn keys, plans or limits on. */
export function needsAccess({ access }: ServeFlags, env: NodeJS.ProcessEnv): boolean {
  const { keys, plans, anonymous, counters, whenCountersFail, keyParameters } = access
  const texts = [keys, anonymous, counters, whenCountersFail]
  return (
    texts.some((text) => text !== undefined) ||
    plans.length + keyParameters.length > 0 ||
    Boolean(env['RATESMITH_KEYS'])
  )
}

/** Returns whether flags turn metrics or the access log on, or need one of them. */
export function needsMonitoring({ access, monitoring }: ServeFlags): boolean {
  const { metrics, ...texts } = monitoring
  return (
    metrics ||
    Object.values(texts).some((text) => text !== undefined) ||
    ((access.trustedProxies.length > 0 || access.forwardedHeader !== undefined) &&
      access.plans.length === 0)
  )
}

function readAccessFlags(flags: Values): AccessFlags {
  return {
    keys: flags.keys,
    plans: flags.plan ?? [],
    anonymous: flags.anonymous,
    trustedProxies: flags['trusted-proxy'] ?? [],
    forwardedHeader: flags['forwarded-header'],
    counters: flags.counters,
    whenCountersFail: flags['when-counters-fail'],
    keyParameters: flags['key-parameter'] ?? [],
  }
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text
}

function readCors({ cors, compat }: Values): ServeFlags['cors'] {
  if (!cors?.includes('://')) return readChoice('--cors', CORS_SCOPES, cors)
  const origins = cors.split(',').map((origin) => origin.trim())
  const wrong = origins.find((origin) => !isOrigin(origin))
  if (wrong !== undefined) {
    throw new UsageError(
      `--cors must list origins such as https://example.com, got ${wrong || '""'}`,
    )
  }
  // The services of --compat permit all origins or none.
  if (compat !== undefined) {
    throw new UsageError(
      '--cors with a list of origins and --compat cannot be combined; choose one',
    )
  }
  return origins
}

function readHttps({ https, 'https-key': key, 'https-cert': cert }: Values): ServeFlags['https'] {
  if (!https && key === undefined && cert === undefined) return undefined
  if (!key) throw new UsageError('HTTPS needs a private key file: set --https-key')
  if (!cert) throw new UsageError('HTTPS needs a certificate file: set --https-cert')
  return { key, cert }
}

/**
 * Returns the choice that `text` names; undefined without a text.
 *
 * @throws {UsageError} naming `flag`
 */
export function readChoice<Choice extends string>(
  flag: string,
  choices: readonly Choice[],
  text: string | undefined,
): Choice | undefined {
  const chosen = choices.find((choice) => choice === text)
  if (text === undefined || chosen) return chosen
  throw new UsageError(`${flag} must be ${toAlternatives(choices)}, got ${text}`)
}

/** Base paths that overlap the paths of a service. */
const OVERLAPPING = /^(?:\/v\d+(?:\/.*)?)?$/

function readCompat(list: string, basePath: string): ServiceName[] {
  const names = parseNames('--compat', list, Object.keys(SERVICES).filter(isService))
  if (!OVERLAPPING.test(basePath)) return names
  throw new UsageError(
    `--base-path must not overlap the paths of --compat, got ${basePath || '""'}; try /api`,
  )
}

function isService(name: string): name is ServiceName {
  return Object.hasOwn(SERVICES, name)
}
