import { expect, it } from 'vitest'

import { storeContract } from '../../src/testing/index.ts'

/** Tests that the stores of `create` do what every store must do. */
export function itMeetsTheContract(create: Parameters<typeof storeContract>[0]): void {
  it.each(storeContract(create))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
}
