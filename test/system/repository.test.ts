import { expect, it } from 'vitest'

import { run } from './processes.ts'

it('contains no file that .gitignore excludes', async ({ skip }) => {
  const args = ['ls-files', '--cached', '--ignored', '--exclude-standard']
  const { code, stdout } = await run('git', args)
  if (code !== 0) skip('not a git clone')
  expect(stdout).toBe('')
})
