import { parseArgs } from 'node:util'

/** The command line or the environment cannot be used as it is; ends the process with 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The forms of a log that can be asked for. */
const LOG_FORMATS = ['json', 'text'] as const

/** What `ratesmith serve` is told. */
export interface ServeFlags {
  port: number
  host: string
  basePath: string
  demo: boolean
  /** The folder that fetched rates are kept in; `undefined` for memory alone. */
  data: string | undefined
  /** `undefined` where it is left to what the log is written to. */
  log: (typeof LOG_FORMATS)[number] | undefined
}

/**
 * Reads the flags of `ratesmith serve`.
 *
 * @throws {UsageError} naming the flag that cannot be used
 */
export function parseServeFlags(args: string[]): ServeFlags {
  const flags = parse(args)
  const { port = '8787', host = '127.0.0.1', demo = false, 'base-path': basePath = '/api' } = flags
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new UsageError(`--port must be a number from 0 to 65535, got ${port}`)
  }
  // Node would listen on every address.
  if (host === '') throw new UsageError('--host must be an address, got nothing')
  const { data } = flags
  if (data === '') throw new UsageError('--data must be a folder, got nothing')
  return { port: Number(port), host, basePath, demo, data, log: readLogFormat(flags.log) }
}

function readLogFormat(text: string | undefined): ServeFlags['log'] {
  const format = LOG_FORMATS.find((each) => each === text)
  if (text === undefined || format) return format
  throw new UsageError(`--log must be json or text, got ${text}`)
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        port: { type: 'string' },
        host: { type: 'string' },
        'base-path': { type: 'string' },
        demo: { type: 'boolean' },
        data: { type: 'string' },
        log: { type: 'string' },
      },
    }).values
  } catch (error) {
    // Node's first sentence names the flag; it goes on about quoting.
    const [sentence = ''] = String(error instanceof Error ? error.message : error).split(/\.\s/, 1)
    throw new UsageError(sentence, { cause: error })
  }
}
