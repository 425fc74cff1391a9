import * as fc from 'fast-check'
import { strToU8, unzipSync, zipSync } from 'fflate'
import { afterEach, describe, expect, it, vi } from 'vitest'

import { readZipMember } from '../../src/providers/zip.ts'

// Generous: the machine may be busy.
vi.setConfig({ testTimeout: 60_000 })

const NAME = 'eurofxref-hist.csv'
const TEXT = `Date,USD,\n${'2026-11-20,1.1,\n'.repeat(2_000)}`

const SIZE = TEXT.length
const NO_BYTES = new Uint8Array()

type Bytes = Uint8Array<ArrayBuffer>

function zip(text: string = TEXT, level: 0 | 6 = 6, name: string = NAME): Bytes {
  return zipSync({ [name]: [strToU8(text), { level }] })
}

const ARCHIVE = zip()

/** A thousand times as large inflated as it is packed. */
const ZEROS = zipSync({ [NAME]: new Uint8Array(40_000_000) })

type Options = Partial<Parameters<typeof readZipMember>[1]>

function readMember(archive: Bytes, options: Options = {}) {
  const { signal } = new AbortController()
  return readZipMember(archive, { name: NAME, maxBytes: 1_000_000, signal, ...options })
}

async function read(archive: Bytes, options?: Options): Promise<string> {
  return new TextDecoder().decode(await readMember(archive, options))
}

/** Where the directory, its end and the data are in an archive of `zip`. */
function placesOf(archive: Bytes) {
  const end = archive.length - 22
  const entry = new DataView(archive.buffer).getUint32(end + 16, true)
  return { local: 0, entry, end }
}

/** A number of 16 or 32 bits to be written at an offset of one of the heads. */
type Patch = [head: keyof ReturnType<typeof placesOf>, offset: number, bits: 16 | 32, value: number]

/** A copy of `archive` with these numbers. */
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

/** An archive that says of its deflated member that it has `size` bytes. */
function claiming(size: number, archive: Bytes = ARCHIVE): Bytes {
  return patched(archive, ['entry', 24, 32, size], ['local', 22, 32, size])
}

