import { toAlternatives } from '../known-options.ts'
import type { ProviderFlags } from './upstreams.ts'
import { UsageError, parseArguments, text, toggle } from './usage.ts'

const LOG_FORMATS = ['json', 'text'] as const

export interface ServeFlags {
  config: string | undefined
  port: number
  host: string
  basePath: string | undefined
  demo: boolean
  pegs: boolean
  providers: ProviderFlags
  /** A Redis URL, a folder or an SQLite file for fetched rates. */
  store: string | undefined
  /** Default: text on a terminal, JSON elsewhere. */
  log: (typeof LOG_FORMATS)[number] | undefined
}

export const SERVE_OPTIONS = {
  port: text('<number>', 'port to listen on; 0 picks a free one (default 8787)'),
  host: text('<address>', 'address to listen on (default 127.0.0.1)'),
  'base-path': text('<path>', 'prefix of every path (default /api)'),
  demo: toggle('use synthetic rates, without network'),
  latest: text('<names>', 'providers of latest rates, in order, comma-separated'),
  history: text('<names>', 'providers of reference rates, in order, comma-separated'),
  pegs: toggle('add currencies with an official peg'),
  store: text(
    '<place>',
    'store fetched rates in this Redis (redis://...), folder or SQLite file (.db, .sqlite)',
  ),
  log: text('<format>', 'json or text (default: text on a terminal, json elsewhere)'),
}

/** @throws {UsageError} naming the invalid flag */
export function parseServeFlags(args: string[]): ServeFlags {
  const config = { args, options: SERVE_OPTIONS, allowPositionals: true }
  const { values: flags, positionals } = parseArguments(config)
  const [file, second] = positionals
  if (second !== undefined) {
    throw new UsageError(`serve takes one config file, got ${positionals.join(' ')}`)
  }
  const { port = '8787', host = '127.0.0.1', latest, history, demo = false, store } = flags
  // For an empty host, Node listens on every address.
  if (host === '') throw new UsageError('--host must be an address, got ""')
  if (demo && store !== undefined) throw new UsageError('--demo cannot be combined with --store')
  return {
    config: file,
    port: readPort(port),
    // Accepts an IPv6 address in the brackets of a URL.
    host: host.replace(/^\[(.*)\]$/, '$1'),
    basePath: flags['base-path'],
    demo,
    pegs: flags.pegs ?? false,
    providers: { latest, history },
    store,
    log: readLog(flags.log),
  }
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new UsageError(`--port must be a number from 0 to 65535, got ${text}`)
}

function readLog(text: string | undefined): ServeFlags['log'] {
  const format = LOG_FORMATS.find((each) => each === text)
  if (text === undefined || format) return format
  throw new UsageError(`--log must be ${toAlternatives(LOG_FORMATS)}, got ${text}`)
}

export function handlerFlags({
  basePath,
  demo,
  pegs,
  providers,
  store,
  log,
}: ServeFlags): string[] {
  const { latest, history } = providers
  const given = { 'base-path': basePath, demo, latest, history, pegs, store, log }
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined || value === false ? [] : [`--${name}`],
  )
}
