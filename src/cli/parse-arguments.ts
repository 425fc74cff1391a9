import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'

import { didYouMean, nearest } from '../nearest.ts'
import { UsageError, messageOf } from './usage-error.ts'

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
