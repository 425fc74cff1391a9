import { afterEach, describe, expect, it, vi } from 'vitest'

import { createCacheApiStore } from '../../src/stores/cache-api.ts'
import type { WebCache } from '../../src/stores/cache-api.ts'
import { itMeetsTheContract } from './meets-contract.ts'

const NOW = Date.UTC(2026, 10, 20)

/** A cache whose keys are request URLs, as in real caches. */
class FakeCache implements WebCache {
  readonly headers: [url: string, cacheControl: string | null][] = []
  readonly #responses = new Map<string, Response>()

  async match(url: string): Promise<Response | undefined> {
    return this.#responses.get(new Request(url).url)?.clone()
  }

  async put(url: string, response: Response): Promise<void> {
    this.headers.push([url, response.headers.get('cache-control')])
    this.#responses.set(new Request(url).url, response)
  }
}

afterEach(() => void vi.unstubAllGlobals())

describe('createCacheApiStore()', () => {
  const create = (): ReturnType<typeof createCacheApiStore> =>
    createCacheApiStore({ cache: new FakeCache() })
  itMeetsTheContract(create)

  it('stores a value as a response with a lifetime in whole seconds, at least 1', async () => {
    const cache = new FakeCache()
    const store = createCacheApiStore({ cache, now: () => NOW })
    for (const life of [86_400_000, 1_001, 0, -1]) await store.set('a/b', 'text', NOW + life)
    expect(cache.headers).toEqual(
      [86_400, 2, 1, 1].map((seconds) => [
        'https://ratesmith.invalid/key:a%2Fb',
        `max-age=${seconds}`,
      ]),
    )
  })

  it('puts its keys below the given origin', async () => {
    const cache = new FakeCache()
    await createCacheApiStore({ cache, origin: 'https://rates.example' }).set('..', 'text', NOW)
    expect(cache.headers[0]?.[0]).toBe('https://rates.example/key:..')
  })

  it('uses the default cache of the runtime, looked up at each call', async () => {
    vi.stubGlobal('caches', {})
    const store = createCacheApiStore()
    vi.stubGlobal('caches', { default: new FakeCache() })
    await store.set('k', 'text', NOW)
    expect(await store.get('k')).toBe('text')
    vi.stubGlobal('caches', { default: new FakeCache() })
    expect(await store.get('k')).toBeUndefined()
  })

  it('opens a cache with the name ratesmith if the runtime has no default cache', async () => {
    const cache = new FakeCache()
    const names = new Set<string>()
    vi.stubGlobal('caches', { open: async (name: string) => (names.add(name), cache) })
    const store = createCacheApiStore()
    await store.set('k', 'text', NOW)
    expect(await store.get('k')).toBe('text')
    expect([...names]).toEqual(['ratesmith'])
  })

  it('has no claim method', () => {
    expect(create().claim).toBeUndefined()
  })

  it('throws if the runtime has no Cache API', () => {
    vi.stubGlobal('caches', undefined)
    expect(() => createCacheApiStore()).toThrow(TypeError)
  })

  it.each([
    { cache: {} },
    { cache: null },
    { origin: 'https://a.example/' },
    { origin: 'a.example' },
    { origin: 'file://a' },
    { origin: 7 },
    { now: 7 },
  ])('throws for %o', (option) => {
    const [name] = Object.keys(option)
    // @ts-expect-error not such an option
    const createIt = (): unknown => createCacheApiStore({ cache: new FakeCache(), ...option })
    expect(createIt).toThrow(`${name} must be a`)
    expect(createIt).toThrow(TypeError)
  })
})
