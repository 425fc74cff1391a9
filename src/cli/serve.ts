import { setTimeout as sleep } from 'node:timers/promises'

import { assertBasePath } from '../http/target.ts'
import { createRatesHandler } from '../index.ts'
import type { RatesHandlerOptions } from '../index.ts'
import { assertKnownOptions } from '../known-options.ts'
import { createLog } from '../log.ts'
import { loadConfig } from './config.ts'
import type { Config, ConfiguredHandler } from './config.ts'
import { platform } from './context.ts'
import type { CommandContext } from './context.ts'
import { SERVE_OPTIONS } from './flags.ts'
import { ofSyntheticRates, readQuoteSettings } from './quotes.ts'
import { openServer } from './servers.ts'
import { findStore, openStore } from './store.ts'
import { chooseUpstreams } from './upstreams.ts'
import type { OwnProviders, Upstreams } from './upstreams.ts'
import { UsageError, parseArguments, parseName, refuseWith, withUsageError } from './usage.ts'

/** The whole stop takes at most `STOP_LIMIT_MS`; file work after the last response at most `FINAL_WORK_MS`. */
const STOP_LIMIT_MS = 10_000
const FINAL_WORK_MS = 1_000

const POLL_INTERVAL_MS = 20

/** Names of active resources that run on Node's thread pool, which a dead disk or name server can block. */
const THREAD_WORK = /^(?:FSReq|GetAddrInfo|GetNameInfo)/

/** Runs `ratesmith serve`, then ends the process even if a client, disk or name server still keeps it open. */
export async function serveAndExit(args: string[], context: CommandContext): Promise<never> {
  const signal = await serve(args, context)
  if (hasThreadWork()) {
    // Without a listener, the signal ends the process immediately, unless it is process 1 of a container.
    process.kill(process.pid, signal)
    await sleep(POLL_INTERVAL_MS)
  }
  process.exit(0)
}

/**
 * Runs `ratesmith serve` until a signal; resolves with it when the last response is sent.
 *
 * @throws {UsageError} for an invalid flag, variable or file
 * @throws {Error} with a message for the operator if the server cannot listen
 */
async function serve(args: string[], context: CommandContext): Promise<NodeJS.Signals> {
  const flags = parseServeFlags(args)
  const { stdout, stderr, env } = context
  // The server continues when a reader of its output exits.
  for (const output of [stdout, stderr]) output.on('error', () => {})
  const { config: file, port, host, demo, store } = flags
  // Otherwise the server would need no keys.
  if (file === undefined && env['RATESMITH_KEYS'])
    throw new UsageError('RATESMITH_KEYS needs a config file with the option access')
  const config: Config = file === undefined ? { server: {} } : await loadConfig(file)
  const { options = {}, server } = config
  const named = findStore(store, env)
  const isFromFile = store === undefined && (config.handler || options.store)
  // A store must not get synthetic rates, which other servers would then serve.
  const opened = named && !demo && !isFromFile ? await openStore(named) : undefined
  try {
    const { handler, home, hints } = config.handler
      ? useHandler(config.handler, flags)
      : await createHandler(flags, options, opened?.store, context)
    const starting = openServer(handler, { port, host, server, home, file }, context)
    // Otherwise its timers would keep the process open.
    starting.catch(() => handler.close?.())
    const running = await starting
    const about = `ratesmith listens on ${running.url}${demo ? ' with synthetic rates' : ''}`
    stdout.write(`${[about, ...hints(running.url)].join('\n')}\n`)
    const signal = await stopSignal()
    const stopBy = performance.now() + STOP_LIMIT_MS
    await running.stop()
    handler.close?.()
    const endBy = Math.min(stopBy, performance.now() + FINAL_WORK_MS)
    while (hasThreadWork() && performance.now() < endBy) await sleep(POLL_INTERVAL_MS)
    return signal
  } finally {
    opened?.close()
  }
}

const MAX_PORT = 65_535

type ServeFlags = ReturnType<typeof parseServeFlags>

/** @throws {UsageError} naming the invalid flag */
function parseServeFlags(args: string[]) {
  const { values, positionals } = parseArguments({
    args,
    options: SERVE_OPTIONS,
    allowPositionals: true,
  })
  const [config, second] = positionals
  if (second !== undefined) {
    throw new UsageError(`serve takes one config file, got ${positionals.join(' ')}`)
  }
  const { port = '8787', host = '127.0.0.1', demo, store, log } = values
  if (!/^\d{1,5}$/.test(port) || Number(port) > MAX_PORT) {
    throw new UsageError(`--port must be a number from 0 to ${MAX_PORT}, got ${port}`)
  }
  // For an empty host, Node listens on every address.
  if (host === '') throw new UsageError('--host must be an address, got ""')
  if (demo) refuseWith('--demo', { store })
  return {
    ...values,
    config,
    port: Number(port),
    // Accepts an IPv6 address in the brackets of a URL.
    host: host.replace(/^\[(.*)\]$/, '$1'),
    log: log === undefined ? undefined : parseName('--log', log, ['json', 'text']),
    /** The flags that need options instead of a handler. */
    ofHandler: Object.keys(values).filter((name) => !['port', 'host'].includes(name)),
  }
}

