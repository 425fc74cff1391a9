import { describe, expect, it } from 'vitest'

import { createVariants } from '../../src/compression/variants.ts'
import type { Body, Codec } from '../../src/compression/variants.ts'

/** Variants whose bodies have ten bytes, and what was encoded so far. */
function countedVariants() {
  const encoded: Body[] = []
  const codec: Codec = async (body) => {
    encoded.push(body)
    return new Uint8Array(10)
  }
  return { encode: createVariants({ br: codec, gzip: codec }, 1_000), encoded }
}

describe('createVariants', () => {
  it('encodes a body once, also for a hundred who ask at once', async () => {
    const { encode, encoded } = countedVariants()
    const body = new Uint8Array(100)
    const all = await Promise.all(Array.from({ length: 100 }, () => encode('br', body)))
    all.push(await encode('br', body))
    expect(new Set(all).size).toBe(1)
    expect(encoded).toEqual([body])
  })

  it('knows a text again by its characters', async () => {
    const { encode, encoded } = countedVariants()
    for (const text of ['one', 'other', ['o', 'ne'].join('')]) await encode('br', text)
    expect(encoded).toEqual(['one', 'other'])
  })

  it('keeps what was asked for, and no more than it has room for', async () => {
    const { encode, encoded } = countedVariants()
    const [first = '', ...others] = Array.from({ length: 10 }, (_, index) => `${index}`.repeat(300))
    for (const other of others) {
      await encode('br', other)
      await encode('br', first)
    }
    expect(encoded.filter((body) => body === first)).toHaveLength(1)
    await encode('br', others[0] ?? '')
    expect(encoded.filter((body) => body === others[0])).toHaveLength(2)
  })

  it('tells codings and bodies apart, even bodies of the same bytes', async () => {
    const { encode, encoded } = countedVariants()
    const [one, other] = [new Uint8Array(100), new Uint8Array(100)]
    const made = await Promise.all([encode('br', one), encode('gzip', one), encode('gzip', other)])
    expect(new Set(made).size).toBe(3)
    expect(encoded).toHaveLength(3)
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
    const codec: Codec = async (body) => {
      calls += 1
      return calls === 1 ? fail(body) : new Uint8Array(10)
    }
    const encode = createVariants({ br: codec, gzip: fail }, 1_000)
    const body = new Uint8Array(100)
    await expect(encode('gzip', body)).rejects.toThrow('no memory')
    await expect(encode('br', body)).rejects.toThrow('no memory')
    expect(await encode('br', body)).toHaveLength(10)
    await encode('br', body)
    expect(calls).toBe(2)
  })
})
