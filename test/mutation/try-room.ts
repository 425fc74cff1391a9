import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { ROOT } from '../system/root.ts'
import type { Room } from './rooms.ts'

/** What became of one mutant, as the report has it. */
export interface Mutant {
  status: string
  mutatorName: string
  replacement?: string
  location: { start: { line: number; column: number } }
}

/** The mutants of each file, by its path from the project's folder. */
export type Mutants = ReadonlyMap<string, readonly Mutant[]>

/** How mutants are tried. */
export interface TrialOptions {
  /** How many at a time. */
  jobs: number
  /** Whether what is known of unchanged mutants by unchanged tests is taken from the run before. */
  isIncremental: boolean
}

/** Where the reports are left, as `<room>.json` and `<room>.html`, from the project's folder. */
const FOLDER = join('build', 'mutation')

/**
 * Tries every mutant of a room.
 *
 * @throws {Error} where the trial did not come to its end: a test fails without any mutant, or nothing is mutated
 */
export function tryRoom(name: string, room: Room, options: TrialOptions): Mutants {
  const report = join(ROOT, FOLDER, `${name}.json`)
  const settings = join(ROOT, FOLDER, `${name}-settings.json`)
  rmSync(report, { force: true })
  mkdirSync(join(ROOT, FOLDER), { recursive: true })
  writeFileSync(settings, JSON.stringify(settingsOf(name, room, options)))
  const program = join(ROOT, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js')
  // The processes that run the tests have these from here.
  const env = { ...process.env, MUTATION_TESTS: room.tests.join('\n') }
  const { status } = spawnSync(process.execPath, [program, 'run', settings], {
    cwd: ROOT,
    env,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`the mutants of ${name} were not tried to the end`)
  const { files }: { files: Record<string, { mutants: Mutant[] }> } = JSON.parse(
    readFileSync(report, 'utf8'),
  )
  return new Map(Object.entries(files).map(([path, { mutants }]) => [path, mutants]))
}

function settingsOf(name: string, room: Room, { jobs, isIncremental }: TrialOptions): object {
  return {
    mutate: room.files,
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    concurrency: jobs,
    timeoutMS: 2_000,
    ignorePatterns: ['dist', 'build', '.runtimes', 'bench'],
    tempDirName: join('build', 'mutate', name),
    // A setting of the compiler that it would write anew is of no use here, and it cannot read those of TypeScript 7.
    tsconfigFile: 'none.json',
    incremental: isIncremental,
    incrementalFile: join(FOLDER, `${name}-known.json`),
    reporters: ['json', 'html', 'progress'],
    jsonReporter: { fileName: join(FOLDER, `${name}.json`) },
    htmlReporter: { fileName: join(FOLDER, `${name}.html`) },
    warnings: { slow: false },
  }
}
