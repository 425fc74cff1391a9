import { join } from 'node:path'

import { expect, it, vi } from 'vitest'

import { createRatesHandler } from 'ratesmith'
import type { CacheStore } from 'ratesmith'
import { createFileStore } from 'ratesmith/stores/file'
import { createSqliteStore } from 'ratesmith/stores/sqlite'

import { BANK_DAYS, bankRate, createBank, isBankDay } from '../fixtures/bank.ts'
import { codes } from '../fixtures/codes.ts'
import { daysOf } from '../oracle.ts'
import { temporaryFolder } from './processes.ts'

const CODES = codes(12)
const NOW = Date.UTC(2026, 10, 20, 18)

/** Requests long histories from a bank, until it stops at one of its calls; `stored` are the keys that the store has. */
async function backfill(store: CacheStore, form: string, stopAt: number, stored: Set<string>) {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>()
  const asked: string[] = []
  const history = createBank({
    codes: CODES,
    now: () => NOW,
    publication: { ...BANK_DAYS, since: '2024-01-02' },
    maxDays: form === 'series' ? 1 : 93,
    hasSeries: form === 'series',
    async onCall({ code, start }) {
      // Quarters begin on the first of a month.
      const id = code ?? (start.endsWith('-01') ? start : undefined)
      asked.push(`rates:v1:history:bank${id === undefined ? '' : `:${id}`}`)
      if (asked.length === stopAt) await new Promise<void>(() => stop())
    },
  })
  // Read at once: on a busy machine a request does not wait for the disk.
  const pieces = new Map<string, unknown>()
  for (const key of stored) pieces.set(key, await store.get(key))
  const handler = createRatesHandler({
    providers: { history, latest: false },
    now: () => NOW,
    store: {
      get: (key) => pieces.get(key),
      async set(key, value, expiresAt) {
        await store.set(key, value, expiresAt)
        stored.add(key)
      },
    },
  })
  const served: unknown[] = []
  const readAll = async (): Promise<void> => {
    for (const to of CODES) {
      const read = async () => handler.rates.history({ from: 'EUR', to, start: '2024-01-01' })
      const { points } = await vi.waitFor(read, { timeout: 60_000, interval: 100 })
      served.push({ to, points })
    }
  }
  await Promise.race([readAll(), stopped])
  handler.close()
  return { asked, served }
}

it.each<[string, (path: string) => CacheStore, string]>([
  ['file', createFileStore, 'series'],
  ['sqlite', (path) => createSqliteStore(path), 'windows'],
])(
  'a backfill into a %s store resumes without a second call for a stored piece',
  async (...row) => {
    const [, openStore, form] = row
    const path = join(temporaryFolder(), 'rates')
    const stored = new Set<string>()
    for (const stopAt of [4, 3, 2, 5, 0]) {
      const before = new Set(stored)
      const { asked, served } = await backfill(openStore(path), form, stopAt, stored)
      expect(asked.filter((key) => before.has(key))).toEqual([])
      expect(asked.length).toBeGreaterThan(1)
      if (stopAt > 0) continue
      const days = daysOf('2024-01-02', '2026-11-20').filter(isBankDay)
      expect(served).toEqual(
        CODES.map((to) => ({ to, points: days.map((d) => ({ d, r: bankRate(to, d) })) })),
      )
    }
    // The last piece may still be written.
    const askedAgain = async () => (await backfill(openStore(path), form, 0, stored)).asked
    await expect.poll(askedAgain).toEqual([])
  },
)
