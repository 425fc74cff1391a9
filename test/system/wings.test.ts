import { execFile } from 'node:child_process'
import { cpSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import { describe, expect, it } from 'vitest'

import { temporaryFolder } from './processes.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Parts that the package can do without. The command goes with each of them, because it has them all. */
const WINGS = ['access', 'compat', 'mcp', 'monitoring', 'sql']

/** What every other part of the package is tried with. */
const TESTS = ['test/handler.test.ts', 'test/fetch-handler.test.ts', 'test/endpoints']

const run = promisify(execFile)

/** Returns a copy of the project without a wing, the command and their entry points. */
function copyWithout(wing: string): string {
  const copy = temporaryFolder()
  for (const name of ['src', 'adapters', 'test', 'tsconfig.json', 'vitest.config.ts']) {
    const skipped = /\/(node_modules|tools|apps|golden)$/
    const filter = (path: string): boolean => !skipped.test(path)
    cpSync(join(ROOT, name), join(copy, name), { recursive: true, filter })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  const gone = [wing, 'cli'].map((name) => join(copy, 'src', name))
  for (const folder of gone) rmSync(folder, { recursive: true })
  const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const kept = Object.entries<{ types?: string }>(manifest.exports).filter(
    ([, { types = '' }]) => !types.includes(`/src/${wing}/`),
  )
  writeFileSync(
    join(copy, 'package.json'),
    JSON.stringify({ ...manifest, exports: Object.fromEntries(kept) }),
  )
  return copy
}

/** Returns the tests that need none of the deleted files. */
function testsIn(copy: string): string[] {
  const files = TESTS.flatMap((path) =>
    path.endsWith('.ts')
      ? [path]
      : readdirSync(join(copy, path))
          .filter((name) => name.endsWith('.test.ts'))
          .map((name) => `${path}/${name}`),
  )
  return files.filter((file) => isWhole(join(copy, file), new Set()))
}

function isWhole(file: string, seen: Set<string>): boolean {
  if (seen.has(file)) return true
  seen.add(file)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return false
  }
  const imported = [...text.matchAll(/(?:from |import\()'(\.[^']+\.ts)'/g)]
  return imported.every(([, path = '']) => isWhole(join(dirname(file), path), seen))
}

describe('without src/', () => {
  it.each(WINGS)(
    '%s, the rest compiles and passes its tests',
    { timeout: 300_000 },
    async (wing) => {
      const copy = copyWithout(wing)
      const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name)
      const options = { cwd: copy, env: { ...process.env, CI: '', NO_COLOR: '1' } }
      for (const project of ['.', 'adapters']) {
        const compiled = await run(bin('tsc'), ['-p', project, '--noEmit'], options).catch(String)
        expect(compiled).toMatchObject({ stdout: '' })
      }
      const tests = testsIn(copy)
      expect(tests.length).toBeGreaterThan(10)
      const args = ['run', '--project', 'unit', '--reporter', 'dot', ...tests]
      const { stdout } = await run(bin('vitest'), args, options)
      expect(stdout).toMatch(/Tests .*\d+ passed/)
      expect(stdout).not.toMatch(/failed/)
    },
  )
})
