/** Checks the workflows of GitHub and those in the documentation with actionlint, and that every npm script and mutation area they run exists. Exits with 1 on a problem. */
import { globSync, readFileSync } from 'node:fs'

import { createLinter } from 'actionlint'

import { AREAS, selectFiles } from '../mutation/areas.ts'
import { followedPages } from './documentation/page.ts'

const lint = await createLinter()
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const paths = globSync('.github/workflows/*.yml').toSorted()
if (paths.length === 0) throw new Error('no workflows found; run it in the project root')

const documented = followedPages()
  .flatMap(({ blocks }) => blocks)
  .filter(({ language, text }) => language === 'yaml' && /^jobs:/m.test(text))
const workflows = [
  ...paths.map((path) => ({ path, text: readFileSync(path, 'utf8'), first: 0 })),
  ...documented.map(({ page, line, text }) => ({ path: page, text, first: line })),
]

const problems = workflows.flatMap(({ path, text, first }) => {
  const started = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name)
  const missing = started.filter((name) => !Object.hasOwn(scripts, name))
  return [
    // The linter's list of runners is outdated.
    ...lint(text, path)
      .filter(({ kind }) => kind !== 'runner-label')
      .map(({ line, column, message }) => `${path}:${first + line}:${column}: ${message}`),
    ...missing.map((name) => `${path}: package.json has no script ${name}`),
  ]
})

const [, matrix = ''] =
  /^ +area:\n((?: +- \w+\n)+)/m.exec(readFileSync('.github/workflows/weekly.yml', 'utf8')) ?? []
const areas = matrix.match(/\w+/g) ?? []
if (areas.join() !== Object.keys(AREAS).join()) {
  problems.push(`weekly.yml mutates ${areas.join()}, and areas.ts has ${Object.keys(AREAS).join()}`)
}
// A pattern without a file throws.
for (const { files, tests } of Object.values(AREAS)) selectFiles([...files, ...tests])

process.stdout.write(`${[...problems, `${workflows.length} workflows checked`].join('\n')}\n`)
if (problems.length > 0) process.exitCode = 1
