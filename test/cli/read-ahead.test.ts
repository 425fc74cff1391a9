import { describe, expect, it } from 'vitest'

import { ARCHIVE_KEY, readAhead } from '../../src/cli/read-ahead.ts'
import { createRatesHandler } from '../../src/index.ts'
import type { CacheStore } from '../../src/index.ts'
import { fakeProviders } from '../../src/testing/fake-providers.ts'

/** How many providers were asked for latest rates and for history over `store`. */
async function upstreamCalls(store: CacheStore): Promise<number> {
  let calls = 0
  const handler = createRatesHandler({
    providers: fakeProviders(),
    store,
    onEvent: ({ type }) => void (calls += type === 'upstream_asked' ? 1 : 0),
  })
  await handler.rates.latest()
  await handler.rates.history({ from: 'EUR', to: 'USD' })
  handler.close()
  return calls
}

/** A store that takes its time to read. */
function slowStore(held: Map<string, string>): CacheStore {
  return {
    get: (key) => new Promise((resolve) => setTimeout(() => resolve(held.get(key)), 100)),
    set: (key, value) => held.set(key, value),
  }
}

describe('readAhead', () => {
  it('has what a slow store holds when a handler asks for it', async () => {
    const held = new Map<string, string>()
    expect(await upstreamCalls(held)).toBe(2)
    expect(await upstreamCalls(slowStore(held))).toBe(2)
    expect(await upstreamCalls(await readAhead(slowStore(held)))).toBe(0)
  })

  it('reads the reference rates since 1999 only where it is told to', async () => {
    const read: string[] = []
    const store = { get: (key: string) => void read.push(key), set: () => undefined }
    await readAhead(store)
    expect(read).toEqual(['rates:v1:latest', 'rates:v1:history'])
    await readAhead(store, [ARCHIVE_KEY])
    expect(read.slice(2)).toEqual(['rates:v1:archive'])
  })

  it('knows under which key a handler keeps them', async () => {
    const held = new Map<string, string>()
    const handler = createRatesHandler({ providers: fakeProviders(), store: held })
    await handler.rates.latest({ date: '2001-02-28' })
    handler.close()
    expect([...held.keys()]).toEqual([ARCHIVE_KEY])
  })

  it('has what was set last, and hands it on', async () => {
    const held = new Map([['rates:v1:latest', 'old']])
    const store = await readAhead(held)
    expect(store.get('rates:v1:latest')).toBe('old')
    await store.set('rates:v1:latest', 'new', Infinity)
    expect(store.get('rates:v1:latest')).toBe('new')
    expect(held.get('rates:v1:latest')).toBe('new')
  })

  it('leaves a store in trouble to whoever asks', async () => {
    const store = await readAhead({ get: () => Promise.reject(new Error('gone')), set() {} })
    await expect(store.get('rates:v1:latest')).rejects.toThrow('gone')
  })
})
