import { parseArgs } from 'node:util'

import { GENERATORS, wrkVersion } from './load.ts'
import type { GeneratorName } from './load.ts'
import type { Measuring } from './rounds.ts'
import { RUNTIMES } from './rows.ts'
import type { RuntimeName } from './rows.ts'

/** The flags of the command line. */
export interface Flags {
  measuring: Measuring
  runtimes: RuntimeName[]
  /** The parts to measure. */
  parts: string[]
  checksGoals: boolean
  /** Whether to run as briefly as possible, only to test that everything runs. */
  isQuick: boolean
  /** An additional server program to measure. */
  also: string | undefined
  /** The row of which to write a CPU profile, instead of measuring. */
  profile: string | undefined
  /** A Frankfurter that runs already: its root, and the id of its process. */
  frankfurter: { url: string; pid: string } | undefined
}

const QUICK = { rounds: 1, seconds: 0.2, maxWarmUps: 0, connections: 8 }
const MAX_WARM_UPS = 8

const NAMES = {
  load: { type: 'string' },
  rounds: { type: 'string', default: '11' },
  seconds: { type: 'string', default: '1' },
  connections: { type: 'string', default: '64' },
  only: { type: 'string' },
  runtimes: { type: 'string' },
  also: { type: 'string' },
  profile: { type: 'string' },
  frankfurter: { type: 'string' },
  pid: { type: 'string' },
  quick: { type: 'boolean', default: false },
  'no-judge': { type: 'boolean', default: false },
} as const

/**
 * Reads the command line. `--only` accepts one of `parts`.
 *
 * @throws {RangeError} naming the invalid flag
 */
export function readFlags(parts: readonly string[]): Flags {
  const { values } = parseArgs({ options: NAMES })
  const measuring = {
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
    connections: positive('connections', values.connections),
    maxWarmUps: MAX_WARM_UPS,
    ...(values.quick ? QUICK : {}),
  }
  const generator = values.load ?? (wrkVersion() === undefined ? 'autocannon' : 'wrk')
  return {
    measuring: { ...measuring, generator: oneOf('load', generator, GENERATOR_NAMES) },
    runtimes: values.runtimes?.split(',').map((name) => oneOf('runtimes', name, RUNTIME_NAMES)) ?? [
      ...RUNTIME_NAMES,
    ],
    parts: values.only === undefined ? [...parts] : [oneOf('only', values.only, parts)],
    checksGoals: !values.quick && !values['no-judge'],
    isQuick: values.quick,
    also: values.also,
    profile: values.profile,
    frankfurter: running(values.frankfurter, values.pid),
  }
}

const GENERATOR_NAMES = Object.keys(GENERATORS).filter((name) => isGenerator(name))
const RUNTIME_NAMES = Object.keys(RUNTIMES).filter((name) => isRuntime(name))

function running(url: string | undefined, pid: string | undefined): Flags['frankfurter'] {
  if (url === undefined && pid === undefined) return undefined
  if (url === undefined || pid === undefined) throw new RangeError('--frankfurter needs --pid')
  return { url, pid }
}

function isGenerator(name: string): name is GeneratorName {
  return Object.hasOwn(GENERATORS, name)
}

function isRuntime(name: string): name is RuntimeName {
  return Object.hasOwn(RUNTIMES, name)
}

function oneOf<Name extends string>(flag: string, text: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === text)
  if (found === undefined) throw new RangeError(`--${flag} must be one of ${names.join(', ')}`)
  return found
}

function positive(flag: string, text: string): number {
  const number = Number(text)
  if (!(number > 0)) throw new RangeError(`--${flag} must be a number above 0, got ${text}`)
  return number
}
