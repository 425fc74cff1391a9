import { describe, expect, it } from 'vitest'

import { rowsOf } from './markdown-rows.ts'
import { run } from './processes.ts'

describe('the measurement of starts', () => {
  it('has a row of each, and judges that of the command', async () => {
    const args = ['bench/start.ts', '--starts', '1']
    const { code, stdout, stderr } = await run(process.execPath, args)
    const rows = rowsOf(stdout)
    expect(
      rows.map(([what]) => what),
      stderr,
    ).toEqual([
      'bare `node:http`, first answer',
      'the same without an `import`',
      '`ratesmith serve --demo`, first conversion',
      'the library in a program of its own, first conversion',
      '`ratesmith --version`, its end',
    ])
    for (const [what, time, ratio] of rows) {
      expect(Number(time), what).toBeGreaterThan(1)
      expect(Number(ratio), what).toBeGreaterThan(0)
    }
    const verdicts = rows.map(([, , , goal]) => goal)
    expect(verdicts).toEqual(['', '', expect.stringMatching(/^1\.8: (ok|missed)$/), '', ''])
    expect(code).toBe(verdicts[2] === '1.8: ok' ? 0 : 1)
  })
})
