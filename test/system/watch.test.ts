import { describe, expect, it } from 'vitest'

import { start } from './processes.ts'

const CLI = 'src/cli/main.ts'

describe('--watch', () => {
  it('ends with 0 on SIGINT', async () => {
    const running = start(process.execPath, [
      CLI,
      'convert',
      '1',
      'USD',
      'EUR',
      '--demo',
      '--watch',
    ])
    await running.written(/EUR\n/)
    running.process.kill('SIGINT')
    expect(await running.exited, running.stderr).toBe(0)
  })
})