/** Replaces the platform's stream by one that counts inflated bytes. */
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
  it('reads an archive with a comment, and one amid a larger buffer', async () => {
    const commented = new Uint8Array([...patched(ARCHIVE, ['end', 20, 16, 5]), 80, 75, 5, 6, 0])
    await expect(read(commented)).resolves.toBe(TEXT)
    const buffer = new Uint8Array([1, 2, 3, ...ARCHIVE, 4])
    await expect(read(buffer.subarray(3, -1))).resolves.toBe(TEXT)
  })

  it('reads a local head that leaves sizes and checksum to the data descriptor', async () => {
    const numbers = [14, 18, 22].map((offset): Patch => ['local', offset, 32, 0])
    const archive = patched(ARCHIVE, ['local', 6, 16, 8], ['entry', 8, 16, 8], ...numbers)
    await expect(read(archive)).resolves.toBe(TEXT)
  })

  it.each([
    ['nothing', new Uint8Array(), 'there is no archive'],
    ['a text', strToU8(TEXT), 'there is no archive'],
    ['something behind the archive', new Uint8Array([...ARCHIVE, 0]), 'there is no archive'],
    ['something before it', new Uint8Array([0, ...ARCHIVE]), 'there is no archive'],
    ['an empty archive', zipSync({}), 'the archive has 0 members, not 1'],
    ['two members', zipSync({ [NAME]: NO_BYTES, b: NO_BYTES }), 'the archive has 2 members, not 1'],
    [
      'another name',
      zip(TEXT, 6, 'a.csv'),
      'the archive has another member than eurofxref-hist.csv',
    ],
    ['a name with a path', zip(TEXT, 6, `../${NAME}`), 'the archive has another member'],
    ['a smaller size', claiming(SIZE - 1), `it inflates to more than ${SIZE - 1} bytes`],
    ['a larger size', claiming(SIZE + 1), `it inflates to ${SIZE} bytes, not ${SIZE + 1}`],
    ['a stored member of another size', claiming(SIZE + 1, zip(TEXT, 0)), 'not the size that it'],
  ])('refuses %s', async (_what, archive, message) => {
    await expect(read(archive)).rejects.toThrow(message)
  })

  it.each<[what: string, message: string | RegExp, ...patches: Patch[]]>([
    ['another name in the local head', 'says two things', ['local', 30, 16, 0]],
    ['another method in the local head', 'says two things', ['local', 8, 16, 0]],
    ['another size in the local head', 'says two things', ['local', 22, 32, 1]],
    ['encryption in the local head', 'says two things', ['local', 6, 16, 1]],
    ['a local name that is longer', 'says two things', ['local', 26, 16, 60_000]],
    ['encryption', 'it is encrypted', ['entry', 8, 16, 1]],
    ['strong encryption', 'it is encrypted', ['entry', 8, 16, 0x40]],
    ['another method', 'it is packed by method 12', ['entry', 10, 16, 12]],
    ['several disks', 'the archive is one of several disks', ['end', 4, 16, 1]],
    ['a member on another disk', 'the archive is one of several disks', ['entry', 34, 16, 1]],
    ['the format over 4 GB', 'over 4 GB', ['entry', 24, 32, 0xff_ff_ff_ff]],
    ['a member elsewhere', 'over 4 GB', ['entry', 42, 32, 0xff_ff_ff_ff]],
    ['a member that is not there', 'no member where it says', ['entry', 42, 32, 1]],
    ['a member behind the end', 'no member where it says', ['entry', 42, 32, 0xff_ff_ff]],
    ['a directory that is none', 'no member where it says', ['entry', 0, 32, 1]],
    ['a directory elsewhere', 'there is no archive', ['end', 16, 32, 1]],
    ['a name that is longer', 'not what it should be', ['entry', 28, 16, 60_000]],
    ['more packed bytes', 'not all of its member', ['entry', 20, 32, 6e4], ['local', 18, 32, 6e4]],
    ['fewer packed bytes', 'inflate', ['entry', 20, 32, 20], ['local', 18, 32, 20]],
    ['another checksum', 'not the checksum', ['entry', 16, 32, 1], ['local', 14, 32, 1]],
    ['damaged data', /inflate|checksum/, ['local', 60, 32, 0xff_ff_ff_ff]],
  ])('refuses an archive with %s', async (_what, message, ...patches) => {
    await expect(read(patched(ARCHIVE, ...patches))).rejects.toThrow(message)
  })

  it('refuses an archive that is cut anywhere', async () => {
    const archive = zip('Date,USD,\n')
    for (let length = 0; length < archive.length; length += 1) {
      await expect(read(archive.slice(0, length)), String(length)).rejects.toThrow(Error)
    }
  })

  it('refuses a member that is too large, by what it says', async () => {
    await expect(read(ARCHIVE, { maxBytes: 1_000 })).rejects.toThrow(`has ${TEXT.length} bytes`)
  })

  it('refuses a bomb that says it is small before it has inflated it', async () => {
    const inflated = countInflated()
    const reading = read(claiming(1_000, ZEROS))
    await expect(reading).rejects.toThrow('it inflates to more than 1000 bytes')
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

  it('unpacks archives of another program as that does', async () => {
    const data = fc.uint8Array({ maxLength: 20_000 })
    await fc.assert(
      fc.asyncProperty(data, fc.constantFrom(0, 1, 6, 9), async (bytes, level) => {
        const archive = zipSync({ [NAME]: [bytes, { level }] })
        expect(await readMember(archive)).toEqual(unzipSync(archive)[NAME])
      }),
    )
  })

  it('reads an archive with any bit turned as it was, or refuses it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(ARCHIVE.length * 8 - 1), async (bit) => {
        const damaged = ARCHIVE.slice()
        damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        const outcome = await read(damaged).catch((error: unknown) => error)
        expect(outcome === TEXT || outcome instanceof Error).toBe(true)
      }),
      { numRuns: 300 },
    )
  })

  it.each([
    ['', 0],
    ['123456789', 0xcb_f4_39_26],
    ['The quick brown fox jumps over the lazy dog', 0x41_4f_a3_39],
  ])('takes the known checksum of %j for the right one', async (text, sum) => {
    const archive = patched(zip(text), ['entry', 16, 32, sum], ['local', 14, 32, sum])
    await expect(read(archive)).resolves.toBe(text)
  })
})
