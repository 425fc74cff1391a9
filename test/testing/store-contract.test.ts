import { afterEach, describe, expect, it, vi } from 'vitest'

import type { CacheStore } from '../../src/index.ts'
import { storeContract } from '../../src/testing/index.ts'
import { failuresOf } from './virtual-time.ts'

/** A store that follows the contract; every bad store changes one thing of it. */
class GoodStore {
  values = new Map<string, string>()
  claims = new Map<string, number>()

  get(key: string): unknown {
    return this.values.get(this.keyOf(key))
  }

  set(key: string, value: string, _expiresAt: number): unknown {
    this.values.set(this.keyOf(key), value)
    return undefined
  }

  claim(key: string, expiresAt: number): boolean | Promise<boolean> {
    return grant(this, key, expiresAt)
  }

  keyOf(key: string): string {
    return key
  }

  isClaimed(key: string): boolean {
    return (this.claims.get(key) ?? 0) > Date.now()
  }
}

function grant(store: GoodStore, key: string, expiresAt: number): boolean {
  if (store.isClaimed(key)) return false
  store.claims.set(key, expiresAt)
  return true
}

type Claim = (store: GoodStore, key: string, expiresAt: number) => unknown
type Change = Partial<Pick<GoodStore, 'get' | 'set' | 'keyOf'>>

function changed(change: (store: GoodStore) => Change): () => CacheStore {
  return () => {
    const store = new GoodStore()
    return Object.assign(store, change(store))
  }
}

function withKeys(keyOf: (key: string) => string): () => CacheStore {
  return changed(() => ({ keyOf }))
}

/** A store that returns the result of `read` for each stored value. */
function withValues(read: (value: string) => unknown): () => CacheStore {
  return changed(({ values }) => ({
    get(key) {
      const value = values.get(key)
      return value === undefined ? undefined : read(value)
    },
  }))
}

/** A store with other lifetimes: `change` receives and returns a lifetime in ms. */
function withLifetimes(change: (lifetime: number) => number): () => CacheStore {
  const ends = new Map<string, number>()
  return changed(({ values }) => ({
    get: (key) => ((ends.get(key) ?? 0) >= Date.now() ? values.get(key) : undefined),
    set(key, value, expiresAt) {
      ends.set(key, Date.now() + change(expiresAt - Date.now()))
      values.set(key, value)
    },
  }))
}

function withClaims(claim: Claim): () => CacheStore {
  return () => {
    const store = new GoodStore()
    return Object.assign(store, { claim: claim.bind(undefined, store) })
  }
}

function failures(create: () => CacheStore): Promise<Map<string, Error>> {
  return failuresOf(storeContract(create))
}

const BAD_STORES: Record<string, Record<string, () => CacheStore>> = {
  'returns no string for a key that was never set': {
    'returns a value for every key': changed(() => ({ get: () => 'null' })),
  },
  'returns a stored value on every read': {
    'forgets everything': changed(() => ({ set() {} })),
    'returns every value only once': changed(({ values }) => ({
      get(key) {
        const value = values.get(key)
        values.delete(key)
        return value
      },
    })),
  },
  'returns the value last set': {
    'keeps the first value': changed(({ values }) => ({
      set: (key, value) => values.set(key, values.get(key) ?? value),
    })),
  },
  'stores the values of different keys separately': {
    'ignores keys': withKeys(() => 'key'),
  },
  'distinguishes keys with special characters, spaces and capitals': {
    'keeps its values in a plain object': changed(() => {
      const values: Record<string, string> = {
        // Inherited by objects, except in Deno.
        get ['__proto__']() {
          return ''
        },
        set ['__proto__'](_) {},
      }
      return { get: (key) => values[key], set: (key, value) => (values[key] = value) }
    }),
    'ignores case': withKeys((key) => key.toLowerCase()),
    'converts keys to file names': withKeys((key) => key.replaceAll(/[^\w.-]/g, '_')),
    'reads keys as paths': withKeys((key) => new URL(key, 'file:///').pathname),
    'decodes keys': withKeys((key) => key.replaceAll('%20', ' ')),
    'trims keys': withKeys((key) => key.trim()),
    'composes the letters of keys': withKeys((key) => key.normalize('NFC')),
  },
  'distinguishes keys of 300 characters that differ in the last one': {
    'cuts long keys': withKeys((key) => key.slice(0, 255)),
  },
  'returns values unchanged': {
    'returns numbers': withValues((value) => (/^\d+$/.test(value) ? Number(value) : value)),
    'reads an empty value as missing': withValues((value) => value || undefined),
    'trims values': withValues((value) => value.trim()),
    'changes line ends': withValues((value) => value.replaceAll('\r\n', '\n')),
    'stores one byte per character': withValues((value) => value.replaceAll(/[^\0-\xff]/g, '?')),
  },
  'stores a value of 1,000,000 characters': {
    'truncates large values': withValues((value) => value.slice(0, 2 ** 19)),
  },
  'returns one complete value after 20 concurrent writes': {
    'writes in chunks': changed(({ values }) => ({
      async set(key, value) {
        values.set(key, '')
        for (let start = 0; start < value.length; start += 4_096) {
          values.set(key, values.get(key) + value.slice(start, start + 4_096))
          await Promise.resolve()
        }
      },
    })),
  },
  'keeps a value until it expires, in 10 seconds or 30 days': {
    'reads ms as seconds': withLifetimes((lifetime) => lifetime / 1_000),
    'stores ms in 32 bits': withLifetimes((lifetime) => lifetime | 0),
  },
  'accepts a value that has already expired, and the next value': {
    'rejects expired values': changed(({ values }) => ({
      set(key, value, expiresAt) {
        if (expiresAt < Date.now()) throw new RangeError('invalid expire time')
        values.set(key, value)
      },
    })),
  },
  'grants exactly one of 50 concurrent claims': {
    'grants every claim': withClaims(() => true),
    'grants no claim': withClaims(() => false),
    'returns OK for a claim': withClaims((...args) => (grant(...args) ? 'OK' : null)),
    'waits between checking and claiming': withClaims(async (store, key, expiresAt) => {
      if (store.isClaimed(key)) return false
      await Promise.resolve()
      store.claims.set(key, expiresAt)
      return true
    }),
  },
  'grants claims of different keys independently': {
    'ignores the key of a claim': withClaims((store, _, at) => grant(store, 'key', at)),
  },
  'stores claims and values separately': {
    'stores claims as values': withClaims(
      ({ values }, key) => !values.has(key) && Boolean(values.set(key, 'claimed')),
    ),
    'deletes a value with a claim': withClaims((store, key, at) => {
      store.values.delete(key)
      return grant(store, key, at)
    }),
  },
  'keeps a claim until it expires, even if a value is set': {
    'releases a claim when a value is set': changed(({ values, claims }) => ({
      set(key, value) {
        values.set(key, value)
        claims.delete(key)
      },
    })),
    'reads the ms of a claim as seconds': withClaims((store, key, at) =>
      grant(store, key, Date.now() + (at - Date.now()) / 1_000),
    ),
  },
  'grants a claim again after it expires': {
    'never ends a claim': withClaims((store, key) => grant(store, key, Infinity)),
  },
  'grants a claim after one with a past expiry time': {
    'never ends a claim that has expired': withClaims((store, key, at) =>
      grant(store, key, at > Date.now() ? at : Infinity),
    ),
  },
}

