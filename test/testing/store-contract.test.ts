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
}

const isClaimed = ({ claims }: GoodStore, key: string): boolean =>
  (claims.get(key) ?? 0) > Date.now()

function grant(store: GoodStore, key: string, expiresAt: number): boolean {
  if (isClaimed(store, key)) return false
  store.claims.set(key, expiresAt)
  return true
}

type Change = Partial<Pick<GoodStore, 'get' | 'set' | 'keyOf'>>
type Claim = (store: GoodStore, key: string, expiresAt: number) => unknown
type Create = () => CacheStore

const changed =
  (change: (store: GoodStore) => Change): Create =>
  () => {
    const store = new GoodStore()
    return Object.assign(store, change(store))
  }

const withGet = (get: GoodStore['get']): Create => changed(() => ({ get }))
const withSet = (
  set: (values: GoodStore['values'], key: string, value: string, expiresAt: number) => unknown,
): Create => changed(({ values }) => ({ set: (...given) => set(values, ...given) }))
const withKeys = (keyOf: (key: string) => string): Create => changed(() => ({ keyOf }))

const withValues = (read: (value: string) => unknown): Create =>
  changed(({ values }) => ({
    get(key) {
      const value = values.get(key)
      return value === undefined ? undefined : read(value)
    },
  }))

/** A store with other lifetimes: `change` receives and returns a lifetime in ms. */
function withLifetimes(change: (lifetime: number) => number): Create {
  const ends = new Map<string, number>()
  return changed(({ values }) => ({
    get: (key) => ((ends.get(key) ?? 0) >= Date.now() ? values.get(key) : undefined),
    set(key, value, expiresAt) {
      ends.set(key, Date.now() + change(expiresAt - Date.now()))
      values.set(key, value)
    },
  }))
}

const withClaims =
  (claim: Claim): Create =>
  () => {
    const store = new GoodStore()
    return Object.assign(store, { claim: claim.bind(undefined, store) })
  }

const failures = (create: Create): Promise<Map<string, Error>> => failuresOf(storeContract(create))

/** In a plain object, which inherits a property; except in Deno. */
const inPlainObject = changed(() => {
  const values: Record<string, string> = {
    get ['__proto__']() {
      return ''
    },
    set ['__proto__'](_) {},
  }
  return { get: (key) => values[key], set: (key, value) => (values[key] = value) }
})

const once = changed(({ values }) => ({
  get(key) {
    const value = values.get(key)
    values.delete(key)
    return value
  },
}))

const inChunks = withSet(async (values, key, value) => {
  values.set(key, '')
  for (let start = 0; start < value.length; start += 4_096) {
    values.set(key, values.get(key) + value.slice(start, start + 4_096))
    await Promise.resolve()
  }
})

const releasing = changed(({ values, claims }) => ({
  set: (key, value) => void (values.set(key, value), claims.delete(key)),
}))

const NEVER_SET = 'returns no string for a key that was never set'
const EACH_KEY = 'distinguishes keys with special characters, spaces and capitals'
const UNCHANGED = 'returns values unchanged'
const EVERY_READ = 'returns a stored value on every read'
const LARGE = 'stores a value of 1,000,000 characters'
const KEPT = 'keeps a value until it expires, in 10 seconds or 30 days'
const ONE_CLAIM = 'grants exactly one of 50 concurrent claims'
const APART = 'stores claims and values separately'
const UNTIL = 'keeps a claim until it expires, even if a value is set'

