import { parseArgs } from 'node:util'

import type { Measuring } from './rounds.ts'
import { ROW_IDS, RUNTIMES, SHEETS, isName } from './rows.ts'
import type { RuntimeName, SheetName } from './rows.ts'

/** The flags of the command line. */
export interface Flags {
  measuring: Measuring
  runtimes: RuntimeName[]
  /** The tables to measure. */
  names: SheetName[]
  /** The ids of the rows to measure. */
  rowIds: string[]
  checksGoals: boolean
  /** A Frankfurter that runs already: its root, and the id of its process. */
  frankfurter: { url: string; pid: string } | undefined
}

const QUICK = { rounds: 1, seconds: 0.2, maxWarmUps: 0, connections: 8 }
const MAX_WARM_UPS = 4

const NAMES = {
  rounds: { type: 'string', default: '11' },
  seconds: { type: 'string', default: '1' },
  connections: { type: 'string', default: '64' },
  only: { type: 'string', default: Object.keys(SHEETS).join() },
  runtimes: { type: 'string', default: Object.keys(RUNTIMES).join() },
  rows: { type: 'string', default: Object.keys(ROW_IDS).join() },
  profile: { type: 'string' },
  frankfurter: { type: 'string' },
  pid: { type: 'string' },
  quick: { type: 'boolean', default: false },
  'no-judge': { type: 'boolean', default: false },
} as const

/**
 * Reads the command line.
 *
 * @throws {RangeError} naming the invalid flag
 */
export function readFlags(): Flags {
  const { values } = parseArgs({ options: NAMES })
  const { frankfurter: url, pid, profile } = values
  if ((url === undefined) !== (pid === undefined)) {
    throw new RangeError('--frankfurter needs --pid, and --pid needs --frankfurter')
  }
  const measuring = {
    rounds: positive('rounds', values.rounds),
    seconds: positive('seconds', values.seconds),
    connections: positive('connections', values.connections),
    maxWarmUps: MAX_WARM_UPS,
    ...(values.quick && QUICK),
    ...(profile !== undefined && { profile }),
  }
  return {
    measuring,
    runtimes: namesOf('runtimes', values.runtimes, RUNTIMES),
    names: namesOf('only', values.only, SHEETS),
    rowIds: namesOf('rows', profile ?? values.rows, ROW_IDS),
    checksGoals: !values.quick && !values['no-judge'] && profile === undefined,
    frankfurter: url === undefined || pid === undefined ? undefined : { url, pid },
  }
}

function namesOf<Name extends string>(
  flag: string,
  list: string,
  known: Readonly<Record<Name, unknown>>,
): Name[] {
  return list.split(',').map((name) => {
    if (isName(name, known)) return name
    throw new RangeError(`--${flag} must be some of ${Object.keys(known).join()}, got ${name}`)
  })
}

function positive(flag: string, text: string): number {
  const number = Number(text)
  if (!(number > 0)) throw new RangeError(`--${flag} must be a number above 0, got ${text}`)
  return number
}