const CASES = Object.entries(BAD_STORES).flatMap(([name, stores]) =>
  Object.entries(stores).map(([what, create]) => ({ what, create, name })),
)

afterEach(() => {
  vi.useRealTimers()
})

describe('storeContract()', () => {
  it('passes for a good store', async () => {
    expect(await failures(() => new GoodStore())).toEqual(new Map())
  })

  it('passes for a good store that has values of an earlier run', async () => {
    const store = new GoodStore()
    for (const _ of [1, 2]) expect(await failures(() => store)).toEqual(new Map())
  })

  it('accepts promises of stores, and creates one store per case', async () => {
    const create = vi.fn<() => Promise<CacheStore>>(async () => new GoodStore())
    const cases = storeContract(create)
    expect(create).not.toHaveBeenCalled()
    await failuresOf(cases)
    expect(create).toHaveBeenCalledTimes(cases.length)
  })

  it('has distinct names, which are the same for every store', () => {
    const names = storeContract(() => new Map()).map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(storeContract(() => new GoodStore()).map(({ name }) => name)).toEqual(names)
  })

  it.each(CASES)('detects a store that $what: $name', async ({ create, name }) => {
    const failed = await failures(create)
    expect([...failed.keys()]).toContain(name)
    for (const { message } of failed.values()) expect(message).toMatch(/^expected \S/)
  })

  it('has a bad store for every case', () => {
    const names = storeContract(() => new Map()).map(({ name }) => name)
    expect(Object.keys(BAD_STORES).toSorted()).toEqual(names.toSorted())
  })

  it('rejects with the expected and the actual value', async () => {
    const failed = await failures(withValues((value) => `${value}.`))
    expect(failed.get('returns a stored value on every read')?.message).toMatch(
      /^expected get\("contract:\w+:a"\) .* "\{\\"v\\":1\}", got "\{\\"v\\":1\}\."$/,
    )
    expect(failed.get('stores a value of 1,000,000 characters')?.message).toMatch(
      /… \(1000000 characters\), got .*… \(1000001 characters\)$/,
    )
  })

  it.each(['rejects', 'throws'])('detects a store that %s', async (how) => {
    const cause = new Error('READONLY')
    const set = (): Promise<void> => {
      if (how === 'throws') throw cause
      return Promise.reject(cause)
    }
    const failed = await failures(changed(() => ({ set })))
    expect(failed.get('returns a stored value on every read')).toMatchObject({
      message: expect.stringMatching(/^expected set\("contract:\w+:a"\) .*: READONLY$/),
      cause,
    })
  })

  it('rejects if a call hangs', async () => {
    const failed = await failures(changed(() => ({ get: () => new Promise(() => {}) })))
    expect(failed.get('returns no string for a key that was never set')?.message).toMatch(
      /^expected get\("contract:\w+:never"\) .*\b4000 ms$/,
    )
  })
})
