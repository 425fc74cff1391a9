import { afterEach, describe, expect, it, vi } from 'vitest'

import type { CacheStore } from '../../src/index.ts'
import { storeContract } from '../../src/testing/index.ts'
import { failuresOf } from './virtual-time.ts'

/** A store that does all it must; a bad one is this with one thing changed. */
class GoodStore {
  texts = new Map<string, string>()
  claims = new Map<string, number>()

  get(key: string): unknown {
    return this.texts.get(this.keyOf(key))
  }

  set(key: string, text: string, _expiresAt: number): unknown {
    this.texts.set(this.keyOf(key), text)
    return undefined
  }

  claim(key: string, expiresAt: number): boolean | Promise<boolean> {
    if (this.isClaimed(key)) return false
    this.claims.set(key, expiresAt)
    return true
  }

  keyOf(key: string): string {
    return key
  }

  isClaimed(key: string): boolean {
    return (this.claims.get(key) ?? 0) > Date.now()
  }
}

function changed(change: (store: GoodStore) => object): () => CacheStore {
  return () => {
    const store = new GoodStore()
    return Object.assign(store, change(store))
  }
}

function withKeys(keyOf: (key: string) => string): () => CacheStore {
  return changed(() => ({ keyOf }))
}

/** With `read` between the text that is held and whoever asks. */
function withTexts(read: (text: string) => unknown): () => CacheStore {
  return changed(({ texts }) => ({
    get(key: string) {
      const text = texts.get(key)
      return text === undefined ? undefined : read(text)
    },
  }))
}

/** Whose entries live for `lifeOf` the time they should, in ms. */
function withLives(lifeOf: (life: number) => number): () => CacheStore {
  const ends = new Map<string, number>()
  return changed(({ texts }) => ({
    get: (key: string) => ((ends.get(key) ?? 0) >= Date.now() ? texts.get(key) : undefined),
    set(key: string, text: string, expiresAt: number) {
      ends.set(key, Date.now() + lifeOf(expiresAt - Date.now()))
      texts.set(key, text)
    },
  }))
}

function withClaims(
  claim: (store: GoodStore, key: string, expiresAt: number) => unknown,
): () => CacheStore {
  return changed((store) => ({
    claim: (key: string, expiresAt: number) => claim(store, key, expiresAt),
  }))
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}

/** Returns the cases that fail for such a store, each with its error. */
function failures(create: () => CacheStore): Promise<Map<string, Error>> {
  return failuresOf(storeContract(create))
}

const NEVER_SET = 'has no text for a key that was never set'
const GIVES_BACK = 'gives back the text that was set, however often'
const REPLACES = 'puts a later text in the place of an earlier one'
const UNDISTURBED = 'lets no key disturb another'
const APART = 'keeps keys apart, however odd'
const LONG_KEYS = 'keeps keys of 300 characters apart that differ in the last'
const UNCHANGED = 'changes nothing about a text'
const LARGE = 'holds a text of a million characters'
const WHOLE = 'has one text whole where many were set at once'
const EXPIRES = 'keeps a text until it expires, be that soon or in 30 days'
const EXPIRED = 'takes a text that has expired already, and the next one too'
const ONE_CLAIM = 'grants a claim to one of 50 who ask at once'
const CLAIMS_APART = 'grants claims of different keys apart'
const CLAIMS_AWAY = 'keeps claims away from texts'
const HOLDS = 'holds a claim until it runs out, whatever is set'
const AGAIN = 'grants a claim again when it has run out'
const NOT_BLOCKED = 'is not blocked by a claim that has expired already'

