import { execFileSync } from 'node:child_process'
import { cpSync, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

import { expect, it } from 'vitest'

import manifest from '../../package.json' with { type: 'json' }
import { CLI } from './commands.ts'
import { run, temporaryFolder } from './processes.ts'
import { ROOT } from './runtimes.ts'

const needed = manifest.engines.node.replace('>=', '')

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

it.skipIf(!old)(`exits with 1 on a Node older than ${needed}, if the PATH has one`, async () => {
  const { program = '', version } = old ?? {}
  const facts = new RegExp(`^[^\\n]*\\bNode\\b.*\\b${needed}\\b.*\\b${version}\\b[^\\n]*\\n$`)
  expect(await run(program, [CLI, 'convert', '1', 'USD', 'EUR', '--demo'])).toEqual({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(facts),
  })
})

it.skipIf(!old)('names the required Node in a clone if npm cannot install it', async () => {
  const { program = '', version } = old ?? {}
  const clone = temporaryFolder()
  for (const name of ['node.mjs', 'packages.mjs', 'node/package.json', 'node/package-lock.json']) {
    cpSync(join(ROOT, 'scripts', name), join(clone, 'scripts', name))
  }
  const env = { npm_config_offline: 'true', npm_config_cache: join(clone, 'cache') }
  const { code, stderr } = await run(program, [join(clone, 'scripts/node.mjs')], { env })
  expect(code).toBe(1)
  expect(stderr).toContain('22.18')
  expect(stderr).toContain(version)
  expect(stderr.trimEnd().split('\n').at(-1)).toMatch(/https:\/\/nodejs\.org\b.*\bnpm ci\b/)
})
