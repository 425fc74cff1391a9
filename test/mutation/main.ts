/**
 * Tries what the tests notice: `npm run mutate -- rates gates`, or all rooms without a name.
 *
 *   --jobs N       mutants at a time (default 2)
 *   --incremental  takes what is known of unchanged mutants by unchanged tests from the run before
 *   --files GLOB   mutates these files of the room alone
 *
 * Ends with an error where less than 90 % of the mutants of a room are killed.
 */
import { parseArgs } from 'node:util'

import { ROOMS } from './rooms.ts'
import type { Room } from './rooms.ts'
import { scoresOf, tellSurvivors } from './score.ts'
import type { Score } from './score.ts'
import { tryRoom } from './try-room.ts'

/** The least share of killed mutants in a room, in percent. */
const LEAST_PERCENT = 90

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '2' },
    incremental: { type: 'boolean', default: false },
    files: { type: 'string' },
  },
})

const chosen = positionals.length > 0 ? positionals : Object.keys(ROOMS)
const rooms = chosen.map((name) => [name, roomOf(name)] as const)
const scores: [name: string, Score][] = []
for (const [name, room] of rooms) {
  const mutants = tryRoom(name, room, {
    jobs: Number(values.jobs),
    isIncremental: values.incremental,
  })
  const survivors = tellSurvivors(mutants)
  process.stdout.write(`\n${[`Survivors in ${name}:`, ...survivors].join('\n')}\n`)
  scores.push(...scoresOf(name, mutants))
}
process.stdout.write(`\n${scores.map(toLine).join('\n')}\n`)

const poor = scores.filter(([name, { percent }]) => name in ROOMS && percent < LEAST_PERCENT)
if (poor.length > 0) {
  process.stderr.write(`below ${LEAST_PERCENT} %: ${poor.map(([name]) => name).join(', ')}\n`)
  process.exitCode = 1
}

function roomOf(name: string): Room {
  const room = ROOMS[name]
  if (room) return values.files === undefined ? room : { ...room, files: [values.files] }
  process.stderr.write(`there is no room ${name}, but ${Object.keys(ROOMS).join(', ')}\n`)
  return process.exit(2)
}

function toLine([name, { killed, survived, percent }]: [string, Score]): string {
  const counts = `${String(killed).padStart(5)} killed ${String(survived).padStart(4)} survived`
  return `${percent.toFixed(1).padStart(5)} % ${counts}  ${name}`
}
