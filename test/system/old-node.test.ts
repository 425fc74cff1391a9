import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import { expect, it } from 'vitest'

import { run } from './processes.ts'
import { ROOT } from './root.ts'
import { CLI } from './serving.ts'

const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const needed: string = engines.node.replace('>=', '')

/** Finds a Node on this machine that is older than the command needs. */
function findOldNode(): { program: string; version: string } | undefined {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .filter((program) => existsSync(program))
    .map((program) => {
      const version = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().slice(1)
      return { program, version }
    })
    .find(({ version }) => Number.parseInt(version, 10) < Number.parseInt(needed, 10))
}

const old = findOldNode()

it.skipIf(!old)(`refuses a Node before ${needed}, where the PATH has one`, async () => {
  const { program = '', version } = old ?? {}
  expect(await run(program, [CLI, 'convert', '1', 'USD', 'EUR', '--demo'])).toEqual({
    code: 1,
    stdout: '',
    stderr: `ratesmith needs Node ${needed} or newer, found ${version}\n`,
  })
})
