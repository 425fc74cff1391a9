/**
 * Runs mutation tests: `npm run mutate -- rates cache`, or every area by default, which takes hours. StrykerJS changes one thing
 * at a time in the source, such as `<` to `<=`, and runs the tests of the area; a mutant that no test notices survives.
 *
 *   --jobs N       mutants tested at a time (default 2)
 *   --incremental  reuses results of unchanged mutants and tests from the last run
 *   --files GLOB   mutates only these files, in the areas that have them
 *   --tests GLOB   runs these tests instead of those of the areas
 *
 * Prints survivors and scores, leaves reports in `build/mutation/`, and exits with 1 if a run fails or scores below the
 * threshold of its area, unless `--files` or `--tests` narrows it. Most survivors are equivalent: compare with the last report.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

import { ROOT } from '../system/runtimes.ts'
import { AREAS, selectFiles } from './areas.ts'

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
const isNarrowed = values.files !== undefined || values.tests !== undefined
const narrowed = values.files === undefined ? undefined : selectFiles([values.files])
// All patterns are checked before the first run, which may take an hour.
const runs = names
  .map((name) => {
    const area = AREAS[name]
    if (!area) throw new Error(`unknown area ${name}; areas: ${Object.keys(AREAS).join(', ')}`)
    const files = selectFiles(area.files).filter((file) => narrowed?.includes(file) ?? true)
    const tests = selectFiles(values.tests === undefined ? area.tests : [values.tests])
    return { name, files, tests, threshold: isNarrowed ? undefined : area.threshold }
  })
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
  const path = join(FOLDER, name)
  const settings = {
    mutate: files,
    thresholds: { break: threshold ?? null },
    testRunner: 'vitest',
    // A mutant at the top level of a module is tried only by the test files that import the module.
    vitest: { configFile: 'test/mutation/vitest.config.ts', related: true },
    coverageAnalysis: 'perTest',
    concurrency: Number(values.jobs),
    timeoutMS: 10_000,
    ignorePatterns: ['dist', 'build', 'bench', 'test/apps', 'test/lint', 'test/tools'],
    tempDirName: join('build', 'mutate', name),
    // Stryker rewrites a tsconfig.json, and cannot read that of TypeScript 7.
    tsconfigFile: 'none.json',
    incremental: values.incremental,
    incrementalFile: `${path}-incremental.json`,
    reporters: ['clear-text', 'json', 'html', 'progress'],
    clearTextReporter: { logTests: false, reportTests: false },
    jsonReporter: { fileName: `${path}.json` },
    htmlReporter: { fileName: `${path}.html` },
    warnings: { slow: false },
  }
  writeFileSync(join(ROOT, `${path}-settings.json`), JSON.stringify(settings))
  // `npm run tools` installs Stryker. The processes that run the tests inherit the environment.
  const manifest = createRequire(import.meta.url).resolve('@stryker-mutator/core/package.json')
  const { bin }: { bin: { stryker: string } } = JSON.parse(readFileSync(manifest, 'utf8'))
  const args = [join(dirname(manifest), bin.stryker), 'run', join(ROOT, `${path}-settings.json`)]
  const env = { ...process.env, MUTATION_TESTS: tests.join('\n') }
  return spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' }).status
}
