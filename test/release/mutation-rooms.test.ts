import { globSync } from 'node:fs'

import { describe, expect, it } from 'vitest'

import { ROOMS } from '../mutation/rooms.ts'
import { ROOT } from '../system/root.ts'

/** Types alone: there is nothing in it to change. */
const WITHOUT_CODE = ['src/rates/known-currency-code.ts']

function filesOf(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT }))
}

const MUTATED = Object.values(ROOMS).flatMap(({ files }) => filesOf(files))

describe('the rooms of the mutation tests', () => {
  it('have every file of arithmetic and of the cache, and none twice', () => {
    const files = filesOf(['src/rates/*.ts', 'src/cache/*.ts'])
    expect(files.length).toBeGreaterThan(30)
    const left = files.filter((file) => !MUTATED.includes(file))
    expect(left).toEqual(WITHOUT_CODE)
    expect(new Set(MUTATED).size).toBe(MUTATED.length)
  })

  it.each(Object.entries(ROOMS))('name files of %s that there are', (_, { files, tests }) => {
    const lost = [...files, ...tests].filter((pattern) => filesOf([pattern]).length === 0)
    expect(lost).toEqual([])
  })
})
