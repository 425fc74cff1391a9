import fs from 'node:fs'
import { tmpdir } from 'node:os'

import { expect, it, onTestFinished } from 'vitest'

import { storeContract } from '../../src/testing/index.ts'

export function itMeetsTheContract(create: Parameters<typeof storeContract>[0]): void {
  it.each(storeContract(create))('$name', async ({ run }) => {
    await expect(run()).resolves.toBeUndefined()
  })
}

/** Creates a folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = fs.mkdtempSync(`${tmpdir()}/ratesmith-store-`)
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }))
  return folder
}
