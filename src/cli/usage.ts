import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'

import { didYouMean, nearest, toAlternatives } from '../known-options.ts'

/** An invalid command line or environment; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** @throws {UsageError} `name: message` if `make` throws, where `name` is a flag or variable */
export function withUsageError<Made>(name: string, make: () => Made): Made {
  try {
    return make()
  } catch (error) {
    throw new UsageError(`${name}: ${messageOf(error)}`, { cause: error })
  }
}

/** @throws {UsageError} if one of `flags` is given, besides `flag` */
export function refuseWith(flag: string, flags: Readonly<Record<string, unknown>>): void {
  const name = Object.keys(flags).find((each) => (flags[each] ?? false) !== false)
  if (name !== undefined) throw new UsageError(`${flag} cannot be combined with --${name}`)
}

export interface Flag {
  type: 'string' | 'boolean'
  multiple?: boolean
  short?: string
  /** The value in the help: `<code>`. */
  value?: string
  help: string
}

export function text(
  value: string,
  help: string,
  details: Pick<Flag, 'short'> = {},
): Flag & { type: 'string'; multiple?: false } {
  return { type: 'string', value, help, ...details }
}

export function toggle(
  help: string,
  details: Pick<Flag, 'short'> = {},
): Flag & { type: 'boolean'; multiple?: false } {
  return { type: 'boolean', help, ...details }
}

const MAX_EDITS = 2

/**
 * Parses arguments; `adviseOn` returns what to do about an unknown flag, if it knows.
 *
 * @throws {UsageError} of one sentence
 */
export function parseArguments<Config extends ParseArgsConfig>(
  config: Config,
  adviseOn: (flag: string) => string | undefined = () => undefined,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config)
  } catch (error) {
    // Node's first sentence names the flag; the others are about quoting.
    const [sentence = ''] = messageOf(error).split(/\.\s/, 1)
    const [, flag] = /^Unknown option '--(.*)'$/.exec(sentence) ?? []
    const advice = flag === undefined ? '' : (adviseOn(flag) ?? suggest(flag, config.options))
    throw new UsageError(`${sentence}${advice}`, { cause: error })
  }
}

function suggest(flag: string, options: ParseArgsConfig['options'] = {}): string {
  const edits = Math.min(MAX_EDITS, Math.floor(flag.length / 3))
  return didYouMean(nearest(flag, Object.keys(options), edits).map((name) => `--${name}`))
}

/** @throws {UsageError} naming `origin`, the flag or variable */
export function parseNames<Name extends string>(
  origin: string,
  list: string,
  known: readonly Name[],
): Name[] {
  const names = list.split(',').map((text) => parseName(origin, text.trim(), known))
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw new UsageError(`${origin} contains ${repeated} twice`)
  return names
}

/** @throws {UsageError} naming `origin`, the flag or variable */
export function parseName<const Name extends string>(
  origin: string,
  name: string,
  known: readonly Name[],
): Name {
  const found = known.find((each) => each === name)
  if (found !== undefined) return found
  // A short name with several wrong letters could be any of them.
  const near = nearest(name, known, Math.min(3, Math.floor(name.length / 2)))
  throw new UsageError(
    `${origin} must be ${toAlternatives(known)}, got ${name || '""'}${didYouMean(near)}`,
  )
}
