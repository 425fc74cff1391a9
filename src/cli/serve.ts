import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import type { FetchHandler, RunningServer, ServeOptions } from '../../adapters/node.ts'
import { LARGE_BODY_BYTES } from '../compression/encodings.ts'
import type { Codecs } from '../compression/encodings.ts'
import { withCompression } from '../compression/with-compression.ts'
import { createRatesHandler } from '../index.ts'
import type { RatesHandler } from '../index.ts'
import { createLog } from '../log.ts'
import { platform } from './context.ts'
import type { CommandContext } from './context.ts'
import { SERVICES, parseServeFlags } from './serve-flags.ts'
import type { ServeFlags } from './serve-flags.ts'
import { openStore } from './store.ts'
import type { OpenStore } from './store.ts'
import type { Tls } from './tls.ts'
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
  const opened = await openStore(flags, env)
  try {
    const handler = await createHandler(flags, opened, context)
    const server = await listen(handler, flags, tls)
    stdout.write(startMessage(server.url, flags))
    const signal = await stopSignal()
    const stopBy = performance.now() + STOP_LIMIT_MS
    await server.stop()
    handler.close()
    const endBy = Math.min(stopBy, performance.now() + FINAL_WORK_MS)
    while (isBlocked(opened) && performance.now() < endBy) await sleep(POLL_INTERVAL_MS)
    return { signal, isBlocked: isBlocked(opened) }
  } finally {
    opened.close()
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
): Promise<RatesHandler> {
  const { basePath, compat, cors, explorer, log } = flags
  const { stderr, now } = context
  const upstreams = await chooseUpstreams(flags, context)
  const onEvent = createLog({
    format: log ?? (stderr.isTTY ? 'text' : 'json'),
    write: (line) => stderr.write(`${line}\n`),
    now,
  })
  const handler = withUsageError('--base-path', () =>
    createRatesHandler({ ...upstreams, basePath, cors, explorer, store, onEvent }),
  )
  return compat.reduce(
    (mounted, name) => SERVICES[name].mount(mounted, { cors: cors !== 'off', onEvent }),
    handler,
  )
}

interface Adapter {
  serve(handler: FetchHandler, options: ServeOptions): Promise<RunningServer>
}

const ADAPTERS = {
  node: (): Promise<Adapter> => import('../../adapters/node.ts'),
  bun: (): Promise<Adapter> => import('../../adapters/bun.ts'),
  deno: (): Promise<Adapter> => import('../../adapters/deno.ts'),
}

async function listen(
  handler: RatesHandler,
  { port, host: hostname, compress }: ServeFlags,
  tls: Tls | undefined,
): Promise<RunningServer> {
  const adapter = await ADAPTERS[platform]()
  const served = compress ? withCompression(handler, codecs) : handler
  return adapter.serve(served, { port, hostname, tls }).catch((error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'EADDRINUSE'
        ? `port ${port} on ${hostname} is already in use; choose another with --port`
        : `cannot listen on ${hostname}, port ${port}: ${error.message}`
    throw new Error(reason, { cause: error })
  })
}

function startMessage(root: string, { basePath, compat, demo, explorer }: ServeFlags): string {
  return [
    `ratesmith listens on ${root}${demo ? ' with synthetic rates' : ''}. Try:`,
    ...(explorer ? [`  ${root}${basePath}/ in a browser`] : []),
    `  ${root}${basePath}/v1/latest?base=EUR&symbols=USD,GBP,JPY`,
    `  ${root}${basePath}/v1/convert?from=USD&to=EUR&amount=100`,
    `  ${root}${basePath}/v1/history?from=USD&to=EUR&period=1M`,
    `  ${root}${basePath}/v1/status`,
    ...compat.map((name) => `  ${root}${SERVICES[name].example} as ${name}`),
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

/** Codecs for bodies that are compressed once and sent often, while the first client waits. They load zlib on first use. */
export const codecs: Codecs = {
  br: async (body) => {
    const { brotliCompress, constants } = await import('node:zlib')
    const params = { [constants.BROTLI_PARAM_QUALITY]: 5 }
    return trimmed(await promisify(brotliCompress)(body, { params }))
  },
  gzip: async (body) => {
    const { gzip } = await import('node:zlib')
    // Level 1 takes a third of the time; the body is a few percent larger.
    const level = body.length > LARGE_BODY_BYTES ? 1 : 6
    return trimmed(await promisify(gzip)(body, { level }))
  },
}

function trimmed(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  // zlib returns a view of a larger buffer, which would stay in memory.
  return new Uint8Array(bytes)
}
