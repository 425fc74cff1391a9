import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished } from 'vitest'

import { storeContract } from '../../src/testing/index.ts'
import { run } from './processes.ts'
import { ROOT } from './root.ts'

const BIN = join(ROOT, 'node_modules/.bin')

/** How a program is run. */
const RUNTIMES = {
  Node: [process.execPath],
  Bun: [join(BIN, 'bun')],
  Deno: [join(BIN, 'deno'), 'run', '-A', '--no-lock'],
}

/** Expects a store to pass every case of the contract in a process of its own. */
export async function expectGoodStore(
  runtime: keyof typeof RUNTIMES,
  store: string,
  url = '',
): Promise<void> {
  const [program = '', ...flags] = RUNTIMES[runtime]
  // Where Deno keeps its caches.
  const folder = mkdtempSync(join(tmpdir(), 'ratesmith-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const env = { DENO_DIR: folder, DENO_NO_UPDATE_CHECK: '1' }
  const args = [...flags, 'test/system/store-program.ts', store, url]
  const { stdout, stderr } = await run(program, args, { env })
  expect(stdout, stderr).toMatch(/^\{.+\}$/)
  const cases = storeContract(() => new Map()).length
  expect(JSON.parse(stdout)).toEqual({ cases, failed: [] })
}
