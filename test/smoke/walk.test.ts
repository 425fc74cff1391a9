import { execFileSync } from 'node:child_process'

import { expect, it } from 'vitest'

const PROGRAM = new URL('walk-program.ts', import.meta.url).pathname

/** The most files of the sources that run for each: one pass down. */
const FILES = { repeated: 7, computed: 15, refresh: 30 }

it('a conversion and a refresh run few files', () => {
  const files = JSON.parse(execFileSync(process.execPath, [PROGRAM], { encoding: 'utf8' }))
  for (const [work, most] of Object.entries(FILES)) {
    expect(files[work], work).toBeGreaterThan(0.7 * most)
    expect(files[work], work).toBeLessThanOrEqual(most)
  }
})
