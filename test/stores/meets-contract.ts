import { expect, it } from 'vitest'

import { storeContract } from '../../src/testing/index.ts'

/** Runs the store contract with the stores of `create`. */
export function itMeetsTheContract(create: Parameters<typeof storeContract>[0]): void {
  it.each(storeContract(create))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
}
