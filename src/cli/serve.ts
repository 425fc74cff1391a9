import { accessSync, constants, mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server } from 'node:http'

import { toNodeHandler } from '../../adapters/node.ts'
import {
  createExchangeRateApiProvider,
  createFrankfurterProvider,
  createRatesHandler,
} from '../index.ts'
import type { CacheStore, RatesHandler, RatesHandlerOptions } from '../index.ts'
import { createFileStore } from '../stores/file.ts'
import { fakeProviders } from '../testing/index.ts'
import { UsageError, parseServeFlags } from './flags.ts'
import type { ServeFlags } from './flags.ts'
import { createLog } from './log.ts'

/** How long answers under way may take to finish once the server is told to stop, in ms. */
const DRAINING_LIMIT = 10_000

/**
 * `ratesmith serve`: resolves to the exit code when the server has been told to stop and its last answer is sent.
 *
 * @throws {UsageError} for flags or an environment that cannot be used
 * @throws {Error} with a message for the operator where it cannot listen
 */
export async function serve(args: string[]): Promise<number> {
  const flags = parseServeFlags(args)
  // Whoever reads along may leave; the server stays.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})
  const handler = createHandler(flags)
  const server = createServer(toNodeHandler(handler))
  await listen(server, flags)
  process.stdout.write(greeting(server, flags))
  await stopSignal()
  await drain(server)
  handler.close()
  return 0
}

function createHandler({ basePath, demo, data, log }: ServeFlags): RatesHandler {
  const providers = demo ? fakeProviders() : liveProviders()
  const store = data === undefined ? undefined : told('--data', () => createDataStore(data))
  const onEvent = createLog({
    format: log ?? (process.stderr.isTTY ? 'text' : 'json'),
    write: (line) => process.stderr.write(`${line}\n`),
    now: Date.now,
  })
  return told('--base-path', () => createRatesHandler({ basePath, providers, store, onEvent }))
}

/** Rather no server than one that the operator believes to keep its data. */
function createDataStore(folder: string): CacheStore {
  mkdirSync(folder, { recursive: true })
  accessSync(folder, constants.R_OK | constants.W_OK)
  return createFileStore(folder)
}

function liveProviders(): NonNullable<RatesHandlerOptions['providers']> {
  const { RATESMITH_LATEST_URL: latest, RATESMITH_HISTORY_URL: history } = process.env
  return {
    latest: told('RATESMITH_LATEST_URL', () =>
      createExchangeRateApiProvider({ url: latest || undefined }),
    ),
    history: told('RATESMITH_HISTORY_URL', () =>
      createFrankfurterProvider({ url: history || undefined }),
    ),
  }
}

/** What `make` makes; what it refuses is put down to `name`, which is what the operator wrote. */
function told<Made>(name: string, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${name}: ${reason}`, { cause: error })
  }
}

async function listen(server: Server, { port, host }: ServeFlags): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', (error: NodeJS.ErrnoException) => {
    const reason =
      error.code === 'EADDRINUSE'
        ? `port ${port} on ${host} is taken; choose another with --port`
        : `cannot listen on ${host}, port ${port}: ${error.message}`
    reject(new Error(reason, { cause: error }))
  })
  server.listen(port, host, resolve)
  await promise
}

function greeting(server: Server, { host, basePath, demo }: ServeFlags): string {
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const root = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  return [
    `ratesmith listens on ${root}${demo ? ' with synthetic rates' : ''}. Try:`,
    `  ${root}${basePath}/v1/latest?base=EUR&symbols=USD,GBP,JPY`,
    `  ${root}${basePath}/v1/convert?from=USD&to=EUR&amount=100`,
    `  ${root}${basePath}/v1/history?from=USD&to=EUR&period=1M`,
    `  ${root}${basePath}/v1/status`,
    '',
  ].join('\n')
}

async function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  // Once only: a second signal ends the process at once, as without a handler.
  process.once('SIGINT', () => resolve())
  process.once('SIGTERM', () => resolve())
  await promise
}

/** Takes no more connections and resolves when the last answer under way is sent. */
async function drain(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const giveUp = setTimeout(() => server.closeAllConnections(), DRAINING_LIMIT)
  // A connection that was busy is kept alive after its answer, and would hold the server open.
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  server.close(() => resolve())
  await promise
  clearTimeout(giveUp)
  clearInterval(sweep)
}
