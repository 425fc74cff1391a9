import fs from 'node:fs'

import { describe, expect, it } from 'vitest'

import { createUnstorageStore } from '../../src/stores/unstorage.ts'
import type { UnstorageClient } from '../../src/stores/unstorage.ts'
import { itMeetsTheContract, temporaryFolder } from './meets-contract.ts'

interface Unstorage {
  createStorage(options?: { driver: object }): UnstorageClient
}

// A computed name: the declarations of unstorage do not compile without the packages of all drivers. With them, the example
// of createUnstorageStore() shows that its own type is assignable.
const UNSTORAGE: string = 'unstorage'
const { createStorage }: Unstorage = await import(UNSTORAGE)
const { default: fileDriver }: { default(options: { base: string }): object } = await import(
  `${UNSTORAGE}/drivers/fs`
)

const NOW = Date.UTC(2026, 10, 20)

/** Parses values, as the drivers for Upstash and Vercel do. */
function parsingDriver(): object {
  const texts = new Map<string, string>()
  return {
    getItem(key: string): unknown {
      const text = texts.get(key)
      try {
        return text === undefined ? null : JSON.parse(text)
      } catch {
        return text
      }
    },
    setItem: (key: string, value: string) => void texts.set(key, value),
  }
}

const storageOfFiles = (base: string): UnstorageClient =>
  createStorage({ driver: fileDriver({ base }) })

describe.each([
  { driver: 'memory', create: () => createStorage() },
  { driver: 'files', create: () => storageOfFiles(temporaryFolder()) },
  {
    driver: 'a backend that parses JSON',
    create: () => createStorage({ driver: parsingDriver() }),
  },
])('createUnstorageStore() with the driver for $driver', ({ create }) => {
  itMeetsTheContract(() => createUnstorageStore(create()))
})

describe('createUnstorageStore()', () => {
  it('distinguishes keys that unstorage takes for the same, and those below another', async () => {
    const folder = temporaryFolder()
    const store = createUnstorageStore(storageOfFiles(folder), { prefix: 'app:' })
    const keys = String.raw`a a: a::b a:b ab aB a/b a\b a?b a?c a.b a_3a_b : ::`.split(' ')
    for (const key of keys) await store.set(key, key, Infinity)
    for (const key of keys) expect(await store.get(key)).toBe(key)
    await store.set('rates:v1:history', 'one', Infinity)
    await store.set('rates:v1:history:norges-bank:2013', 'two', Infinity)
    expect(await store.get('rates:v1:history')).toBe('one')
    const names = fs.readdirSync(folder)
    // Some backends ignore the case.
    expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(keys.length + 2)
    expect(names).toContain('app.rates.v1.history.norges-bank.2013')
  })

  it('stores for whole seconds, rounded up, and at least 1', async () => {
    const lives: number[] = []
    const setItem: UnstorageClient['setItem'] = async (_key, _value, { ttl }) => lives.push(ttl)
    const store = createUnstorageStore({ getItem: async () => null, setItem }, { now: () => NOW })
    expect(store.claim).toBeUndefined()
    for (const life of [86_400_000, 1_001, 0, -1]) await store.set('k', 'text', NOW + life)
    expect(lives).toEqual([86_400, 2, 1, 1])
  })

  it('rejects when a file cannot be read or written, and writes again afterwards', async () => {
    const path = `${temporaryFolder()}/base`
    const store = createUnstorageStore(storageOfFiles(path))
    fs.writeFileSync(path, 'not a folder')
    await expect(store.get('k')).rejects.toThrow('ENOTDIR')
    await expect(store.set('k', 'one', Infinity)).rejects.toThrow('ENOTDIR')
    fs.rmSync(path)
    await store.set('k', 'two', Infinity)
    expect(await store.get('k')).toBe('two')
  })

  it.each([undefined, null, {}, { getItem: 1, setItem: 1 }, 'fs'])('throws for %o', (storage) => {
    // @ts-expect-error not a storage
    const create = (): unknown => createUnstorageStore(storage)
    expect(create).toThrow(/^storage\.getItem must be a function/)
    expect(create).toThrow(TypeError)
  })
})
