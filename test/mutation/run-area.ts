import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

import { ROOT } from '../system/runtimes.ts'

/** One run: its mutated files and its tests, as paths from the project root. */
interface Run {
  files: readonly string[]
  tests: readonly string[]
  /** Mutants tested at a time. */
  jobs: number
  /** Whether results of unchanged mutants and tests are reused from the last run. */
  isIncremental: boolean
}

/** The result of one mutant, as in the report. */
export interface Mutant {
  status: string
  mutatorName: string
  replacement?: string
  location: { start: { line: number; column: number } }
}

/** The mutants of each file, by its path from the project root. */
export type Mutants = ReadonlyMap<string, readonly Mutant[]>

/** The folder of reports, `<area>.json` and `<area>.html`, from the project root. */
const FOLDER = join('build', 'mutation')

/**
 * Runs every mutant of an area.
 *
 * @throws {Error} if the run does not finish: a test fails without a mutant, or there is nothing to mutate
 */
export function runArea(name: string, run: Run): Mutants {
  const report = join(ROOT, FOLDER, `${name}.json`)
  const settings = join(ROOT, FOLDER, `${name}-settings.json`)
  rmSync(report, { force: true })
  mkdirSync(join(ROOT, FOLDER), { recursive: true })
  writeFileSync(settings, JSON.stringify(settingsOf(name, run)))
  // Inherited by the processes that run the tests.
  const env = { ...process.env, MUTATION_TESTS: run.tests.join('\n') }
  const { status } = spawnSync(process.execPath, [findStryker(), 'run', settings], {
    cwd: ROOT,
    env,
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error(`the mutation run of ${name} did not finish`)
  const { files }: { files: Record<string, { mutants: Mutant[] }> } = JSON.parse(
    readFileSync(report, 'utf8'),
  )
  return new Map(Object.entries(files).map(([path, { mutants }]) => [path, mutants]))
}

/** Returns the path of Stryker's program, which is installed by `npm run tools`. */
function findStryker(): string {
  const manifest = createRequire(import.meta.url).resolve('@stryker-mutator/core/package.json')
  const { bin }: { bin: { stryker: string } } = JSON.parse(readFileSync(manifest, 'utf8'))
  return join(dirname(manifest), bin.stryker)
}

function settingsOf(name: string, { files, jobs, isIncremental }: Run): object {
  return {
    mutate: files,
    testRunner: 'vitest',
    // A mutant at the top level of a module is tried only by the test files that import the module.
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: true },
    coverageAnalysis: 'perTest',
    concurrency: jobs,
    timeoutMS: 10_000,
    ignorePatterns: ['dist', 'build', 'bench', 'test/apps', 'test/tools'],
    tempDirName: join('build', 'mutate', name),
    // Stryker rewrites a tsconfig.json, and cannot read that of TypeScript 7.
    tsconfigFile: 'none.json',
    incremental: isIncremental,
    incrementalFile: join(FOLDER, `${name}-incremental.json`),
    reporters: ['json', 'html', 'progress'],
    jsonReporter: { fileName: join(FOLDER, `${name}.json`) },
    htmlReporter: { fileName: join(FOLDER, `${name}.html`) },
    warnings: { slow: false },
  }
}
