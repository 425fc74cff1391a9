import { SERVE_OPTIONS } from './flags.ts'
import { UsageError, parseArguments, parseName, refuseWith } from './usage.ts'

const MAX_PORT = 65_535

export type ServeFlags = ReturnType<typeof parseServeFlags>

/** @throws {UsageError} naming the invalid flag */
export function parseServeFlags(args: string[]) {
  const { values, positionals } = parseArguments({
    args,
    options: SERVE_OPTIONS,
    allowPositionals: true,
  })
  const [config, second] = positionals
  if (second !== undefined) {
    throw new UsageError(`serve takes one config file, got ${positionals.join(' ')}`)
  }
  const { port = '8787', host = '127.0.0.1', latest, history, store, log } = values
  const { demo = false, pegs = false, 'base-path': basePath } = values
  if (!/^\d{1,5}$/.test(port) || Number(port) > MAX_PORT) {
    throw new UsageError(`--port must be a number from 0 to ${MAX_PORT}, got ${port}`)
  }
  // For an empty host, Node listens on every address.
  if (host === '') throw new UsageError('--host must be an address, got ""')
  if (demo) refuseWith('--demo', { store })
  return {
    config,
    port: Number(port),
    // Accepts an IPv6 address in the brackets of a URL.
    host: host.replace(/^\[(.*)\]$/, '$1'),
    basePath,
    demo,
    pegs,
    providers: { latest, history },
    store,
    log: log === undefined ? undefined : parseName('--log', log, ['json', 'text']),
    /** The flags that need options instead of a handler. */
    ofHandler: Object.keys(values).filter((name) => !['port', 'host'].includes(name)),
  }
}
