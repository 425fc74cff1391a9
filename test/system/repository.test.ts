import { expect, it } from 'vitest'

import { run } from './processes.ts'

it('holds nothing that it says is to be ignored', async ({ skip }) => {
  const args = ['ls-files', '--cached', '--ignored', '--exclude-standard']
  const { code, stdout } = await run('git', args)
  if (code !== 0) skip('this is no clone')
  expect(stdout).toBe('')
})
