import { join } from 'node:path'

import { describe, expect, it } from 'vitest'
import type { TestContext } from 'vitest'

import { createRandom } from '../simulation/world/random.ts'
import type { Random } from '../simulation/world/random.ts'
import type { Found } from './kill-program.ts'
import { IS_SHORT, launch, run, temporaryFolder } from './processes.ts'
import { ROOT } from './runtimes.ts'

const PROGRAM = `${ROOT}/test/system/kill-program.ts`

/** Seed of the times of the kills. The clocks of the processes determine what each kill hits. */
const SEED = process.env['KILL_SEED'] ?? crypto.randomUUID().slice(0, 8)

const KILLS = IS_SHORT ? 30 : 200

/** Start of the first process's clock, in ms since the Unix epoch: at midnight, since the program counts in hours. */
const START = Date.UTC(2027, 0, 4)

const TIME_LIMIT = 900_000

const KEPT = ['latest', 'history', 'ballast'] as const

type Kept = (typeof KEPT)[number]

type Tally = Record<Kept | 'inspections', number>

/** Kills one process after another over the same store; rejects when a process finds lost or corrupt data. */
async function killAgainAndAgain(
  kind: string,
  kills: number,
  context: Pick<TestContext, 'onTestFinished'>,
): Promise<Tally> {
  const folder = temporaryFolder(context.onTestFinished)
  const env = { NODE_COMPILE_CACHE: join(folder, 'compiled') }
  const random = createRandom(`${SEED}/${kind}`)
  const tally: Tally = { inspections: 0, latest: 0, history: 0, ballast: 0 }
  const newest: Partial<Record<Kept, number>> = {}
  let clock = START
  // One more start, to inspect the data after the last kill.
  for (let kill = 0; kill <= kills; kill += 1) {
    const args = [kind, join(folder, 'rates'), String(clock)]
    const output = parseOutput(await runUntilKilled(args, env, random, context), clock)
    const violations = [...output.failed, ...(output.found?.broken ?? [])]
    for (const kept of KEPT) {
      const number = output.found?.[kept]
      const isLost = output.found && (number ?? -Infinity) < (newest[kept] ?? -Infinity)
      if (isLost) violations.push(`${kept}: stored ${newest[kept]}, found ${number ?? 'nothing'}`)
      else if (number !== undefined) newest[kept] = number
    }
    if (violations.length > 0) {
      throw new Error(`${kind}, after kill ${kill} of seed ${SEED}: ${violations.join('; ')}`)
    }
    for (const [kept, number] of output.stored) {
      newest[kept] = number
      tally[kept] += 1
    }
    tally.inspections += output.found ? 1 : 0
    clock = output.clock
  }
  return tally
}

/**
 * Returns the output of a process that is killed after a few stored values and a random delay; one in ten is killed
 * earlier.
 */
async function runUntilKilled(
  args: string[],
  env: NodeJS.ProcessEnv,
  random: Random,
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
): Promise<string> {
  const victim = launch(process.execPath, [PROGRAM, ...args], { env })
  onTestFinished(() => void victim.process.kill('SIGKILL'))
  const killIn = (delay: number): unknown => setTimeout(() => victim.process.kill('SIGKILL'), delay)
  if (random.chance(0.1)) killIn(random.between(0, 200))
  const limit = random.whole(1, 12)
  const delay = random.between(0, 8)
  victim.process.stdout.on('data', () => {
    if (victim.stdout.split('stored').length > limit) killIn(delay)
  })
  await victim.exited
  if (victim.process.signalCode === 'SIGKILL') return victim.stdout
  throw new Error(`the process ended by itself: ${victim.stderr}`)
}

/** Parses the output of a killed process; `found` is absent if it was killed before its inspection. */
function parseOutput(stdout: string, clock: number) {
  const stored: [kept: Kept, number: number][] = []
  // Failed store operations, except timeouts.
  const failed: string[] = []
  const output = { found: undefined as Found | undefined, clock, stored, failed }
  // The text after the last line break is an unfinished line.
  for (const line of stdout.split('\n').slice(0, -1)) {
    const [what] = line.split(' ', 1)
    const rest = line.slice(line.indexOf(' ') + 1)
    if (what === 'found') output.found = JSON.parse(rest)
    else if (what === 'at') output.clock = Number(rest)
    else if (what === 'failed') output.failed.push(rest)
    else {
      const kept = KEPT.find((name) => rest.startsWith(name))
      if (kept) output.stored.push([kept, Number(rest.slice(kept.length))])
    }
  }
  return output
}

describe(`a process that is killed at ${KILLS} random times`, { timeout: TIME_LIMIT }, () => {
  const kinds = ['file', 'sqlite']
  it.concurrent.for(kinds)('finds all data of its %s store intact', async (kind, context) => {
    const tally = await killAgainAndAgain(kind, KILLS, context)
    // With smaller counts, too few kills would have hit a write.
    expect(tally.inspections).toBeGreaterThan(0.7 * KILLS)
    expect(tally.ballast).toBeGreaterThan(2 * KILLS)
    expect(tally.latest).toBeGreaterThan(KILLS)
    expect(tally.history).toBeGreaterThan(KILLS / 4)
  })
})

describe('createSqliteStore()', () => {
  const imports = "import { createSqliteStore } from 'ratesmith/stores/sqlite'"
  const evaluate = ['--input-type=module', '--eval']

  it('opens in several processes that create the database at the same time', async () => {
    const folder = temporaryFolder()
    // The processes synchronise each round by files.
    const program = `${imports}
      import { globSync, writeFileSync } from 'node:fs'
      const [, folder] = process.argv
      for (let round = 0; round < 10; round += 1) {
        writeFileSync(folder + '/' + round + '-' + process.pid, '')
        while (globSync(folder + '/' + round + '-*').length < 6);
        createSqliteStore(folder + '/' + round + '.db').close()
      }`
    const args = [...evaluate, program, folder]
    const ends = await Promise.all(Array.from({ length: 6 }, () => run(process.execPath, args)))
    expect(ends.map(({ code, stderr }) => stderr || code)).toEqual([0, 0, 0, 0, 0, 0])
  })
})
