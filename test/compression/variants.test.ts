import { describe, expect, it } from 'vitest'

import { createVariants } from '../../src/compression/variants.ts'
import type { Codec } from '../../src/compression/variants.ts'

/** A codec whose output has ten bytes; what it was given is in `texts`. */
function countingCodec(texts: string[]): Codec {
  return async (text) => {
    texts.push(text)
    return new Uint8Array(10)
  }
}

/** Variants of at most `capacity` bytes, and the texts that were encoded so far, in their order. */
function countedVariants(capacity: number) {
  const texts: string[] = []
  const encode = createVariants({ br: countingCodec(texts), gzip: countingCodec(texts) }, capacity)
  return { encode, texts }
}

describe('createVariants', () => {
  it('encodes a text once, also for a hundred who ask at once', async () => {
    const { encode, texts } = countedVariants(1_000)
    const all = await Promise.all(Array.from({ length: 100 }, () => encode('br', 'text')))
    all.push(await encode('br', 'text'))
    expect(new Set(all).size).toBe(1)
    expect(texts).toEqual(['text'])
  })

  it('tells codings and texts apart', async () => {
    const { encode, texts } = countedVariants(1_000)
    await encode('br', 'one')
    await encode('gzip', 'one')
    await encode('gzip', 'two')
    expect(texts).toEqual(['one', 'one', 'two'])
  })

  it('drops what was asked for the longest ago when it is full', async () => {
    // Each takes 14 bytes: `br x` and ten of the codec.
    const { encode, texts } = countedVariants(30)
    for (const text of ['a', 'b', 'a', 'c', 'a', 'b']) await encode('br', text)
    expect(texts).toEqual(['a', 'b', 'c', 'b'])
  })

  it('keeps nothing that is larger than all of its room, and answers with it', async () => {
    const { encode, texts } = countedVariants(100)
    const large = 'x'.repeat(200)
    expect(await encode('br', large)).toHaveLength(10)
    await encode('br', large)
    expect(texts).toEqual([large, large])
    await encode('br', 'small')
    await encode('br', 'small')
    expect(texts).toHaveLength(3)
  })

  it('counts what is dropped while it is under way once only', async () => {
    const { encode, texts } = countedVariants(30)
    for (let round = 0; round < 50; round += 1) {
      await Promise.all(['a', 'b', 'c', 'd'].map((text) => encode('br', text)))
    }
    texts.length = 0
    await encode('br', 'e')
    await encode('br', 'e')
    expect(texts).toEqual(['e'])
  })

  it.each([
    ['rejects', async () => Promise.reject(new Error('no memory'))],
    [
      'throws',
      () => {
        throw new Error('no memory')
      },
    ],
  ])('rejects where a codec %s, and tries again for the next', async (_how, fail: Codec) => {
    let calls = 0
    const codec: Codec = async (text) => {
      calls += 1
      return calls === 1 ? fail(text) : new Uint8Array(10)
    }
    const encode = createVariants({ br: codec, gzip: fail }, 1_000)
    await expect(encode('gzip', 'text')).rejects.toThrow('no memory')
    await expect(encode('br', 'text')).rejects.toThrow('no memory')
    expect(await encode('br', 'text')).toHaveLength(10)
    await encode('br', 'text')
    expect(calls).toBe(2)
  })
})
