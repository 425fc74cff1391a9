import { readCompat } from './compat.ts'
import type { CompatName } from './compat.ts'
import { parseArguments } from './parse-arguments.ts'
import type { ProviderFlags } from './provider-choice.ts'
import { UsageError } from './usage-error.ts'

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
