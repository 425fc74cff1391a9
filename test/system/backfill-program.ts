// Requests long histories of a bank until all are served, or kills itself at one of its calls: `backfill-program.ts <store>
// <path> <URL of the bank> <series | windows> <number of the call, or 0> <ids of stored pieces>`. Prints lines: each stored
// key (`stored …`), keys that were written too slowly (`slow …`), and the points of each history (`served {…}`).
import { writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

import { createRatesHandler } from 'ratesmith'
import type { CacheStore, HistoryProvider } from 'ratesmith'
import { createFileStore } from 'ratesmith/stores/file'
import { createSqliteStore } from 'ratesmith/stores/sqlite'

import { BANK_DAYS } from '../fixtures/bank.ts'
import { codes } from '../fixtures/codes.ts'

const NOW = Date.UTC(2026, 10, 20, 18)

const [kind = '', path = '', upstream = '', form = '', kill = '0', ids = ''] = process.argv.slice(2)

let calls = 0

function print(line: string): void {
  writeSync(1, `${line}\n`)
}

/** Reads the stored pieces at once: on a busy machine a request does not wait for the disk. */
async function openStore(): Promise<CacheStore> {
  const store = kind === 'file' ? createFileStore(path) : createSqliteStore(path)
  const pieces = new Map<string, unknown>()
  for (const id of ids.split(',').filter(Boolean)) {
    const key = `rates:v1:history:bank${id === 'newest' ? '' : `:${id}`}`
    pieces.set(key, await store.get(key))
  }
  return {
    get: (key) => pieces.get(key),
    async set(key, value, expiresAt) {
      await store.set(key, value, expiresAt)
      print(`stored ${key}`)
    },
    claim: (key, expiresAt) => store.claim?.(key, expiresAt) ?? true,
  }
}

async function fetchDays(
  range: { code?: string; start: string; end: string },
  context: Parameters<HistoryProvider['fetchHistory']>[1],
): Promise<Awaited<ReturnType<HistoryProvider['fetchHistory']>>> {
  calls += 1
  if (calls === Number(kill)) process.kill(process.pid, 'SIGKILL')
  const query = new URLSearchParams({ code: '', ...range })
  const response = await context.fetch(`${upstream}/?${query}`, { signal: context.signal })
  return response.json()
}

const bank: HistoryProvider = {
  attribution: { name: 'Bank', url: 'https://bank.example' },
  publication: { ...BANK_DAYS, since: '2024-01-02' },
  maxDays: form === 'series' ? 1 : 93,
  fetchHistory: fetchDays,
  ...(form === 'series' && { fetchSeries: fetchDays }),
}

const handler = createRatesHandler({
  providers: { history: bank, latest: false },
  store: await openStore(),
  now: () => NOW,
  onEvent(event) {
    if (event.type === 'store_failed') print(`slow ${event.key}`)
  },
})

async function readHistory(to: string): Promise<void> {
  try {
    const { points } = await handler.rates.history({ from: 'EUR', to, start: '2024-01-01' })
    print(`served ${JSON.stringify({ to, points })}`)
  } catch {
    await sleep(100)
    await readHistory(to)
  }
}

for (const to of codes(12)) await readHistory(to)
handler.close()
