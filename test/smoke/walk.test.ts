import { readFileSync } from 'node:fs'

import { expect, it } from 'vitest'

import { run } from '../system/processes.ts'

const GUIDE = readFileSync(new URL('../../.github/CONTRIBUTING.md', import.meta.url), 'utf8')

/** Returns the paths in the block of text after `heading`, sorted. */
function pathsAfter(heading: string): string[] {
  const [, block = ''] = GUIDE.slice(GUIDE.indexOf(heading)).split('```', 2)
  return (block.match(/(?:src|adapters)\/[\w/-]+\.ts/g) ?? []).sort()
}

it('a warm conversion and a refresh pass through the files that the guide lists', async () => {
  const { code, stdout, stderr } = await run(process.execPath, ['test/smoke/walk-program.ts'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { convert, computed, refresh, loaded } = JSON.parse(stdout)
  expect(pathsAfter('a warm conversion on Node')).toEqual(convert)
  expect(pathsAfter('a conversion that is not cached')).toEqual(computed)
  expect(convert.length).toBeLessThanOrEqual(10)
  expect(pathsAfter('a refresh of both data sets')).toEqual(refresh)
  expect(refresh.length).toBeLessThanOrEqual(32)
  expect(loaded).toContain('src/sources/histories.ts')
})