const BAD_STORES: [what: string, create: () => CacheStore, found: string[]][] = [
  ['has a text for every key', changed(() => ({ get: () => 'null' })), [NEVER_SET]],
  ['forgets everything', changed(() => ({ set() {} })), [GIVES_BACK]],
  [
    'is in no hurry to write',
    changed(({ texts }) => ({
      set(key: string, text: string) {
        void turn().then(() => texts.set(key, text))
      },
    })),
    [GIVES_BACK],
  ],
  [
    'gives every text once',
    changed(({ texts }) => ({
      get(key: string) {
        const text = texts.get(key)
        texts.delete(key)
        return text
      },
    })),
    [GIVES_BACK],
  ],
  [
    'keeps the first text',
    changed(({ texts }) => ({
      set: (key: string, text: string) => texts.set(key, texts.get(key) ?? text),
    })),
    [REPLACES],
  ],
  ['has one place for all', withKeys(() => 'key'), [UNDISTURBED]],
  [
    'has one place for the text set last',
    changed(({ texts }) => ({
      set(key: string, text: string) {
        texts.clear()
        texts.set(key, text)
      },
    })),
    [UNDISTURBED],
  ],
  [
    'keeps its texts in a plain object',
    changed(() => {
      const texts: Record<string, string> = {
        // As objects inherit it everywhere but in Deno.
        get ['__proto__']() {
          return ''
        },
        set ['__proto__'](_) {},
      }
      return {
        get: (key: string) => texts[key],
        set: (key: string, text: string) => (texts[key] = text),
      }
    }),
    [APART],
  ],
  ['makes no difference of capitals', withKeys((key) => key.toLowerCase()), [APART]],
  ['makes keys fit for file names', withKeys((key) => key.replaceAll(/[^\w.-]/g, '_')), [APART]],
  ['reads keys as paths', withKeys((key) => new URL(key, 'file:///').pathname), [APART]],
  ['decodes keys', withKeys((key) => key.replaceAll('%20', ' ')), [APART]],
  ['trims keys', withKeys((key) => key.trim()), [APART]],
  ['composes the letters of keys', withKeys((key) => key.normalize('NFC')), [APART]],
  ['cuts long keys', withKeys((key) => key.slice(0, 255)), [LONG_KEYS]],
  [
    'parses texts',
    withTexts((text) => {
      try {
        return JSON.parse(text)
      } catch {
        return text
      }
    }),
    [UNCHANGED],
  ],
  ['gives numbers', withTexts((text) => (/^\d+$/.test(text) ? Number(text) : text)), [UNCHANGED]],
  ['takes an empty text for none', withTexts((text) => text || undefined), [UNCHANGED]],
  ['trims texts', withTexts((text) => text.trim()), [UNCHANGED]],
  ['changes line ends', withTexts((text) => text.replaceAll('\r\n', '\n')), [UNCHANGED]],
  [
    'has one byte for a character',
    withTexts((text) => text.replaceAll(/[^\0-\xff]/g, '?')),
    [UNCHANGED],
  ],
  ['cuts large texts', withTexts((text) => text.slice(0, 2 ** 19)), [LARGE]],
  [
    'writes piece by piece',
    changed(({ texts }) => ({
      async set(key: string, text: string) {
        texts.set(key, '')
        for (let start = 0; start < text.length; start += 4_096) {
          texts.set(key, texts.get(key) + text.slice(start, start + 4_096))
          await Promise.resolve()
        }
      },
    })),
    [WHOLE],
  ],
  ['takes ms for seconds', withLives((life) => life / 1_000), [EXPIRES]],
  ['counts ms in 32 bits', withLives((life) => life | 0), [EXPIRES]],
  [
    'refuses what has expired',
    changed(({ texts }) => ({
      set(key: string, text: string, expiresAt: number) {
        if (expiresAt < Date.now()) throw new RangeError('invalid expire time')
        texts.set(key, text)
      },
    })),
    [EXPIRED],
  ],
  ['grants every claim', withClaims(() => true), [ONE_CLAIM, HOLDS]],
  ['grants no claim', withClaims(() => false), [ONE_CLAIM, AGAIN, NOT_BLOCKED]],
  ['answers a claim with OK', withClaims((...args) => (grant(...args) ? 'OK' : null)), [ONE_CLAIM]],
  [
    'looks before it claims, and then waits',
    withClaims(async (store, key, expiresAt) => {
      if (store.isClaimed(key)) return false
      await Promise.resolve()
      store.claims.set(key, expiresAt)
      return true
    }),
    [ONE_CLAIM],
  ],
  ['has one claim for all', withClaims((store, _, at) => grant(store, 'key', at)), [CLAIMS_APART]],
  [
    'keeps claims among its texts',
    withClaims(({ texts }, key) => !texts.has(key) && Boolean(texts.set(key, 'claimed'))),
    [CLAIMS_AWAY],
  ],
  [
    'removes a text with its claim',
    withClaims((store, key, expiresAt) => {
      store.texts.delete(key)
      return store.constructor.prototype.claim.call(store, key, expiresAt)
    }),
    [CLAIMS_AWAY],
  ],
  [
    'gives a claim back when a text is set',
    changed(({ texts, claims }) => ({
      set(key: string, text: string) {
        texts.set(key, text)
        claims.delete(key)
      },
    })),
    [HOLDS],
  ],
  [
    'takes the ms of a claim for seconds',
    withClaims((store, key, at) => grant(store, key, Date.now() + (at - Date.now()) / 1_000)),
    [HOLDS],
  ],
  [
    'never ends a claim',
    withClaims((store, key) => grant(store, key, Infinity)),
    [AGAIN, NOT_BLOCKED],
  ],
  [
    'never ends a claim that has expired',
    withClaims((store, key, at) => grant(store, key, at > Date.now() ? at : Infinity)),
    [NOT_BLOCKED],
  ],
]

