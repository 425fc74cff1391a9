/**
 * Runs mutation tests: `npm run mutate -- rates cache`, or every area by default.
 *
 *   --jobs N       mutants tested at a time (default 2)
 *   --incremental  reuses results of unchanged mutants and tests from the last run
 *   --files GLOB   mutates only these files, in the areas that have them
 *   --tests GLOB   runs these tests instead of those of the areas
 *
 * Exits with 1 if an area scores below its threshold, unless `--files` or `--tests` narrows the run.
 */
import { parseArgs } from 'node:util'

import { AREAS, selectFiles } from './areas.ts'
import { runArea } from './run-area.ts'
import type { Mutant, Mutants } from './run-area.ts'

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
  process.stderr.write(
    `unknown area ${unknown.join(', ')}; areas: ${Object.keys(AREAS).join(', ')}\n`,
  )
  process.exit(2)
}

const isNarrowed = values.files !== undefined || values.tests !== undefined
const narrowed = values.files === undefined ? undefined : selectFiles([values.files])
// All patterns are checked before the first run, which may take an hour.
const runs = Object.entries(AREAS)
  .filter(([name]) => names.includes(name))
  .map(([name, { files, tests, threshold }]) => ({
    name,
    threshold,
    files: selectFiles(files).filter((file) => narrowed?.includes(file) ?? true),
    tests: selectFiles(values.tests === undefined ? tests : [values.tests]),
  }))
  .filter(({ files }) => files.length > 0)
if (runs.length === 0) throw new Error(`no area has files that match ${values.files}`)

const lines: string[] = []
const poor: string[] = []
const options = { jobs: Number(values.jobs), isIncremental: values.incremental }
for (const { name, threshold, ...selection } of runs) {
  const mutants = runArea(name, { ...selection, ...options })
  process.stdout.write(`\n${[`Survivors in ${name}:`, ...survivorLines(mutants)].join('\n')}\n`)
  const scores = scoresOf(name, mutants)
  lines.push(...scores.map(toLine))
  const [[, { percent }]] = scores
  if (!isNarrowed && threshold !== undefined && percent < threshold) {
    poor.push(`${name} scores ${percent.toFixed(1)} %, below its threshold of ${threshold} %`)
  }
}
process.stdout.write(`\n${lines.join('\n')}\n`)
if (poor.length > 0) {
  process.stderr.write(`${poor.join('\n')}\n`)
  process.exitCode = 1
}

function toLine([name, { killed, survived, percent }]: [string, Score]): string {
  const counts = `${String(killed).padStart(5)} killed ${String(survived).padStart(4)} survived`
  return `${percent.toFixed(1).padStart(5)} % ${counts}  ${name}`
}

type Score = ReturnType<typeof scoreOf>

/** Returns the score of an area, followed by that of each of its files. */
function scoresOf(
  name: string,
  mutants: Mutants,
): [area: [string, Score], ...files: [string, Score][]] {
  const files = [...mutants].map(([path, each]): [string, Score] => [path, scoreOf(each)])
  return [[name, scoreOf([...mutants.values()].flat())], ...files]
}

/** Returns one line for each mutant that no test noticed: its place and its replacement. */
function survivorLines(mutants: Mutants): string[] {
  return [...mutants].flatMap(([path, each]) =>
    each.filter(isSurvivor).map(({ location, mutatorName, replacement = '', status }) => {
      const { line, column } = location.start
      const text = replacement.replaceAll(/\s+/g, ' ')
      return `${path}:${line}:${column} ${mutatorName} (${status}) ${text}`
    }),
  )
}

/** Counts mutants that a test noticed or not, and the former in percent; those that fail to load do not count. */
function scoreOf(mutants: readonly Mutant[]) {
  const killed = mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length
  const survived = mutants.filter(isSurvivor).length
  const all = killed + survived
  return { killed, survived, percent: all === 0 ? 100 : (100 * killed) / all }
}

function isSurvivor({ status }: Mutant): boolean {
  return status === 'Survived' || status === 'NoCoverage'
}
