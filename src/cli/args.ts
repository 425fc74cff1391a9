import type { SessionFlags } from './session.ts'
import { parseArguments } from './usage.ts'
import type { ParseArgsConfig } from 'node:util'

/** The flags of every command except `serve`. */
export interface RatesFlags extends SessionFlags {
  /** Whether to print JSON. */
  json: boolean
}

const SHARED = {
  latest: { type: 'string' },
  history: { type: 'string' },
  json: { type: 'boolean' },
  demo: { type: 'boolean' },
  'no-cache': { type: 'boolean' },
} as const

/** The arguments of a command. */
export interface RatesArguments<Own extends string> {
  flags: RatesFlags
  /** The values of the flags that only this command accepts. */
  own: Partial<Record<Own, string>>
  positionals: string[]
}

/** The arguments that a command accepts in addition to the shared flags. */
export interface TakenArguments<Own extends string> {
  /** Flags with a value (default none). */
  own?: readonly Own[]
  /** Flags without a value (default none); `'true'` if set. */
  switches?: readonly Own[]
  /** Whether the command accepts positional arguments (default true). */
  allowPositionals?: boolean
}

/**
 * Reads the arguments of a command that shows rates.
 *
 * @throws {UsageError} naming the invalid argument
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

/** Splits a comma-separated list of codes. */
export function splitCodes(text: string): string[] {
  return text
    .split(',')
    .map((code) => code.trim())
    .filter((code) => code !== '')
}
