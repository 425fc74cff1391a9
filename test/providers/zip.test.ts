import * as fc from 'fast-check'
import { strToU8, unzipSync, zipSync } from 'fflate'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { readZipMember } from '../../src/providers/ecb/unzip.ts'

const NAME = 'eurofxref-hist.csv'
const TEXT = `Date,USD,\n${'2026-11-20,1.1,\n'.repeat(2_000)}`

const SIZE = TEXT.length
const NO_BYTES = new Uint8Array()
const NO_ARCHIVE = /not a zip archive, or is truncated/

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

/** Replaces `DecompressionStream` by one that counts inflated bytes. */
function countInflated(): () => number {
  let count = 0
  const Platform = DecompressionStream
  vi.stubGlobal('DecompressionStream', function Counting(format: CompressionFormat) {
    const { readable, writable } = new Platform(format)
    const transform: Transformer<Bytes, Bytes>['transform'] = (chunk, controller) => {
      count += chunk.byteLength
      controller.enqueue(chunk)
    }
    return { writable, readable: readable.pipeThrough(new TransformStream({ transform })) }
  })
  return () => count
}

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('readZipMember()', () => {
  it('reads an archive with a comment, and one inside a larger buffer', async () => {
    const commented = new Uint8Array([...patched(ARCHIVE, ['end', 20, 16, 5]), 80, 75, 5, 6, 0])
    await expect(read(commented)).resolves.toBe(TEXT)
    const buffer = new Uint8Array([1, 2, 3, ...ARCHIVE, 4])
    await expect(read(buffer.subarray(3, -1))).resolves.toBe(TEXT)
  })

  it('reads a local header that leaves sizes and checksum to the data descriptor', async () => {
    const numbers = [14, 18, 22].map((offset): Patch => ['local', offset, 32, 0])
    const archive = patched(ARCHIVE, ['local', 6, 16, 8], ['entry', 8, 16, 8], ...numbers)
    await expect(read(archive)).resolves.toBe(TEXT)
  })

  it.each([
    ['nothing', new Uint8Array(), NO_ARCHIVE],
    ['a text', strToU8(TEXT), NO_ARCHIVE],
    ['bytes after the archive', new Uint8Array([...ARCHIVE, 0]), NO_ARCHIVE],
    ['bytes before it', new Uint8Array([0, ...ARCHIVE]), NO_ARCHIVE],
    ['an empty archive', zipSync({}), /1 member, got 0/],
    ['two members', zipSync({ [NAME]: NO_BYTES, b: NO_BYTES }), /1 member, got 2/],
    ['another name', zip(TEXT, 6, 'a.csv'), /member eurofxref-hist\.csv/],
    ['a name with a path', zip(TEXT, 6, `../${NAME}`), /member eurofxref-hist\.csv/],
    ['a smaller size', claiming(SIZE - 1), `more than ${SIZE - 1} bytes`],
    ['a larger size', claiming(SIZE + 1), `${SIZE} bytes, expected ${SIZE + 1}`],
    ['a stored member of another size', claiming(SIZE + 1, zip(TEXT, 0)), `expected ${SIZE + 1}`],
  ])('rejects %s', async (_what, archive, message) => {
    await expect(read(archive)).rejects.toThrow(message)
  })

  it.each<[what: string, message: string | RegExp, ...patches: Patch[]]>([
    ['another name in the local header', /directory .*local header/, ['local', 30, 16, 0]],
    ['another method in the local header', /directory .*local header/, ['local', 8, 16, 0]],
    ['another size in the local header', /directory .*local header/, ['local', 22, 32, 1]],
    ['encryption in the local header', /directory .*local header/, ['local', 6, 16, 1]],
    ['a local name that is longer', /directory .*local header/, ['local', 26, 16, 60_000]],
    ['encryption', /encrypted/, ['entry', 8, 16, 1]],
    ['strong encryption', /encrypted/, ['entry', 8, 16, 0x40]],
    ['another method', /method 12/, ['entry', 10, 16, 12]],
    ['several disks', /multi-disk/, ['end', 4, 16, 1]],
    ['a member on another disk', /multi-disk/, ['entry', 34, 16, 1]],
    ['a size in a ZIP64 field', /ZIP64/, ['entry', 24, 32, 0xff_ff_ff_ff]],
    ['an offset in a ZIP64 field', /ZIP64/, ['entry', 42, 32, 0xff_ff_ff_ff]],
    ['a member that is not there', /header at byte 1$/, ['entry', 42, 32, 1]],
    ['a member after the end', /header at byte 16777215$/, ['entry', 42, 32, 0xff_ff_ff]],
    ['a directory without a signature', /header at byte \d+$/, ['entry', 0, 32, 1]],
    ['a directory elsewhere', NO_ARCHIVE, ['end', 16, 32, 1]],
    ['a name that is longer', /directory/, ['entry', 28, 16, 60_000]],
    ['more packed bytes', /truncated/, ['entry', 20, 32, 6e4], ['local', 18, 32, 6e4]],
    ['fewer packed bytes', /inflate/, ['entry', 20, 32, 20], ['local', 18, 32, 20]],
    ['another checksum', /checksum/, ['entry', 16, 32, 1], ['local', 14, 32, 1]],
    ['damaged data', /inflate|checksum/, ['local', 60, 32, 0xff_ff_ff_ff]],
  ])('rejects an archive with %s', async (_what, message, ...patches) => {
    await expect(read(patched(ARCHIVE, ...patches))).rejects.toThrow(message)
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

  it('stops inflating a bomb that states a small size', async () => {
    const inflated = countInflated()
    const reading = read(claiming(1_000, ZEROS))
    await expect(reading).rejects.toThrow('inflates to more than 1000 bytes')
    expect(inflated()).toBeGreaterThan(1_000)
    expect(inflated()).toBeLessThan(20_000_000)
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

  it('unpacks archives of another program like that program', async () => {
    const data = fc.uint8Array({ maxLength: 20_000 })
    const levels = fc.constantFrom(0, 1, 6, 9)
    const property = fc.asyncProperty(data, levels, async (bytes, level) => {
      const archive = zipSync({ [NAME]: [bytes, { level }] })
      expect(await readMember(archive)).toEqual(unzipSync(archive)[NAME])
    })
    await fc.assert(property)
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

  it.each([
    ['', 0],
    ['123456789', 0xcb_f4_39_26],
    ['The quick brown fox jumps over the lazy dog', 0x41_4f_a3_39],
  ])('accepts the known checksum of %j', async (text, sum) => {
    const archive = patched(zip(text), ['entry', 16, 32, sum], ['local', 14, 32, sum])
    await expect(read(archive)).resolves.toBe(text)
  })
})
