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

/** A store that returns the result of `read` for each stored value. */
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

const EACH_KEY = 'distinguishes keys with special characters, spaces and capitals'
const UNCHANGED = 'returns values unchanged'
const EVERY_READ = 'returns a stored value on every read'
const KEPT = 'keeps a value until it expires, in 10 seconds or 30 days'
const ONE_CLAIM = 'grants exactly one of 50 concurrent claims'
const APART = 'stores claims and values separately'
const UNTIL = 'keeps a claim until it expires, even if a value is set'

const BAD_STORES: [what: string, create: Create, detectedBy: string][] = [
  [
    'returns a value for every key',
    withGet(() => 'null'),
    'returns no string for a key that was never set',
  ],
  ['forgets everything', withSet(() => {}), EVERY_READ],
  ['returns every value only once', once, EVERY_READ],
  [
    'keeps the first value',
    withSet((values, key, value) => values.set(key, values.get(key) ?? value)),
    'returns the value last set',
  ],
  ['ignores keys', withKeys(() => 'key'), 'stores the values of different keys separately'],
  ['keeps its values in a plain object', inPlainObject, EACH_KEY],
  ['ignores case', withKeys((key) => key.toLowerCase()), EACH_KEY],
  ['converts keys to file names', withKeys((key) => key.replaceAll(/[^\w.-]/g, '_')), EACH_KEY],
  ['reads keys as paths', withKeys((key) => new URL(key, 'file:///').pathname), EACH_KEY],
  ['decodes keys', withKeys((key) => key.replaceAll('%20', ' ')), EACH_KEY],
  ['trims keys', withKeys((key) => key.trim()), EACH_KEY],
  ['composes the letters of keys', withKeys((key) => key.normalize('NFC')), EACH_KEY],
  [
    'cuts long keys',
    withKeys((key) => key.slice(0, 255)),
    'distinguishes keys of 300 characters that differ in the last one',
  ],
  [
    'returns numbers',
    withValues((value) => (/^\d+$/.test(value) ? Number(value) : value)),
    UNCHANGED,
  ],
  ['reads an empty value as missing', withValues((value) => value || undefined), UNCHANGED],
  ['trims values', withValues((value) => value.trim()), UNCHANGED],
  ['changes line ends', withValues((value) => value.replaceAll('\r\n', '\n')), UNCHANGED],
  [
    'stores one byte per character',
    withValues((value) => value.replaceAll(/[^\0-\xff]/g, '?')),
    UNCHANGED,
  ],
  [
    'truncates large values',
    withValues((value) => value.slice(0, 2 ** 19)),
    'stores a value of 1,000,000 characters',
  ],
  ['writes in chunks', inChunks, 'returns one complete value after 20 concurrent writes'],
  ['reads ms as seconds', withLifetimes((lifetime) => lifetime / 1_000), KEPT],
  ['stores ms in 32 bits', withLifetimes((lifetime) => lifetime | 0), KEPT],
  [
    'rejects expired values',
    withSet((values, key, value, expiresAt) => {
      if (expiresAt < Date.now()) throw new RangeError('invalid expire time')
      values.set(key, value)
    }),
    'accepts a value that has already expired, and the next value',
  ],
  ['grants every claim', withClaims(() => true), ONE_CLAIM],
  ['grants no claim', withClaims(() => false), ONE_CLAIM],
  ['returns OK for a claim', withClaims((...args) => (grant(...args) ? 'OK' : null)), ONE_CLAIM],
  [
    'waits between checking and claiming',
    withClaims(async (store, key, expiresAt) => {
      if (isClaimed(store, key)) return false
      await Promise.resolve()
      store.claims.set(key, expiresAt)
      return true
    }),
    ONE_CLAIM,
  ],
  [
    'ignores the key of a claim',
    withClaims((store, _, at) => grant(store, 'key', at)),
    'grants claims of different keys independently',
  ],
  [
    'stores claims as values',
    withClaims(({ values }, key) => !values.has(key) && Boolean(values.set(key, 'claimed'))),
    APART,
  ],
  [
    'deletes a value with a claim',
    withClaims((store, key, at) => {
      store.values.delete(key)
      return grant(store, key, at)
    }),
    APART,
  ],
  ['releases a claim when a value is set', releasing, UNTIL],
  [
    'reads the ms of a claim as seconds',
    withClaims((store, key, at) => grant(store, key, Date.now() + (at - Date.now()) / 1_000)),
    UNTIL,
  ],
  [
    'never ends a claim',
    withClaims((store, key) => grant(store, key, Infinity)),
    'grants a claim again after it expires',
  ],
  [
    'never ends a claim that has expired',
    withClaims((store, key, at) => grant(store, key, at > Date.now() ? at : Infinity)),
    'grants a claim after one with a past expiry time',
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

  it.each(BAD_STORES)('detects a store that %s', async (_what, create, name) => {
    const failed = await failures(create)
    expect([...failed.keys()]).toContain(name)
    for (const { message } of failed.values()) expect(message).toMatch(/^expected \S/)
  })

  it('has distinct names for every store, each with a bad store above', () => {
    const names = storeContract(() => new Map()).map(({ name }) => name)
    expect(storeContract(() => new GoodStore()).map(({ name }) => name)).toEqual(names)
    const detecting = new Set(BAD_STORES.map(([, , name]) => name))
    expect([...detecting].toSorted()).toEqual(names.toSorted())
  })

  it('rejects with the expected and the actual value, and the cause', async () => {
    const failed = await failures(withValues((value) => `${value}.`))
    expect(failed.get(EVERY_READ)?.message).toMatch(
      /^expected get\("contract:\w+:a"\) .* "\{\\"v\\":1\}", got "\{\\"v\\":1\}\."$/,
    )
    expect(failed.get('stores a value of 1,000,000 characters')?.message).toMatch(
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
    expect(hanging.get('returns no string for a key that was never set')?.message).toMatch(
      /^expected get\("contract:\w+:never"\) .*\b4000 ms$/,
    )
  })
})
