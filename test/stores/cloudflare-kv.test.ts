import { describe, expect, it } from 'vitest'

import { createKvStore } from '../../src/stores/cloudflare-kv.ts'
import type { KvNamespace } from '../../src/stores/cloudflare-kv.ts'
import { itMeetsTheContract } from './meets-contract.ts'

const NOW = Date.UTC(2026, 10, 20)

/** A namespace with the limits of the real one. */
class FakeNamespace implements KvNamespace {
  readonly lives: [key: string, seconds: number][] = []
  readonly #entries = new Map<string, string>()

  async get(key: string): Promise<string | null> {
    return this.#entries.get(key) ?? null
  }

  async put(key: string, value: string, options: { expirationTtl: number }): Promise<void> {
    const { expirationTtl } = options
    if (!Number.isInteger(expirationTtl) || expirationTtl < 60) throw new Error('400 Bad Request')
    if (new TextEncoder().encode(key).length > 512) throw new Error('414 UTF-8 key too long')
    this.lives.push([key, expirationTtl])
    this.#entries.set(key, value)
  }
}

describe('createKvStore()', () => {
  itMeetsTheContract(() => createKvStore(new FakeNamespace()))

  it('stores for whole seconds, rounded up, and at least for a minute', async () => {
    const namespace = new FakeNamespace()
    const store = createKvStore(namespace, { prefix: 'app:', now: () => NOW })
    for (const life of [7 * 86_400_000, 60_000, 60_001, 59_999, 1, 0, -86_400_000]) {
      await store.set('k', 'text', NOW + life)
    }
    expect(namespace.lives).toEqual(
      [604_800, 60, 61, 60, 60, 60, 60].map((seconds) => ['app:k', seconds]),
    )
  })

  it('has no claim method', () => {
    expect(createKvStore(new FakeNamespace()).claim).toBeUndefined()
  })

  it.each([undefined, null, {}, { get: 1, put: 1 }, 'RATES'])('throws for %o', (namespace) => {
    // @ts-expect-error not a namespace
    const create = (): unknown => createKvStore(namespace)
    expect(create).toThrow(/^namespace must be .*get\(\) and put\(\)/)
    expect(create).toThrow(TypeError)
  })
})
