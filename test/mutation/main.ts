/**
 * Runs mutation tests: `npm run mutate -- rates cache`, or every area by default.
 *
 *   --jobs N       mutants tested at a time (default 2)
 *   --incremental  reuses results of unchanged mutants and tests from the last run
 *   --files GLOB   mutates only these files, in the areas that have them
 *   --tests GLOB   runs these tests instead of those of the areas
 *
 * Prints survivors and scores, and exits with 1 if a run fails or scores below the threshold of its area, unless
 * `--files` or `--tests` narrows it.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

import { ROOT } from '../system/runtimes.ts'
import { AREAS, selectFiles } from './areas.ts'

/** The folder of settings and reports, from the project root. */
const FOLDER = join('build', 'mutation')

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: 'string', default: '2' },
    incremental: { type: 'boolean', default: false },
    files: { type: 'string' },
    tests: { type: 'string' },
  },
})

const names = positionals.length > 0 ? positionals : Object.keys(AREAS)
const unknown = names.filter((name) => !Object.hasOwn(AREAS, name))
if (unknown.length > 0) {
  const known = Object.keys(AREAS).join(', ')
  process.stderr.write(`unknown area ${unknown.join(', ')}; areas: ${known}\n`)
  process.exit(2)
}

const isNarrowed = values.files !== undefined || values.tests !== undefined
const narrowed = values.files === undefined ? undefined : selectFiles([values.files])
// All patterns are checked before the first run, which may take an hour.
const runs = Object.entries(AREAS)
  .filter(([name]) => names.includes(name))
  .map(([name, { files, tests, threshold }]) => ({
    name,
    threshold: isNarrowed ? undefined : threshold,
    files: selectFiles(files).filter((file) => narrowed?.includes(file) ?? true),
    tests: selectFiles(values.tests === undefined ? tests : [values.tests]),
  }))
  .filter(({ files }) => files.length > 0)
if (runs.length === 0) throw new Error(`no area has files that match ${values.files}`)

mkdirSync(join(ROOT, FOLDER), { recursive: true })
const failed = runs.filter((run) => mutate(run) !== 0)
if (failed.length > 0) {
  process.stderr.write(`failed areas: ${failed.map(({ name }) => name).join(', ')}\n`)
  process.exitCode = 1
}

/** Runs every mutant of an area, and returns the exit code. */
function mutate({ name, files, tests, threshold }: (typeof runs)[number]): number | null {
  const path = join(ROOT, FOLDER, `${name}-settings.json`)
  writeFileSync(path, JSON.stringify(settingsOf(name, files, threshold)))
  // Inherited by the processes that run the tests.
  const env = { ...process.env, MUTATION_TESTS: tests.join('\n') }
  const args = [findStryker(), 'run', path]
  return spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' }).status
}

/** Returns the path of Stryker's program, which `npm run tools` installs. */
function findStryker(): string {
  const manifest = createRequire(import.meta.url).resolve('@stryker-mutator/core/package.json')
  const { bin }: { bin: { stryker: string } } = JSON.parse(readFileSync(manifest, 'utf8'))
  return join(dirname(manifest), bin.stryker)
}

function settingsOf(name: string, files: readonly string[], threshold: number | undefined): object {
  return {
    mutate: files,
    thresholds: { break: threshold ?? null },
    testRunner: 'vitest',
    // A mutant at the top level of a module is tried only by the test files that import the module.
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: true },
    coverageAnalysis: 'perTest',
    concurrency: Number(values.jobs),
    timeoutMS: 10_000,
    ignorePatterns: ['dist', 'build', 'bench', 'test/apps', 'test/tools'],
    tempDirName: join('build', 'mutate', name),
    // Stryker rewrites a tsconfig.json, and cannot read that of TypeScript 7.
    tsconfigFile: 'none.json',
    incremental: values.incremental,
    incrementalFile: join(FOLDER, `${name}-incremental.json`),
    reporters: ['clear-text', 'json', 'html', 'progress'],
    clearTextReporter: { logTests: false, reportTests: false },
    jsonReporter: { fileName: join(FOLDER, `${name}.json`) },
    htmlReporter: { fileName: join(FOLDER, `${name}.html`) },
    warnings: { slow: false },
  }
}
