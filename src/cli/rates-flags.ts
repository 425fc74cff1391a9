import type { ParseArgsConfig } from 'node:util'

import { parseArguments } from './parse-arguments.ts'
import type { SessionFlags } from './rates-session.ts'

/** What every command but `serve` is told. */
export interface RatesFlags extends SessionFlags {
  /** Whether to answer with JSON. */
  json: boolean
}

const SHARED = {
  latest: { type: 'string' },
  history: { type: 'string' },
  json: { type: 'boolean' },
  demo: { type: 'boolean' },
  'no-cache': { type: 'boolean' },
} as const

/** What a command line says. */
export interface RatesArguments<Own extends string> {
  flags: RatesFlags
  /** The values of the flags that the command has of its own. */
  own: Partial<Record<Own, string>>
  positionals: string[]
}

/** What a command takes beside what all of them do. */
export interface TakenArguments<Own extends string> {
  /** The flags with a value that only it has (default none). */
  own?: readonly Own[]
  /** Those without one that only it has (default none); said, their value is `true`. */
  switches?: readonly Own[]
  /** Whether it takes more than flags (default true). */
  allowPositionals?: boolean
}

/**
 * Reads the arguments of a command that asks for rates.
 *
 * @throws {UsageError} naming the argument that cannot be used
 */
export function parseRatesArguments<Own extends string = never>(
  args: string[],
  { own = [], switches = [], allowPositionals = true }: TakenArguments<Own> = {},
): RatesArguments<Own> {
  const options: NonNullable<ParseArgsConfig['options']> = { ...SHARED }
  for (const name of own) options[name] = { type: 'string' }
  for (const name of switches) options[name] = { type: 'boolean' }
  const { values, positionals } = parseArguments({ args, options, allowPositionals })
  const texts: Partial<Record<Own, string>> = {}
  for (const name of [...own, ...switches]) {
    const value = values[name]
    if (typeof value === 'string' || value === true) texts[name] = String(value)
  }
  const { latest, history } = values
  const flags = {
    providers: { latest: textOf(latest), history: textOf(history) },
    json: values['json'] === true,
    demo: values['demo'] === true,
    cache: values['no-cache'] !== true,
  }
  return { flags, own: texts, positionals }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
