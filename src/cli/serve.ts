import { setTimeout as sleep } from 'node:timers/promises'

import type { Access } from '../access/index.ts'
import { createRatesHandler } from '../index.ts'
import type { RatesHandler } from '../index.ts'
import { createLog } from '../log.ts'
import type { OpenAccess } from './access.ts'
import { platform } from './context.ts'
import type { CommandContext } from './context.ts'
import { SERVICES, needsAccess, parseServeFlags } from './serve-flags.ts'
import type { ServeFlags } from './serve-flags.ts'
import { openServers, prepareMonitoring } from './servers.ts'
import { openStore } from './store.ts'
import type { OpenStore } from './store.ts'
import { chooseUpstreams } from './upstreams.ts'
import { withUsageError } from './usage.ts'

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
 * @throws {UsageError} for an invalid flag or variable
 * @throws {Error} with a message for the operator if the server cannot listen
 */
async function serve(args: string[], context: CommandContext): Promise<Stop> {
  const flags = parseServeFlags(args)
  const { stdout, stderr, env } = context
  // The server continues when a reader of its output exits.
  for (const output of [stdout, stderr]) output.on('error', () => {})
  const tls = flags.https && (await import('./tls.ts')).readTls(flags.https)
  const access = needsAccess(flags, env) ? await prepareAccess(flags, context) : undefined
  const monitoring = await prepareMonitoring(flags)
  const opened = await openStore(flags, env)
  let rules: OpenAccess | undefined
  try {
    rules = await access?.(opened)
    const handler = await createHandler(flags, opened, context, rules?.access)
    const starting = openServers(handler, { flags, tls, monitoring, context })
    // Otherwise its timers would keep the process open.
    starting.catch(handler.close)
    const server = await starting
    stdout.write(startMessage(server.url, flags, rules?.notes))
    const signal = await stopSignal()
    const stopBy = performance.now() + STOP_LIMIT_MS
    await server.stop()
    handler.close()
    const endBy = Math.min(stopBy, performance.now() + FINAL_WORK_MS)
    while (isBlocked(opened) && performance.now() < endBy) await sleep(POLL_INTERVAL_MS)
    return { signal, isBlocked: isBlocked(opened) }
  } finally {
    rules?.close()
    opened.close()
  }
}

/** Validates the flags about access; returns a function that opens keys and counters. */
async function prepareAccess(
  flags: ServeFlags,
  context: CommandContext,
): Promise<(opened: OpenStore) => Promise<OpenAccess>> {
  const { noteOnTerms, openAccess, readAccess } = await import('./access.ts')
  const settings = readAccess(flags, context.env)
  return async (opened) => {
    const rules = await openAccess(settings, opened, context)
    return { ...rules, notes: [...(await noteOnTerms(flags, context.env)), ...rules.notes] }
  }
}

function isBlocked({ isBusy }: OpenStore): boolean {
  // Other runtimes do not wait for threads at their exit.
  if (platform !== 'node') return false
  return isBusy() || process.getActiveResourcesInfo().some((name) => THREAD_WORK.test(name))
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
  { store }: OpenStore,
  context: CommandContext,
  access: Access | undefined,
): Promise<RatesHandler> {
  const { basePath, compat, cors, explorer, log } = flags
  const { stderr, now } = context
  const upstreams = await chooseUpstreams(flags, context)
  const onEvent = createLog({
    format: log ?? (stderr.isTTY ? 'text' : 'json'),
    write: (line) => stderr.write(`${line}\n`),
    now,
  })
  let handler = withUsageError('--base-path', () =>
    createRatesHandler({ ...upstreams, basePath, cors, explorer, store, onEvent, access }),
  )
  for (const name of compat) {
    const mount = await SERVICES[name].load()
    handler = mount(handler, { cors: cors !== 'off', onEvent })
  }
  return handler
}

function startMessage(
  root: string,
  { basePath, compat, demo, explorer }: ServeFlags,
  notes: readonly string[] = [],
): string {
  return [
    `ratesmith listens on ${root}${demo ? ' with synthetic rates' : ''}. Try:`,
    ...(explorer ? [`  ${root}${basePath}/ in a browser`] : []),
    `  ${root}${basePath}/v1/latest?base=EUR&symbols=USD,GBP,JPY`,
    `  ${root}${basePath}/v1/convert?from=USD&to=EUR&amount=100`,
    `  ${root}${basePath}/v1/history?from=USD&to=EUR&period=1M`,
    `  ${root}${basePath}/v1/status`,
    ...compat.map((name) => `  ${root}${SERVICES[name].example} as ${name}`),
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