/** Rules, each with a store that breaks it. */
const BAD_STORES: [rule: string, create: Create][] = [
  [NEVER_SET, withGet(() => 'null')],
  [EVERY_READ, withSet(() => {})],
  [EVERY_READ, once],
  [
    'returns the value last set',
    withSet((values, key, value) => values.set(key, values.get(key) ?? value)),
  ],
  ['stores the values of different keys separately', withKeys(() => 'key')],
  [EACH_KEY, inPlainObject],
  [EACH_KEY, withKeys((key) => key.toLowerCase())],
  [EACH_KEY, withKeys((key) => key.replaceAll(/[^\w.-]/g, '_'))],
  [EACH_KEY, withKeys((key) => new URL(key, 'file:///').pathname)],
  [EACH_KEY, withKeys((key) => key.replaceAll('%20', ' '))],
  [EACH_KEY, withKeys((key) => key.trim())],
  [EACH_KEY, withKeys((key) => key.normalize('NFC'))],
  [
    'distinguishes keys of 300 characters that differ in the last one',
    withKeys((key) => key.slice(0, 255)),
  ],
  [UNCHANGED, withValues((value) => (/^\d+$/.test(value) ? Number(value) : value))],
  [UNCHANGED, withValues((value) => value || undefined)],
  [UNCHANGED, withValues((value) => value.trim())],
  [UNCHANGED, withValues((value) => value.replaceAll('\r\n', '\n'))],
  [UNCHANGED, withValues((value) => value.replaceAll(/[^\0-\xff]/g, '?'))],
  [LARGE, withValues((value) => value.slice(0, 2 ** 19))],
  ['returns one complete value after 20 concurrent writes', inChunks],
  [KEPT, withLifetimes((lifetime) => lifetime / 1_000)],
  [KEPT, withLifetimes((lifetime) => lifetime | 0)],
  [
    'accepts a value that has already expired, and the next value',
    withSet((values, key, value, expiresAt) => {
      if (expiresAt < Date.now()) throw new RangeError('invalid expire time')
      values.set(key, value)
    }),
  ],
  [ONE_CLAIM, withClaims(() => true)],
  [ONE_CLAIM, withClaims(() => false)],
  [ONE_CLAIM, withClaims((...args) => (grant(...args) ? 'OK' : null))],
  [
    ONE_CLAIM,
    withClaims(async (store, key, expiresAt) => {
      if (isClaimed(store, key)) return false
      await Promise.resolve()
      store.claims.set(key, expiresAt)
      return true
    }),
  ],
  [
    'grants claims of different keys independently',
    withClaims((store, _, at) => grant(store, 'key', at)),
  ],
  [APART, withClaims(({ values }, key) => !values.has(key) && Boolean(values.set(key, 'claimed')))],
  [
    APART,
    withClaims((store, key, at) => {
      store.values.delete(key)
      return grant(store, key, at)
    }),
  ],
  [UNTIL, releasing],
  [
    UNTIL,
    withClaims((store, key, at) => grant(store, key, Date.now() + (at - Date.now()) / 1_000)),
  ],
  [
    'grants a claim again after it expires',
    withClaims((store, key) => grant(store, key, Infinity)),
  ],
  [
    'grants a claim after one with a past expiry time',
    withClaims((store, key, at) => grant(store, key, at > Date.now() ? at : Infinity)),
  ],
]

afterEach(() => void vi.useRealTimers())

describe('storeContract()', () => {
  it('passes for a good store, also with values of an earlier run', async () => {
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

  it.each(BAD_STORES)('finds a store that breaks: %s', async (rule, create) => {
    const failed = await failures(create)
    expect([...failed.keys()]).toContain(rule)
    for (const { message } of failed.values()) expect(message).toMatch(/^expected \S/)
  })

  it('has distinct names for every store, each with a bad store above', () => {
    const names = storeContract(() => new Map()).map(({ name }) => name)
    expect(storeContract(() => new GoodStore()).map(({ name }) => name)).toEqual(names)
    const detecting = new Set(BAD_STORES.map(([rule]) => rule))
    expect([...detecting].toSorted()).toEqual(names.toSorted())
  })

  it('rejects with the expected and the actual value, and the cause', async () => {
    const failed = await failures(withValues((value) => `${value}.`))
    expect(failed.get(EVERY_READ)?.message).toMatch(
      /^expected get\("contract:\w+:a"\) .* "\{\\"v\\":1\}", got "\{\\"v\\":1\}\."$/,
    )
    expect(failed.get(LARGE)?.message).toMatch(
      /… \(1000000 characters\), got .*… \(1000001 characters\)$/,
    )
    const cause = new Error('READONLY')
    const throwing = (): never => {
      throw cause
    }
    for (const set of [throwing, () => Promise.reject(cause)]) {
      const rejected = await failures(withSet(set))
      const message = expect.stringMatching(/^expected set\("contract:\w+:a"\) .*: READONLY$/)
      expect(rejected.get(EVERY_READ)).toMatchObject({ message, cause })
    }
    const hanging = await failures(withGet(() => new Promise(() => {})))
    expect(hanging.get(NEVER_SET)?.message).toMatch(
      /^expected get\("contract:\w+:never"\) .*\b4000 ms$/,
    )
  })
})
