/** Checks the workflows of GitHub with actionlint, and that every npm script they run exists. Exits with 1 on a problem. */
import { globSync, readFileSync } from 'node:fs'

import { createLinter } from 'actionlint'

const lint = await createLinter()
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
const paths = globSync('.github/workflows/*.yml').toSorted()
if (paths.length === 0) throw new Error('no workflows found; run it in the project root')

const problems = paths.flatMap((path) => {
  const text = readFileSync(path, 'utf8')
  const started = [...text.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name)
  const missing = started.filter((name) => !Object.hasOwn(scripts, name))
  return [
    // The linter's list of runners is outdated.
    ...lint(text, path)
      .filter(({ kind }) => kind !== 'runner-label')
      .map(({ line, column, message }) => `${path}:${line}:${column}: ${message}`),
    ...missing.map((name) => `${path}: package.json has no script ${name}`),
  ]
})

process.stdout.write(`${[...problems, `${paths.length} workflows checked`].join('\n')}\n`)
if (problems.length > 0) process.exitCode = 1
