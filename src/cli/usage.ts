import { didYouMean, nearest } from '../known-options.ts'
import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'

/** An invalid command line or environment; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Returns the message of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/**
 * Calls `make` and returns its result.
 *
 * @throws {UsageError} `name: message` if `make` throws, where `name` is a flag or variable
 */
export function withUsageError<Made>(name: string, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    throw new UsageError(`${name}: ${messageOf(error)}`, { cause: error })
  }
}

/** Calls `parseArgs` of Node and turns its errors into a `UsageError` of one sentence. */
export function parseArguments<Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    // Node's first sentence names the flag; the others are about quoting.
    const [sentence = ''] = messageOf(error).split(/\.\s/, 1)
    const [, flag] = /^Unknown option '--(.*)'$/.exec(sentence) ?? []
    const names = flag === undefined ? [] : nearest(flag, Object.keys(config.options ?? {}), 2)
    const flags = names.map((name) => `--${name}`)
    throw new UsageError(`${sentence}${didYouMean(flags)}`, { cause: error })
  }
}
