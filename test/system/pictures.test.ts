import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { needBrowser } from './browser-context.ts'
import { run, temporaryFolder } from './processes.ts'
import { ROOT } from './runtimes.ts'

needBrowser()

it('renders the pictures of the README with the size of those in docs/pictures', async () => {
  const folder = temporaryFolder()
  const { code, stderr } = await run(process.execPath, ['scripts/pictures.ts', folder])
  expect(code, stderr).toBe(0)
  for (const each of [folder, join(ROOT, 'docs/pictures')]) {
    const picture = readFileSync(join(each, 'explorer.png'))
    // The header of a PNG has its width and height. A blank picture takes a few kB.
    expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([1760, 1556])
    expect(picture.length).toBeGreaterThan(50_000)
    expect(picture.length).toBeLessThanOrEqual(200_000)
  }
})
