import { expect, it } from 'vitest'

import { run } from './processes.ts'

it('an abort reaches a body though nobody holds its request', async () => {
  const args = ['--expose-gc', 'test/system/abort-program.ts']
  const { stdout, stderr } = await run(process.execPath, args)
  expect(stdout, stderr).toBe(JSON.stringify(['AbortError', 'done']))
})