/** Returns whether work on files or names is in progress, for which Node waits at its exit; other runtimes do not. */
function hasThreadWork(): boolean {
  return (
    platform === 'node' && process.getActiveResourcesInfo().some((name) => THREAD_WORK.test(name))
  )
}

const EXAMPLES = [
  'latest?base=EUR&symbols=USD,GBP,JPY',
  'convert?from=USD&to=EUR&amount=100',
  'history?from=USD&to=EUR&period=1M',
  'status',
]

interface Prepared {
  handler: ConfiguredHandler
  /** Where `/` leads; undefined where the file has the handler. */
  home: string | undefined
  /** Returns the lines to print at the start. */
  hints(root: string): string[]
}

function useHandler(handler: ConfiguredHandler, flags: ServeFlags): Prepared {
  const [flag] = flags.ofHandler
  if (flag === undefined) return { handler, home: undefined, hints: () => notesOn(handler) }
  throw new UsageError(
    `--${flag} needs options: the default export of ${flags.config} is a handler`,
  )
}

/** Returns a note if clients without a key are not limited. Of other handlers than ours, that is not known. */
function notesOn(handler: ConfiguredHandler): string[] {
  if (!('keyRules' in handler) || handler.keyRules !== undefined) return []
  return [
    'Clients without a key are not limited: set the option access, see docs/keys-and-limits.md.',
  ]
}

async function createHandler(
  flags: ServeFlags,
  options: RatesHandlerOptions,
  store: RatesHandlerOptions['store'],
  context: CommandContext,
): Promise<Prepared> {
  const { stderr } = context
  const origin = flags.config ?? 'serve'
  const own = withUsageError(origin, () => ownProviders(flags, options))
  const upstreams = await chooseUpstreams(flags, context, own)
  const { latest, history } = upstreams.providers
  const { 'base-path': typed } = flags
  const basePath = typed ?? options.basePath ?? '/api'
  withUsageError(typed === undefined ? origin : '--base-path', () => assertBasePath(basePath))
  const { explorer = true, now = context.now, onEvent } = options
  const settings = options.quotes ?? readQuoteSettings(context.env)
  const quotes = flags.demo ? ofSyntheticRates(settings) : settings
  const log = createLog({
    format: flags.log ?? (stderr.isTTY ? 'text' : 'json'),
    write: (line) => stderr.write(`${line}\n`),
    now: context.now,
  })
  const handler = withUsageError(origin, () =>
    createRatesHandler({
      ...options,
      fetch: options.fetch ?? upstreams.fetch,
      now,
      basePath,
      explorer,
      quotes,
      providers: {
        latest: own.latest && options.providers?.latest === false ? false : latest,
        history: own.history && options.providers?.history === false ? false : history,
      },
      store: flags.demo ? undefined : (store ?? options.store),
      onEvent: onEvent && flags.log === undefined ? onEvent : log,
    }),
  )
  if (onEvent && flags.log !== undefined) handler.subscribe({ onEvent })
  const { keyRules } = handler
  const notes = [...notesOn(handler), ...(keyRules ? notesOnTerms(upstreams) : [])]
  const hints = (root: string): string[] => [
    'Try:',
    ...(explorer ? [`  ${root}${basePath}/ in a browser`] : []),
    ...EXAMPLES.map((path) => `  ${root}${basePath}/v1/${path}`),
    ...(flags.config === undefined ? [] : notes),
  ]
  return { handler, home: explorer ? `${basePath}/` : `${basePath}/v1`, hints }
}

/** Returns the providers of the file that no flag replaces. */
function ownProviders(
  { ofHandler }: ServeFlags,
  { providers = {} }: RatesHandlerOptions,
): OwnProviders {
  assertKnownOptions(providers, { latest: true, history: true }, 'providers')
  const own = Object.entries(providers).flatMap(([data, given]) =>
    given === undefined || ofHandler.includes(data) ? [] : [[data, [given || []].flat()]],
  )
  return Object.fromEntries(own)
}

/** Returns a line if the terms of a provider forbid redistribution: see docs/choose-your-rates.md. */
function notesOnTerms({ providers }: Upstreams): string[] {
  const names = providers.latest.map(({ attribution }) => attribution.name)
  const name = names.find((each) => /\bExchange-?\s?Rate-?\s?API\b/i.test(each))
  const advice = 'use for example --latest fawazahmed0,ecb --history ecb'
  return name ? [`The terms of ${name} forbid serving its rates to others; ${advice}`] : []
}

/** Resolves with the first SIGINT or SIGTERM; a second one ends the process immediately. */
async function stopSignal(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.on(signal, resolve)
  const received = await promise
  for (const signal of signals) process.off(signal, resolve)
  return received
}
