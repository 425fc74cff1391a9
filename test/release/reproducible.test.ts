import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, it, onTestFinished } from 'vitest'

import { run } from '../system/processes.ts'
import { ROOT } from '../system/root.ts'

/** What is written by hand and packed, or read by the build. */
const SOURCES = ['adapters', 'docs', 'src', 'package.json', 'tsconfig.json', 'tsup.config.ts']
const TEXTS = ['CHANGELOG.md', 'LICENSE', 'README.md']

/** Builds and packs a copy of the project in `folder`; resolves with the SHA-256 of the tarball. */
async function digestOf(folder: string, env: NodeJS.ProcessEnv): Promise<string> {
  mkdirSync(folder, { recursive: true })
  for (const name of [...SOURCES, ...TEXTS]) {
    const path = join(ROOT, name)
    if (existsSync(path)) cpSync(path, join(folder, name), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const { code, stdout, stderr } = await run('npm', ['pack', '--json'], { cwd: folder, env })
  expect(code, stderr).toBe(0)
  const { filename, files } = JSON.parse(stdout.slice(stdout.indexOf('[\n')))[0]
  expect(files.length).toBeGreaterThan(500)
  return createHash('sha256')
    .update(readFileSync(join(folder, filename)))
    .digest('hex')
}

it('the same sources make the same package, to the byte, wherever and whenever', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-copies-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const here = await digestOf(join(folder, 'here'), { TZ: 'UTC', LANG: 'C' })
  const there = await digestOf(join(folder, 'over/there'), {
    TZ: 'Asia/Tokyo',
    LANG: 'tr_TR.UTF-8',
  })
  expect(there).toBe(here)
})
