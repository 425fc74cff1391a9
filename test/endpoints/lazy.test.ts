import { expect, it } from 'vitest'

import { loadOnce } from '../../src/core.ts'

it('what endpoints import with their first request is loaded once, and again after a failure', async () => {
  let loads = 0
  const load = loadOnce(async () => {
    loads += 1
    if (loads === 1) throw new Error('a part of the app is missing')
    return loads
  })
  expect(loads).toBe(0)
  await expect(load()).rejects.toThrow('missing')
  expect(await Promise.all([load(), load()])).toEqual([2, 2])
})
