import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'

import { didYouMean, nearest } from '../nearest.ts'
import { UsageError, messageOf } from './usage-error.ts'

/** `parseArgs` of Node; what that refuses is refused in one sentence. */
export function parseArguments<Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    // Node's first sentence names the flag; it goes on about quoting.
    const [sentence = ''] = messageOf(error).split(/\.\s/, 1)
    const [, flag] = /^Unknown option '--(.*)'$/.exec(sentence) ?? []
    const meant = flag === undefined ? [] : nearest(flag, Object.keys(config.options ?? {}), 2)
    const flags = meant.map((name) => `--${name}`)
    throw new UsageError(`${sentence}${didYouMean(flags)}`, { cause: error })
  }
}
