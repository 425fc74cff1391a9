import * as fc from 'fast-check'
import { strToU8, zipSync } from 'fflate'
import { describe, expect, it } from 'vitest'

import { readZipMember } from '../../src/providers/ecb/unzip.ts'
import { turnsDuring } from '../virtual-runtime.ts'

const NAME = 'eurofxref-hist.csv'
const TEXT = `Date,USD,\n${'2026-11-20,1.1,\n'.repeat(2_000)}`

const SIZE = TEXT.length
const NO_BYTES = new Uint8Array()
const NO_ARCHIVE = /not a zip archive with one member, or is truncated$/

type Bytes = Uint8Array<ArrayBuffer>

function zip(text: string = TEXT, level: 0 | 6 = 6, name: string = NAME): Bytes {
  return zipSync({ [name]: [strToU8(text), { level }] })
}

const ARCHIVE = zip()

const ZEROS = zipSync({ [NAME]: new Uint8Array(40_000_000) })

type Options = Partial<Parameters<typeof readZipMember>[1]>

function readMember(archive: Bytes, options: Options = {}) {
  const { signal } = new AbortController()
  return readZipMember(archive, { name: NAME, maxBytes: 1_000_000, signal, ...options })
}

async function read(archive: Bytes, options?: Options): Promise<string> {
  return new TextDecoder().decode(await readMember(archive, options))
}

/** Returns the offsets of the headers in an archive of `zip`. */
function placesOf(archive: Bytes) {
  const end = archive.length - 22
  const entry = new DataView(archive.buffer).getUint32(end + 16, true)
  return { local: 0, entry, end }
}

/** A number of 16 or 32 bits to write at an offset of a header. */
type Patch = [head: keyof ReturnType<typeof placesOf>, offset: number, bits: 16 | 32, value: number]

/** Returns a copy of `archive` with the patches applied. */
function patched(archive: Bytes, ...patches: Patch[]): Bytes {
  const copy = archive.slice()
  const view = new DataView(copy.buffer)
  const places = placesOf(archive)
  for (const [head, offset, bits, value] of patches) {
    if (bits === 16) view.setUint16(places[head] + offset, value, true)
    else view.setUint32(places[head] + offset, value, true)
  }
  return copy
}

/** Returns an archive that states `size` bytes for its member. */
function claiming(size: number, archive: Bytes = ARCHIVE): Bytes {
  return patched(archive, ['entry', 24, 32, size], ['local', 22, 32, size])
}

describe('readZipMember()', () => {
  it('reads an archive with a comment, and one inside a larger buffer', async () => {
    const commented = new Uint8Array([...patched(ARCHIVE, ['end', 20, 16, 5]), 80, 75, 5, 6, 0])
    await expect(read(commented)).resolves.toBe(TEXT)
    const buffer = new Uint8Array([1, 2, 3, ...ARCHIVE, 4])
    await expect(read(buffer.subarray(3, -1))).resolves.toBe(TEXT)
  })

  it('reads a member with extra fields, which have its times', async () => {
    const extra = { 0x5455: new Uint8Array(5) }
    await expect(read(zipSync({ [NAME]: [strToU8(TEXT), { extra }] }))).resolves.toBe(TEXT)
  })

  it('reads a local header that leaves sizes and checksum to the data descriptor', async () => {
    const numbers = [14, 18, 22].map((offset): Patch => ['local', offset, 32, 0])
    const archive = patched(ARCHIVE, ['local', 6, 16, 8], ['entry', 8, 16, 8], ...numbers)
    await expect(read(archive)).resolves.toBe(TEXT)
  })

  it.each([
    ['nothing', NO_BYTES, NO_ARCHIVE],
    ['a text', strToU8(TEXT), NO_ARCHIVE],
    ['an empty archive', zipSync({}), NO_ARCHIVE],
    ['two members', zipSync({ [NAME]: NO_BYTES, b: NO_BYTES }), NO_ARCHIVE],
    ['another name', zip(TEXT, 6, 'a.csv'), /member eurofxref-hist\.csv$/],
    ['a name with a path', zip(TEXT, 6, `../${NAME}`), /member eurofxref-hist\.csv$/],
    ['a smaller size', claiming(SIZE - 1), `more than ${SIZE - 1} bytes`],
    ['a larger size', claiming(SIZE + 1), `${SIZE} bytes, expected ${SIZE + 1}`],
    ['a stored member of another size', claiming(SIZE + 1, zip(TEXT, 0)), `expected ${SIZE + 1}`],
    ['another method', patched(ARCHIVE, ['entry', 10, 16, 12]), /method 12/],
    ['another checksum', patched(ARCHIVE, ['entry', 16, 32, 1]), /checksum/],
    ['fewer packed bytes', patched(ARCHIVE, ['entry', 20, 32, 20]), /unexpected EOF/],
    ['a member after the end', patched(ARCHIVE, ['entry', 42, 32, 0xff_ff_ff]), NO_ARCHIVE],
    ['a size in a ZIP64 field', patched(ARCHIVE, ['entry', 24, 32, 0xff_ff_ff_ff]), /at most/],
  ])('rejects %s', async (_what, archive, message) => {
    await expect(read(archive)).rejects.toThrow(message)
  })

  it('rejects an archive truncated at any byte', async () => {
    const archive = zip('Date,USD,\n')
    for (let length = 0; length < archive.length; length += 1) {
      await expect(read(archive.slice(0, length)), String(length)).rejects.toThrow(Error)
    }
  })

  it('rejects a member whose stated size is too large', async () => {
    const message = `${TEXT.length} bytes, expected at most 1000`
    await expect(read(ARCHIVE, { maxBytes: 1_000 })).rejects.toThrow(message)
  })

  it('stops inflating a bomb that states a small size, and takes a turn for some of another', async () => {
    const small = await turnsDuring(() => read(claiming(1_000, ZEROS)).catch(String))
    expect(small).toMatchObject({
      result: expect.stringMatching(/more than 1000 bytes$/),
      turns: 0,
    })
    const whole = await turnsDuring(() => readMember(ZEROS, { maxBytes: 40_000_000 }))
    expect(whole.result).toHaveLength(40_000_000)
    expect(whole.turns).toBeGreaterThanOrEqual(9)
  })

  it('ends when its signal aborts, before and while it inflates', async () => {
    const reason = new Error('time is up')
    await expect(read(ARCHIVE, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const controller = new AbortController()
    const reading = read(ZEROS, { maxBytes: 40_000_000, signal: controller.signal })
    await Promise.resolve()
    controller.abort(reason)
    await expect(reading).rejects.toBe(reason)
  })

  it('reads the same text from an archive with any flipped bit, or rejects it', async () => {
    const property = fc.asyncProperty(fc.nat(ARCHIVE.length * 8 - 1), async (bit) => {
      const damaged = ARCHIVE.slice()
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
      const outcome = await read(damaged).catch((error: unknown) => error)
      expect(outcome === TEXT || outcome instanceof Error).toBe(true)
    })
    await fc.assert(property, { numRuns: 300 })
  })
})
