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

/** A store that returns what `read` makes of each stored text. */
function withTexts(read: (text: string) => unknown): () => CacheStore {
  return changed(({ texts }) => ({
    get(key) {
      const text = texts.get(key)
      return text === undefined ? undefined : read(text)
    },
  }))
}

/** A store whose entries live for `lifeOf` the time they should, in ms. */
function withLives(lifeOf: (life: number) => number): () => CacheStore {
  const ends = new Map<string, number>()
  return changed(({ texts }) => ({
    get: (key) => ((ends.get(key) ?? 0) >= Date.now() ? texts.get(key) : undefined),
    set(key, text, expiresAt) {
      ends.set(key, Date.now() + lifeOf(expiresAt - Date.now()))
      texts.set(key, text)
    },
  }))
}

function withClaims(claim: Claim): () => CacheStore {
  return () => {
    const store = new GoodStore()
    return Object.assign(store, { claim: claim.bind(undefined, store) })
  }
}

/** Returns the cases that fail for such a store, each with its error. */
function failures(create: () => CacheStore): Promise<Map<string, Error>> {
  return failuresOf(storeContract(create))
}

/** The bad stores that each case must find. */
const BAD_STORES: Record<string, Record<string, () => CacheStore>> = {
  'has no text for a key that was never set': {
    'has a text for every key': changed(() => ({ get: () => 'null' })),
  },
  'gives back the text that was set, however often': {
    'forgets everything': changed(() => ({ set() {} })),
    'is in no hurry to write': changed(({ texts }) => ({
      set: (key, text) => setTimeout(() => texts.set(key, text), 0),
    })),
    'gives every text once': changed(({ texts }) => ({
      get(key) {
        const text = texts.get(key)
        texts.delete(key)
        return text
      },
    })),
  },
  'puts a later text in the place of an earlier one': {
    'keeps the first text': changed(({ texts }) => ({
      set: (key, text) => texts.set(key, texts.get(key) ?? text),
    })),
  },
  'lets no key disturb another': {
    'has one place for all': withKeys(() => 'key'),
    'has one place for the text set last': changed(({ texts }) => ({
      set(key, text) {
        texts.clear()
        texts.set(key, text)
      },
    })),
  },
  'keeps keys apart, however odd': {
    'keeps its texts in a plain object': changed(() => {
      const texts: Record<string, string> = {
        // As objects inherit it everywhere but in Deno.
        get ['__proto__']() {
          return ''
        },
        set ['__proto__'](_) {},
      }
      return { get: (key) => texts[key], set: (key, text) => (texts[key] = text) }
    }),
    'makes no difference of capitals': withKeys((key) => key.toLowerCase()),
    'makes keys fit for file names': withKeys((key) => key.replaceAll(/[^\w.-]/g, '_')),
    'reads keys as paths': withKeys((key) => new URL(key, 'file:///').pathname),
    'decodes keys': withKeys((key) => key.replaceAll('%20', ' ')),
    'trims keys': withKeys((key) => key.trim()),
    'composes the letters of keys': withKeys((key) => key.normalize('NFC')),
  },
  'keeps keys of 300 characters apart that differ in the last': {
    'cuts long keys': withKeys((key) => key.slice(0, 255)),
  },
  'changes nothing about a text': {
    'parses texts': withTexts((text) => {
      try {
        return JSON.parse(text)
      } catch {
        return text
      }
    }),
    'gives numbers': withTexts((text) => (/^\d+$/.test(text) ? Number(text) : text)),
    'takes an empty text for none': withTexts((text) => text || undefined),
    'trims texts': withTexts((text) => text.trim()),
    'changes line ends': withTexts((text) => text.replaceAll('\r\n', '\n')),
    'has one byte for a character': withTexts((text) => text.replaceAll(/[^\0-\xff]/g, '?')),
  },
  'holds a text of a million characters': {
    'cuts large texts': withTexts((text) => text.slice(0, 2 ** 19)),
  },
  'has one text whole where many were set at once': {
    'writes piece by piece': changed(({ texts }) => ({
      async set(key, text) {
        texts.set(key, '')
        for (let start = 0; start < text.length; start += 4_096) {
          texts.set(key, texts.get(key) + text.slice(start, start + 4_096))
          await Promise.resolve()
        }
      },
    })),
  },
  'keeps a text until it expires, be that soon or in 30 days': {
    'takes ms for seconds': withLives((life) => life / 1_000),
    'counts ms in 32 bits': withLives((life) => life | 0),
  },
  'takes a text that has expired already, and the next one too': {
    'refuses what has expired': changed(({ texts }) => ({
      set(key, text, expiresAt) {
        if (expiresAt < Date.now()) throw new RangeError('invalid expire time')
        texts.set(key, text)
      },
    })),
  },
  'grants a claim to one of 50 who ask at once': {
    'grants every claim': withClaims(() => true),
    'grants no claim': withClaims(() => false),
    'answers a claim with OK': withClaims((...args) => (grant(...args) ? 'OK' : null)),
    'looks before it claims, and then waits': withClaims(async (store, key, expiresAt) => {
      if (store.isClaimed(key)) return false
      await Promise.resolve()
      store.claims.set(key, expiresAt)
      return true
    }),
  },
  'grants claims of different keys apart': {
    'has one claim for all': withClaims((store, _, at) => grant(store, 'key', at)),
  },
  'keeps claims away from texts': {
    'keeps claims among its texts': withClaims(
      ({ texts }, key) => !texts.has(key) && Boolean(texts.set(key, 'claimed')),
    ),
    'removes a text with its claim': withClaims((store, key, at) => {
      store.texts.delete(key)
      return grant(store, key, at)
    }),
  },
  'holds a claim until it runs out, whatever is set': {
    'grants every claim': withClaims(() => true),
    'gives a claim back when a text is set': changed(({ texts, claims }) => ({
      set(key, text) {
        texts.set(key, text)
        claims.delete(key)
      },
    })),
    'takes the ms of a claim for seconds': withClaims((store, key, at) =>
      grant(store, key, Date.now() + (at - Date.now()) / 1_000),
    ),
  },
  'grants a claim again when it has run out': {
    'grants no claim': withClaims(() => false),
    'never ends a claim': withClaims((store, key) => grant(store, key, Infinity)),
  },
  'is not blocked by a claim that has expired already': {
    'grants no claim': withClaims(() => false),
    'never ends a claim': withClaims((store, key) => grant(store, key, Infinity)),
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

  it.each(CASES)('finds a store that $what: $name', async ({ create, name }) => {
    const failed = await failures(create)
    expect([...failed.keys()]).toContain(name)
    for (const { message } of failed.values()) expect(message).toMatch(/^expected \S/)
  })

  it('has a bad store for every case', () => {
    const names = storeContract(() => new Map()).map(({ name }) => name)
    expect(Object.keys(BAD_STORES).toSorted()).toEqual(names.toSorted())
  })

  it('says what was expected', async () => {
    const failed = await failures(withTexts((text) => `${text}.`))
    expect(failed.get('gives back the text that was set, however often')?.message).toMatch(
      /^expected get\("contract:\w+:a"\) to give "\{\\"v\\":1\}", got "\{\\"v\\":1\}\."$/,
    )
    expect(failed.get('holds a text of a million characters')?.message).toMatch(
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
    expect(failed.get('gives back the text that was set, however often')).toMatchObject({
      message: expect.stringMatching(/^expected set\("contract:\w+:a"\) to work, but: READONLY$/),
      cause,
    })
  })

  it('does not wait for ever', async () => {
    const failed = await failures(changed(() => ({ get: () => new Promise(() => {}) })))
    expect(failed.get('has no text for a key that was never set')?.message).toMatch(
      /^expected get\("contract:\w+:never"\) to work, but: timed out after 4000 ms$/,
    )
  })
})
