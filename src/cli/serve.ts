import { setTimeout as sleep } from 'node:timers/promises'

import { assertBasePath } from '../http/target.ts'
import { createRatesHandler } from '../index.ts'
import type { RatesHandlerOptions } from '../index.ts'
import { assertKnownOptions } from '../known-options.ts'
import { createLog } from '../log.ts'
import type { Config, ConfiguredHandler } from './config.ts'
import { platform } from './context.ts'
import type { CommandContext } from './context.ts'
import { handlerFlags, parseServeFlags } from './serve-flags.ts'
import type { IndexOptions } from './index-page.ts'
import type { ServeFlags } from './serve-flags.ts'
import { openServer } from './servers.ts'
import { findStore, openStore } from './store.ts'
import { chooseUpstreams } from './upstreams.ts'
import type { OwnProviders, Upstreams } from './upstreams.ts'
import { UsageError, withUsageError } from './usage.ts'

/** The whole stop takes at most `STOP_LIMIT_MS`; file work after the last response at most `FINAL_WORK_MS`. */
const STOP_LIMIT_MS = 10_000
const FINAL_WORK_MS = 1_000

const POLL_INTERVAL_MS = 20

/** Names of active resources that run on Node's thread pool, which a dead disk or name server can block. */
const THREAD_WORK = /^(?:FSReq|GetAddrInfo|GetNameInfo)/

interface Stop {
  signal: NodeJS.Signals
  /** Whether work on files or names is in progress, for which Node would wait at its exit. */
  isBlocked: boolean
}

/**
 * Runs `ratesmith serve` until a signal; resolves when the last response is sent.
 *
 * @throws {UsageError} for an invalid flag, variable or file
 * @throws {Error} with a message for the operator if the server cannot listen
 */
async function serve(args: string[], context: CommandContext): Promise<Stop> {
  const flags = parseServeFlags(args)
  const { stdout, stderr, env } = context
  // The server continues when a reader of its output exits.
  for (const output of [stdout, stderr]) output.on('error', () => {})
  const config =
    flags.config === undefined
      ? withoutFile(env)
      : await (await import('./config.ts')).loadConfig(flags.config)
  const tls = await readTls(config)
  const opened = await openNamedStore(flags, config, env)
  try {
    const { handler, index, notes } = config.handler
      ? useHandler(config.handler, config.file, flags)
      : await createHandler(flags, config, opened?.store, context)
    const server = { ...config.server, tls }
    const starting = openServer(handler, { ...flags, server, index, file: config.file }, context)
    // Otherwise its timers would keep the process open.
    starting.catch(() => handler.close?.())
    const running = await starting
    stdout.write(startMessage(running.url, flags.demo, index, notes))
    const signal = await stopSignal()
    const stopBy = performance.now() + STOP_LIMIT_MS
    await running.stop()
    handler.close?.()
    const endBy = Math.min(stopBy, performance.now() + FINAL_WORK_MS)
    while (isBlocked(opened) && performance.now() < endBy) await sleep(POLL_INTERVAL_MS)
    return { signal, isBlocked: isBlocked(opened) }
  } finally {
    opened?.close()
  }
}

type OpenStore = Awaited<ReturnType<typeof openStore>>

function withoutFile(env: NodeJS.ProcessEnv): Config {
  // Otherwise the server would need no keys.
  if (env['RATESMITH_KEYS']) {
    throw new UsageError('RATESMITH_KEYS needs a config file with the option access')
  }
  return { file: undefined, options: {}, handler: undefined, server: {} }
}

async function readTls({ file = '', server }: Config): Promise<typeof server.tls> {
  const { tls } = server
  if (tls === undefined) return undefined
  const { checkTls } = await import('./tls.ts')
  return withUsageError(file, () => checkTls(tls))
}

async function openNamedStore(
  { demo, store }: ServeFlags,
  { handler, options }: Config,
  env: NodeJS.ProcessEnv,
): Promise<OpenStore | undefined> {
  const named = findStore(store, env)
  const isFromFile = store === undefined && (handler || options?.store)
  // A store must not get synthetic rates, which other servers would then serve.
  return named && !demo && !isFromFile ? openStore(named) : undefined
}

interface Prepared {
  handler: ConfiguredHandler
  /** What the page at `/` and the start message name; undefined where the file has the handler. */
  index: IndexOptions | undefined
  notes: readonly string[]
}

function useHandler(handler: ConfiguredHandler, file = '', flags: ServeFlags): Prepared {
  const [flag] = handlerFlags(flags)
  if (flag === undefined) return { handler, index: undefined, notes: notesOn(handler) }
  throw new UsageError(`${flag} needs options: the default export of ${file} is a handler`)
}

/** Returns a note if clients without a key are not limited. Of other handlers than ours, that is not known. */
function notesOn(handler: ConfiguredHandler): string[] {
  if (!('keyRules' in handler) || handler.keyRules !== undefined) return []
  return ['Clients without a key are not limited: set the option access, see docs/public-api.md.']
}

