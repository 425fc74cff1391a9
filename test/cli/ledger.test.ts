import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { expect, it } from 'vitest'

import { temporaryFolder } from '../stores/meets-contract.ts'
import { publish, run } from './run.ts'

/** Converts the rows of a file with this content. */
function convert(content: string | Uint8Array, surroundings: Parameters<typeof run>[1] = {}) {
  const file = join(temporaryFolder(), 'ledger.csv')
  writeFileSync(file, content)
  return run(['convert', '--file', file], surroundings)
}

it('convert --file takes more rows than one call of the API', async () => {
  const rows = 'USD,EUR,1\n'.repeat(10_001)
  const { code, stdout } = await convert(`from,to,amount\n${rows}`, { fetch: publish() })
  expect(code).toBe(0)
  expect(stdout.trimEnd().split('\n')).toHaveLength(10_002)
})

it('convert --file works offline with cached rates', async () => {
  const csv = 'from,to,amount,date\nUSD,EUR,1,2003-05-05\nUSD,EUR,1,2026-11-20\n'
  const env = { RATESMITH_CACHE_DIR: temporaryFolder() }
  expect(await convert(csv, { env })).toMatchObject({ code: 1 })
  const online = await convert(csv, { env, fetch: publish() })
  expect(online.code).toBe(0)
  // The cache is written after the output.
  await expect.poll(async () => (await convert(csv, { env })).stdout).toBe(online.stdout)
})

it('convert --file refuses a file that is not UTF-8', async () => {
  const { code, stderr } = await convert(Uint8Array.from([0x66, 0xe9, 0x0a]))
  expect([code, stderr]).toEqual([2, expect.stringContaining('ledger.csv: must be UTF-8')])
})
