import { describe, expect, it } from 'vitest'

import { guardStore } from '../../src/cache/guarded-store.ts'
import type { GuardedStore } from '../../src/cache/guarded-store.ts'
import type { CacheStore } from '../../src/cache/store.ts'
import { settled, virtualRuntime } from '../virtual-runtime.ts'
import type { VirtualRuntime } from '../virtual-runtime.ts'

interface Guarded {
  runtime: VirtualRuntime
  store: GuardedStore
  failures: string[]
}

function guarded(store: CacheStore): Guarded {
  const runtime = virtualRuntime(Date.UTC(2026, 10, 20))
  const failures: string[] = []
  const onFailure = (operation: string, key: string, error: unknown): void => {
    failures.push(`${operation} ${key} ${Object(error).message}`)
  }
  return { runtime, failures, store: guardStore(store, runtime, onFailure) }
}

const forever = (): Promise<never> => new Promise(() => {})
const refuse = (): never => {
  throw new Error('refused')
}
const ignore = (): void => {}

describe('a guarded store', () => {
  it('hands on what the store says, be it a value or a promise', async () => {
    const { store, failures } = guarded({
      get: async (key) => `value of ${key}`,
      set: ignore,
      claim: (key) => key === 'mine',
    })
    const found: unknown[] = []
    await store.get('a', (value) => found.push(value))
    expect(found).toEqual(['value of a'])
    expect([await store.claim('mine', 0), await store.claim('theirs', 0)]).toEqual([true, false])
    expect(failures).toEqual([])
  })

  it('is waited for no longer than 50 ms, and for a write a second', async () => {
    const { runtime, store, failures } = guarded({ get: forever, set: forever, claim: forever })
    const operations = Promise.all([store.get('a', ignore), store.claim('a', 0)])
    await runtime.advance(50)
    expect((await operations)[1]).toBe(true)
    const write = store.set('a', 'text', 0)
    await runtime.advance(999)
    expect(failures).toEqual(['get a no answer within 50 ms', 'claim a no answer within 50 ms'])
    await runtime.advance(1)
    await write
    expect(failures).toHaveLength(3)
    expect(runtime.timers()).toBe(0)
  })

  it('brings what comes late all the same', async () => {
    let answer = (_value: string): void => {}
    const { runtime, store } = guarded({
      get: () =>
        new Promise((resolve) => {
          answer = resolve
        }),
      set: ignore,
    })
    const found: unknown[] = []
    const operation = store.get('a', (value) => found.push(value))
    await runtime.advance(50)
    await operation
    expect(found).toEqual([])
    answer('late')
    await settled()
    expect(found).toEqual(['late'])
  })

  it('rests for five seconds after five failures in a row, and is then tried with one operation', async () => {
    let calls = 0
    let isSick = true
    const { runtime, store } = guarded({
      get() {
        calls += 1
        if (isSick) throw new Error('refused')
      },
      set: ignore,
    })
    for (let time = 0; time < 10; time += 1) await store.get('a', ignore)
    expect(calls).toBe(5)
    await runtime.advance(4_999)
    await store.get('a', ignore)
    expect(calls).toBe(5)
    await runtime.advance(1)
    await Promise.all([store.get('a', ignore), store.get('a', ignore)])
    expect(calls).toBe(6)
    isSick = false
    await runtime.advance(5_000)
    await store.get('a', ignore)
    await Promise.all([store.get('a', ignore), store.get('a', ignore)])
    expect(calls).toBe(9)
  })

  it('is not written to, nor asked for claims, while it rests', async () => {
    const calls: string[] = []
    const { runtime, store } = guarded({
      get: refuse,
      set: (key, value, expiresAt) => calls.push(`${key} ${value} ${expiresAt}`),
      claim: (key, expiresAt) => calls.push(`${key} ${expiresAt}`) > 2,
    })
    for (let time = 0; time < 5; time += 1) await store.get('a', ignore)
    await store.set('a', 'text', 1)
    expect(await store.claim('a', 2)).toBe(true)
    expect(calls).toEqual([])
    await runtime.advance(5_000)
    await store.set('a', 'text', 1)
    expect(await store.claim('a', 2)).toBe(false)
    expect(calls).toEqual(['a text 1', 'a 2'])
  })

  it('does not rest for failures that are not in a row', async () => {
    let calls = 0
    const { store } = guarded({
      get() {
        calls += 1
        if (calls % 5 !== 0) throw new Error('refused')
      },
      set: ignore,
    })
    for (let time = 0; time < 50; time += 1) await store.get('a', ignore)
    expect(calls).toBe(50)
  })

  it('lets everybody refresh while it cannot say who may', async () => {
    const without = guarded({ get: ignore, set: ignore })
    expect(await without.store.claim('a', 0)).toBe(true)
    const sick = guarded({ get: refuse, set: refuse, claim: refuse })
    for (let time = 0; time < 9; time += 1) expect(await sick.store.claim('a', 0)).toBe(true)
    expect(sick.failures).toEqual(Array.from({ length: 5 }, () => 'claim a refused'))
  })
})
