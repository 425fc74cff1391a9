import fs from 'node:fs'

import { expect, it } from 'vitest'

import { createRatesHandler } from '../../src/index.ts'
import type { CacheStore } from '../../src/index.ts'
import { createFileStore } from '../../src/stores/file.ts'
import { createSqliteStore } from '../../src/stores/sqlite.ts'
import { fakeProviders } from '../../src/testing/index.ts'
import { providersThat } from '../advisories/loaded-handler.ts'
import { temporaryFolder } from './meets-contract.ts'

const TARGETS = ['/api/v1/latest', '/api/v1/history?from=USD&to=EUR&period=1M']
const KEYS = ['rates:v1:latest', 'rates:v1:history']

const now = (): number => Date.UTC(2026, 10, 20, 18)
const { latest, history } = fakeProviders({ now })
const down = providersThat(() => Promise.reject(new Error('down')))

/** Returns the bodies of both data sets from a new handler with `store`; the status instead if it is not 200. */
async function responsesFrom(store: CacheStore, providers = down): Promise<(string | number)[]> {
  const handler = createRatesHandler({ store, providers, now })
  const responses = TARGETS.map((target) => handler(new Request(`http://localhost${target}`)))
  const bodyOf = (response: Response) => (response.ok ? response.text() : response.status)
  return Promise.all(responses.map(async (response) => bodyOf(await response)))
}

const texts = new Map<string, string>()
const fetchHistory: typeof history.fetchHistory = ({ end }, context) =>
  history.fetchHistory({ start: '2026-09-20', end }, context)
const good = await responsesFrom(texts, { latest, history: { ...history, fetchHistory } })

/** Calls `trial` after each of `trials` single-bit flips in the file at `path`: a quarter at its start, the others at random. */
async function eachFlip(path: string, trials: number, trial: (bytes: Buffer) => Promise<void>) {
  const bytes = fs.readFileSync(path)
  for (let count = 0, seed = 20_261_120; count < trials; count += 1) {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    const bit = count < trials / 4 ? count : Math.floor((seed / 2 ** 32) * bytes.length * 8)
    const damaged = Buffer.from(bytes)
    damaged[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    fs.writeFileSync(path, damaged)
    await trial(damaged)
  }
}

it.each(KEYS)('ignores a value of %s with a flipped bit, in a Map and in a file', async (key) => {
  const folder = temporaryFolder()
  const store = createFileStore(folder)
  await store.set(key, texts.get(key) ?? '', Infinity)
  expect(good).toContain((await responsesFrom(store))[KEYS.indexOf(key)])
  await eachFlip(`${folder}/${fs.readdirSync(folder)[0]}`, 800, async (bytes) => {
    expect(await responsesFrom(store)).toEqual([502, 502])
    expect(await responsesFrom(new Map([[key, bytes.toString('latin1')]]))).toEqual([502, 502])
  })
})

it('serves the same rates or none from a database with a flipped bit, which may not open', async () => {
  const path = `${temporaryFolder()}/rates.db`
  const whole = createSqliteStore(path)
  for (const [key, text] of texts) whole.set(key, text, 8_640_000_000_000_000)
  expect(await responsesFrom(whole)).toEqual(good)
  whole.close()
  const outcomes = new Set<unknown>()
  // Fewer flips, because a database waits for the disk.
  await eachFlip(path, 400, async () => {
    for (const end of ['-wal', '-shm']) fs.rmSync(path + end, { force: true })
    try {
      const store = createSqliteStore(path)
      for (const each of await responsesFrom(store)) {
        outcomes.add(good.includes(each) ? 'same' : each)
      }
      store.close()
    } catch (error) {
      outcomes.add(error instanceof Error && error.message.includes(path) ? 'not opened' : error)
    }
  })
  expect(outcomes).toEqual(new Set(['same', 502, 'not opened']))
})
