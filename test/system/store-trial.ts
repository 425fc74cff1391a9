import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect, onTestFinished } from 'vitest'

import { storeContract } from '../../src/testing/index.ts'
import { run } from './processes.ts'
import { RUNTIMES } from './runtimes.ts'

/** Expects a store to pass every case of the contract in a process of its own. */
export async function expectGoodStore(
  runtime: 'Node' | 'Bun' | 'Deno',
  store: string,
  url = '',
): Promise<void> {
  const [, program = '', ...flags] = RUNTIMES.find(([name]) => name === runtime) ?? []
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
