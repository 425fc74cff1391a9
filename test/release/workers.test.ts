import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'

import { describe, expect, it, onTestFinished } from 'vitest'

import { COMPATIBILITY_DATE, Miniflare } from '../system/workerd.ts'
import { openApp } from './app.ts'
import { byEsbuildForWorkers } from './bundlers.ts'
import { ON_DISK, PORTABLE } from './entry-points.ts'
import { expectedRollCall, rollCall } from './roll-call.ts'

/** What a Worker tells of the modules at `subpaths`. */
async function ask(subpaths: readonly string[]): Promise<unknown> {
  const { folder, write } = openApp()
  write('roll-call.js', rollCall(subpaths))
  const program = write(
    'program.js',
    `import { tell } from './roll-call.js'
    export default { fetch: async () => Response.json(await tell()) }`,
  )
  const path = await byEsbuildForWorkers(program, join(folder, 'bundle'))
  const simulator = new Miniflare({
    cf: false,
    host: '127.0.0.1',
    name: 'one',
    modulesRoot: dirname(path),
    modules: [{ type: 'ESModule', path, contents: readFileSync(path, 'utf8') }],
    compatibilityDate: COMPATIBILITY_DATE,
    // What is refused is in the error.
    handleRuntimeStdio(stdout: Readable, stderr: Readable) {
      stdout.resume()
      stderr.resume()
    },
  })
  // One that has not started says so again.
  onTestFinished(() => simulator.dispose().catch(() => undefined))
  const worker = await simulator.getWorker('one')
  return (await worker.fetch('http://localhost/')).json()
}

describe('in workerd', () => {
  it('every module is there that needs no disk', async () => {
    expect(await ask(PORTABLE)).toEqual(await expectedRollCall(PORTABLE))
  })

  // Whoever wants a store that cannot be there is told so when the Worker starts, not by one miss after the other.
  it.each(ON_DISK)('%s is refused', async (subpath) => {
    await expect(ask(['.', './testing', subpath])).rejects.toThrow(/No such module "node:/)
  })
})