function grant(store: GoodStore, key: string, expiresAt: number): boolean {
  if (store.isClaimed(key)) return false
  store.claims.set(key, expiresAt)
  return true
}

afterEach(() => {
  vi.useRealTimers()
})

describe('storeContract()', () => {
  it('passes a store that does all it must', async () => {
    expect(await failures(() => new GoodStore())).toEqual(new Map())
  })

  it('passes a store again that has all the earlier runs in it', async () => {
    const store = new GoodStore()
    for (const _ of [1, 2]) expect(await failures(() => store)).toEqual(new Map())
  })

  it('passes a store that is a promise, and has one made for each case', async () => {
    const create = vi.fn<() => Promise<CacheStore>>(async () => new GoodStore())
    const cases = storeContract(create)
    expect(create).not.toHaveBeenCalled()
    await failuresOf(cases)
    expect(create).toHaveBeenCalledTimes(cases.length)
  })

  it('has cases of different names, and the same ones for every store', () => {
    const names = storeContract(() => new Map()).map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
    expect(storeContract(() => new GoodStore()).map(({ name }) => name)).toEqual(names)
  })

  it.each(BAD_STORES)('finds a store that %s', async (_, create, found) => {
    const failed = await failures(create)
    expect([...failed.keys()]).toEqual(expect.arrayContaining(found))
    for (const { message } of failed.values()) expect(message).toMatch(/^expected \S/)
  })

  it('has a bad store for every case', () => {
    const found = new Set(BAD_STORES.flatMap(([, , names]) => names))
    expect([...found].sort()).toEqual(
      storeContract(() => new Map())
        .map(({ name }) => name)
        .sort(),
    )
  })

  it('says what was expected', async () => {
    const failed = await failures(
      changed(({ texts }) => ({ set: (key: string, text: string) => texts.set(key, `${text}.`) })),
    )
    expect(failed.get(GIVES_BACK)?.message).toMatch(
      /^expected get\("contract:\w+:a"\) to give "\{\\"v\\":1\}", got "\{\\"v\\":1\}\."$/,
    )
    expect(failed.get(LARGE)?.message).toMatch(
      /… \(1000000 characters\), got .*… \(1000001 characters\)$/,
    )
  })

  it.each(['rejects', 'throws'])('finds a store that %s', async (how) => {
    const cause = new Error('READONLY')
    const set = (): Promise<void> => {
      if (how === 'throws') throw cause
      return Promise.reject(cause)
    }
    const failed = await failures(changed(() => ({ set })))
    expect(failed.get(GIVES_BACK)).toMatchObject({
      message: expect.stringMatching(/^expected set\("contract:\w+:a"\) to work, but: READONLY$/),
      cause,
    })
  })

  it('does not wait for ever', async () => {
    const failed = await failures(changed(() => ({ get: () => new Promise(() => {}) })))
    expect(failed.get(NEVER_SET)?.message).toMatch(
      /^expected get\("contract:\w+:never"\) to work, but: no answer/,
    )
  })
})
