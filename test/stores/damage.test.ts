import fs from 'node:fs'
import { tmpdir } from 'node:os'

import { describe, expect, it, onTestFinished } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { CacheStore, HistoryProvider, LatestProvider } from '../../src/index.ts'
import { createFileStore } from '../../src/stores/file.ts'
import { createSqliteStore } from '../../src/stores/sqlite.ts'
import { fakeProviders } from '../../src/testing/index.ts'

const NOW = Date.UTC(2026, 10, 20, 18)
const NEVER = 8_640_000_000_000_000

/** How many flips are tried; fewer in a database, which waits for the disk. */
const TRIALS = 1_500
const DATABASE_TRIALS = 400

const TARGETS: Record<string, string> = {
  'rates:v1:latest': '/api/v1/latest',
  'rates:v1:history': '/api/v1/history?from=USD&to=EUR&period=1M',
}
const KEYS = Object.keys(TARGETS)

const { latest, history } = fakeProviders({ now: () => NOW })

interface Providers {
  latest: LatestProvider
  history: HistoryProvider
}

/** The last two months: short texts are read fast. */
const up: Providers = {
  latest,
  history: {
    ...history,
    fetchHistory: ({ end }, context) => history.fetchHistory({ start: '2026-09-20', end }, context),
  },
}

const fail = (): Promise<never> => Promise.reject(new Error('down'))
const down: Providers = {
  latest: { ...latest, fetchLatest: fail },
  history: { ...history, fetchHistory: fail },
}

/** Returns the bodies of answers about `keys` of a process that starts with `store`; `null` where the status is 502. */
async function bodiesFrom(store: CacheStore, keys: readonly string[], providers = down) {
  const writes: Promise<unknown>[] = []
  const waitUntil = (write: Promise<unknown>): void => void writes.push(write)
  const handler = createRatesHandler({ store, providers, now: () => NOW, waitUntil })
  const bodies: (string | null)[] = []
  for (const key of keys) {
    const target = TARGETS[key] ?? ''
    const { status, body } = await handler.answer({ method: 'GET', target, header: () => null })
    expect([200, 502]).toContain(status)
    const isText = typeof body === 'string'
    bodies.push(status === 502 ? null : isText ? body : new TextDecoder().decode(body ?? undefined))
  }
  await Promise.all(writes)
  return bodies
}

const texts = new Map<string, string>()
const good = await bodiesFrom(texts, KEYS, up)

/** Calls `trial` after each of `trials` flips of a single bit in `bytes`: a quarter at the start, others at random. */
async function eachFlip(
  bytes: Uint8Array,
  trials: number,
  trial: (flipped: number) => Promise<void>,
): Promise<void> {
  let seed = 20_261_120
  for (let count = 0; count < trials; count += 1) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    const bit = count < trials / 4 ? count : Math.floor((seed / 2 ** 32) * bytes.length * 8)
    const before = bytes[bit >> 3] ?? 0
    bytes[bit >> 3] = before ^ (1 << (bit & 7))
    await trial(bit >> 3)
    bytes[bit >> 3] = before
  }
}

function temporaryFolder(): string {
  const folder = fs.mkdtempSync(`${tmpdir()}/ratesmith-damage-`)
  onTestFinished(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

describe('a single flipped bit', () => {
  it.each(KEYS)('makes a miss of the text of %s in a Map', async (key) => {
    const text = texts.get(key) ?? ''
    expect(await bodiesFrom(new Map([[key, text]]), [key])).toEqual([good[KEYS.indexOf(key)]])
    const units = Uint8Array.from(text, (character) => character.charCodeAt(0))
    await eachFlip(units, TRIALS, async (at) => {
      const flipped = String.fromCharCode(units[at] ?? 0)
      const store = new Map([[key, text.slice(0, at) + flipped + text.slice(at + 1)]])
      expect(await bodiesFrom(store, [key])).toEqual([null])
    })
  })

  it.each(KEYS)('makes a miss of the file of %s', async (key) => {
    const folder = temporaryFolder()
    const store = createFileStore(folder)
    await store.set(key, texts.get(key) ?? '', NEVER)
    expect(await bodiesFrom(store, [key])).toEqual([good[KEYS.indexOf(key)]])
    const path = `${folder}/${fs.readdirSync(folder)[0]}`
    const bytes = fs.readFileSync(path)
    await eachFlip(bytes, TRIALS, async () => {
      fs.writeFileSync(path, bytes)
      expect(await bodiesFrom(store, [key])).toEqual([null])
    })
  })

  it('changes no number of an SQLite database, which may be refused when it is opened', async () => {
    const path = `${temporaryFolder()}/rates.db`
    const store = createSqliteStore(path)
    for (const [key, text] of texts) store.set(key, text, NEVER)
    expect(await bodiesFrom(store, KEYS)).toEqual(good)
    store.close()
    const bytes = fs.readFileSync(path)
    const outcomes = new Set<unknown>()
    await eachFlip(bytes, DATABASE_TRIALS, async () => {
      for (const end of ['-wal', '-shm']) fs.rmSync(path + end, { force: true })
      fs.writeFileSync(path, bytes)
      const found = await bodiesFromDatabase(path)
      for (const [index, body] of found.entries()) {
        outcomes.add(body === good[index] ? 'the same' : body)
      }
    })
    expect(outcomes).toEqual(new Set(['the same', null, 'refused']))
  })
})

async function bodiesFromDatabase(path: string): Promise<(string | null)[]> {
  try {
    const store = createSqliteStore(path)
    try {
      return await bodiesFrom(store, KEYS)
    } finally {
      store.close()
    }
  } catch (error) {
    return [
      String(error).startsWith(`Error: the SQLite database ${path} cannot be`) ? 'refused' : '',
    ]
  }
}
