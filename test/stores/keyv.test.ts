import { Keyv } from 'keyv'
import { describe, expect, expectTypeOf, it } from 'vitest'

import { createKeyvStore } from '../../src/stores/keyv.ts'
import type { KeyvClient } from '../../src/stores/keyv.ts'
import { itMeetsTheContract } from './meets-contract.ts'

const NOW = Date.UTC(2026, 10, 20)

class Backend extends Map<string, unknown> {
  isDown = false

  override get(key: string): unknown {
    if (this.isDown) throw new Error('ECONNRESET')
    return super.get(key)
  }

  override set(key: string, value: unknown): this {
    if (this.isDown) throw new Error('ECONNRESET')
    return super.set(key, value)
  }
}

describe('createKeyvStore()', () => {
  itMeetsTheContract(() => createKeyvStore(new Keyv({ namespace: 'app' })))

  it('stores for whole milliseconds, rounded up, and at least 1: Keyv keeps others for ever', async () => {
    const sets: unknown[] = []
    const keyv: KeyvClient = {
      get: async () => undefined,
      set: async (...args) => sets.push(args),
      on: () => undefined,
    }
    const store = createKeyvStore(keyv, { prefix: 'app:', now: () => NOW })
    expect(store.claim).toBeUndefined()
    for (const life of [60_000.2, 0, -1]) await store.set('k', 'text', NOW + life)
    expect(sets).toEqual([60_001, 1, 1].map((ttl) => ['app:k', 'text', ttl]))
  })

  it('loses a value that has already expired', async () => {
    const store = createKeyvStore(new Keyv())
    await store.set('k', 'text', 0)
    await expect.poll(() => store.get('k')).toBeUndefined()
  })

  it.each([
    ['without an error listener', () => undefined],
    ['with an error listener', (keyv: Keyv) => keyv.on('error', () => undefined)],
  ])('rejects while the backend fails, %s', async (_, prepare) => {
    const backend = new Backend()
    const keyv = new Keyv(backend)
    prepare(keyv)
    const store = createKeyvStore(keyv)
    await store.set('k', 'text', Infinity)
    backend.isDown = true
    const cause = new Error('ECONNRESET')
    await expect(store.get('k')).rejects.toThrow(new Error('Keyv failed to read', { cause }))
    await expect(store.set('k', '', 1e15)).rejects.toThrow(
      new Error('Keyv failed to write', { cause }),
    )
    backend.isDown = false
    expect(await store.get('k')).toBe('text')
    expect(await store.get('other')).toBeUndefined()
  })

  it('survives a connection that is lost between two calls', async () => {
    const keyv = new Keyv()
    const store = createKeyvStore(keyv)
    keyv.emit('error', new Error('ECONNRESET'))
    expect(await store.get('k')).toBeUndefined()
  })

  it('takes the instances of Keyv', () => {
    expectTypeOf<Keyv>().toExtend<KeyvClient>()
    expectTypeOf<Keyv<string>>().toExtend<KeyvClient>()
    expectTypeOf<Map<string, string>>().not.toExtend<KeyvClient>()
  })

  it.each([undefined, null, {}, new Map(), 'redis://localhost'])('throws for %o', (keyv) => {
    // @ts-expect-error not a Keyv
    const create = (): unknown => createKeyvStore(keyv)
    expect(create).toThrow(/^keyv\.(get|on) must be a function/)
    expect(create).toThrow(TypeError)
  })
})