function isBlocked(opened: OpenStore | undefined): boolean {
  // Other runtimes do not wait for threads at their exit.
  if (platform !== 'node') return false
  return opened?.isBusy() || process.getActiveResourcesInfo().some((name) => THREAD_WORK.test(name))
}

/** Runs `ratesmith serve`, then ends the process even if a client, disk or name server still keeps it open. */
export async function serveAndExit(args: string[], context: CommandContext): Promise<never> {
  const { signal, isBlocked } = await serve(args, context)
  if (isBlocked) {
    // Without a listener, the signal ends the process immediately, unless it is process 1 of a container.
    process.kill(process.pid, signal)
    await sleep(POLL_INTERVAL_MS)
  }
  process.exit(0)
}

async function createHandler(
  flags: ServeFlags,
  { file, options = {} }: Config,
  store: RatesHandlerOptions['store'],
  context: CommandContext,
): Promise<Prepared> {
  const { stderr, now } = context
  const origin = file ?? 'serve'
  const upstreams = await chooseUpstreams(
    flags,
    context,
    withUsageError(origin, () => ownProviders(flags, options)),
  )
  const { basePath = options.basePath ?? '/api' } = flags
  withUsageError(flags.basePath === undefined ? origin : '--base-path', () =>
    assertBasePath(basePath),
  )
  const { explorer = true, store: ownStore = store, onEvent: ownOnEvent } = options
  const log = createLog({
    format: flags.log ?? (stderr.isTTY ? 'text' : 'json'),
    write: (line) => stderr.write(`${line}\n`),
    now,
  })
  const handler = withUsageError(origin, () =>
    createRatesHandler({
      ...options,
      fetch: options.fetch ?? upstreams.fetch,
      now: options.now ?? now,
      basePath,
      explorer,
      providers: {
        latest: !isOff('latest', flags, options) && upstreams.providers.latest,
        history: !isOff('history', flags, options) && upstreams.providers.history,
      },
      store: flags.demo ? undefined : flags.store === undefined ? ownStore : store,
      onEvent: ownOnEvent && flags.log === undefined ? ownOnEvent : log,
    }),
  )
  if (ownOnEvent && flags.log !== undefined) handler.subscribe({ onEvent: ownOnEvent })
  const { keyRules } = handler
  const needsKey = keyRules?.isOptional === false
  const notes =
    file === undefined ? [] : [...notesOn(handler), ...(keyRules ? notesOnTerms(upstreams) : [])]
  return { handler, index: { basePath, explorer, needsKey }, notes }
}

type DataSetName = keyof Upstreams['providers']

/** Returns whether the file turns a data set off, and no flag turns it on. */
function isOff(
  data: DataSetName,
  { providers }: ServeFlags,
  options: RatesHandlerOptions,
): boolean {
  return options.providers?.[data] === false && providers[data] === undefined
}

function ownProviders(
  { providers: flags }: ServeFlags,
  { providers = {} }: RatesHandlerOptions,
): OwnProviders {
  assertKnownOptions(providers, { latest: true, history: true }, 'providers')
  const { latest, history } = providers
  return {
    ...(latest !== undefined && flags.latest === undefined && { latest: toList(latest) }),
    ...(history !== undefined && flags.history === undefined && { history: toList(history) }),
  }
}

function toList<Provider>(given: Provider | readonly Provider[] | false): Provider[] {
  if (given === false) return []
  return isList(given) ? [...given] : [given]
}

function isList<Item>(given: Item | readonly Item[]): given is readonly Item[] {
  return Array.isArray(given)
}

/** Returns a line if the terms of a provider forbid redistribution: see docs/providers.md. */
function notesOnTerms({ providers }: Upstreams): string[] {
  const found = providers.latest.find(({ attribution }) =>
    /\bExchange-?\s?Rate-?\s?API\b/i.test(attribution.name),
  )
  if (!found) return []
  return [
    `The terms of ${found.attribution.name} forbid serving its rates to others; use for example --latest fawazahmed0,ecb --history ecb`,
  ]
}

function startMessage(
  root: string,
  isDemo: boolean,
  index: IndexOptions | undefined,
  notes: readonly string[],
): string {
  const about = `ratesmith listens on ${root}${isDemo ? ' with synthetic rates' : ''}`
  if (!index) return [about, ...notes, ''].join('\n')
  const { basePath, explorer } = index
  return [
    `${about}. Try:`,
    ...(explorer ? [`  ${root}${basePath}/ in a browser`] : []),
    `  ${root}${basePath}/v1/latest?base=EUR&symbols=USD,GBP,JPY`,
    `  ${root}${basePath}/v1/convert?from=USD&to=EUR&amount=100`,
    `  ${root}${basePath}/v1/history?from=USD&to=EUR&period=1M`,
    `  ${root}${basePath}/v1/status`,
    ...notes,
    '',
  ].join('\n')
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
