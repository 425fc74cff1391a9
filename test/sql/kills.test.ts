import { DatabaseSync } from 'node:sqlite'

import { describe, expect, it } from 'vitest'

import { createRandom } from '../simulation/world/random.ts'
import { launch, temporaryFolder } from '../system/processes.ts'
import { BUN, NODE } from '../system/runtimes.ts'
import type { Runtime } from '../system/runtimes.ts'
import { NO_POSTGRES, startPostgres } from './postgres-server.ts'

const PROGRAM = 'test/sql/sync-program.ts'

const SEED = crypto.randomUUID().slice(0, 8)

/** What the program syncs. */
const MONTHS = 60
const ROWS = 52_160

const ALL = JSON.stringify({ inserted: ROWS, updated: 0 })
const NOTHING = JSON.stringify({ inserted: 0, updated: 0 })

/** Runs the program to its end, or kills it in the month `kill`; returns its last line, empty if it was killed. */
async function sync(
  [, program, ...flags]: Runtime,
  [place, table]: [place: string, table: string],
  kill?: { month: number; delay: number },
): Promise<string> {
  const running = launch(program, [...flags, PROGRAM, place, table])
  const stop = (): unknown => running.process.kill('SIGKILL')
  running.process.stdout.on('data', () => {
    if (kill && running.stdout.split('\n').length > kill.month) setTimeout(stop, kill.delay)
  })
  const code = await running.exited
  if (running.process.signalCode === 'SIGKILL') return ''
  if (code !== 0) throw new Error(running.stderr)
  return running.stdout.trim().split('\n').at(-1) ?? ''
}

/** Kills `kills` processes over a table; then it has to become equal to that of one that ran to its end. */
async function killAgainAndAgain(runtime: Runtime, place: string, kills: number): Promise<void> {
  expect(await sync(runtime, [place, 'reference'])).toBe(ALL)
  const random = createRandom(`${SEED}/${place}`)
  let killed = 0
  for (let count = 0; count < kills; count += 1) {
    const kill = { month: random.whole(1, MONTHS), delay: random.between(0, 15) }
    if ((await sync(runtime, [place, 'rates'], kill)) === '') killed += 1
  }
  expect(killed, `seed ${SEED}`).toBeGreaterThan(0.9 * kills)
  const last = JSON.parse(await sync(runtime, [place, 'rates']))
  expect(last.updated, `seed ${SEED}`).toBe(0)
  expect(await sync(runtime, [place, 'rates'])).toBe(NOTHING)
}

/** Counts the rows of one table that the other lacks, of both, and those of the first. */
const COMPARISON = `select count(*) from (select * from rates except select * from reference)
  union all select count(*) from (select * from reference except select * from rates)
  union all select count(*) from rates`

describe('syncRates() in a process that is killed at random moments, and run again', () => {
  const options = { concurrent: true, timeout: 600_000 }

  it('ends with the same table of SQLite after 50 kills', options, async (context) => {
    const place = `${temporaryFolder(context.onTestFinished)}/rates.db`
    await killAgainAndAgain(NODE, place, 50)
    const database = new DatabaseSync(place)
    const counts = database.prepare(COMPARISON).all()
    database.close()
    expect(counts.map((row) => Object.values(row)).flat()).toEqual([0, 0, ROWS])
  })

  it('ends with the same table of PostgreSQL after 15 kills', options, async (context) => {
    context.skip(NO_POSTGRES || BUN[1] === '', 'PostgreSQL or Bun is not installed')
    const { url, run } = await startPostgres(context.onTestFinished)
    await killAgainAndAgain(BUN, url, 15)
    const named = COMPARISON.replaceAll(/ from \((.*)\)/g, ' from ($1) as rest')
    expect(run(named).split('\n').map(Number)).toEqual([0, 0, ROWS])
  })
})
