import { Inflate } from 'fflate'

import { runInSlices, yieldToEventLoop } from '../../async.ts'
import type { Slices } from '../../async.ts'

export interface ZipMember {
  name: string
  /** Limit of the inflated size in bytes. */
  maxBytes: number
  signal: AbortSignal
}

/**
 * Reads the only member of a zip archive (PKWARE APPNOTE 6.3), stored or deflated, and checks its size and checksum.
 *
 * @throws {Error} if the archive or the member is invalid; the signal's reason if it aborts
 */
export async function readZipMember(
  archive: Uint8Array<ArrayBuffer>,
  { name, maxBytes, signal }: ZipMember,
): Promise<Uint8Array<ArrayBuffer>> {
  signal.throwIfAborted()
  const entry = readDirectory(archive)
  if (entry.name !== name) throw new Error(`expected the archive member ${name}`)
  if (entry.size > maxBytes) {
    throw new Error(`${name} has ${entry.size} bytes, expected at most ${maxBytes}`)
  }
  return runInSlices(unpack(entry), yieldToEventLoop, signal)
}

const END_SIGNATURE = 0x06_05_4b_50
const END_SIZE = 22
const ENTRY_SIGNATURE = 0x02_01_4b_50
const ENTRY_SIZE = 46
const LOCAL_SIGNATURE = 0x04_03_4b_50
const LOCAL_SIZE = 30

const STORED = 0
const DEFLATED = 8

interface Entry {
  name: string
  method: number
  crc: number
  size: number
  packed: Uint8Array<ArrayBuffer>
}

/** The directory, with an entry for the only member, is followed by its end record, which may have a comment. */
function readDirectory(archive: Uint8Array<ArrayBuffer>): Entry {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength)
  const read = (at: number): number => view.getUint32(at, true)
  const readShort = (at: number): number => view.getUint16(at, true)
  try {
    let end = archive.length - END_SIZE
    while (read(end) !== END_SIGNATURE) end -= 1
    const entry = read(end + 16)
    const local = read(entry + 42)
    const nameEnd = entry + ENTRY_SIZE + readShort(entry + 28)
    const start = local + LOCAL_SIZE + readShort(local + 26) + readShort(local + 28)
    const packed = archive.subarray(start, start + read(entry + 20))
    const isWhole =
      readShort(end + 10) === 1 &&
      read(entry) === ENTRY_SIGNATURE &&
      read(local) === LOCAL_SIGNATURE &&
      packed.length === read(entry + 20)
    if (!isWhole) throw new Error('another structure')
    return {
      name: new TextDecoder().decode(archive.subarray(entry + ENTRY_SIZE, nameEnd)),
      method: readShort(entry + 10),
      crc: read(entry + 16),
      size: read(entry + 24),
      packed,
    }
  } catch (cause) {
    throw new Error('the body is not a zip archive with one member, or is truncated', { cause })
  }
}

/** Packed bytes per slice: the most to which they inflate, a thousand times as many, take some ms. */
const SLICE = 4_096

/** @throws {Error} at the first byte beyond the stated size, if there are fewer, or if the checksum differs */
function* unpack({ method, crc, size, packed }: Entry): Slices<Uint8Array<ArrayBuffer>> {
  if (method !== STORED && method !== DEFLATED) {
    throw new Error(`unsupported compression method ${method}; expected 0 or 8`)
  }
  const bytes = new Uint8Array(size)
  let length = 0
  let sum = ~0
  const append = (part: Uint8Array): void => {
    if (length + part.length > size) throw new Error(`the member has more than ${size} bytes`)
    bytes.set(part, length)
    length += part.length
    for (const byte of part) sum = (TABLE[(sum ^ byte) & 255] ?? 0) ^ (sum >>> 8)
  }
  const inflater = new Inflate(append)
  for (let at = 0; at < packed.length; at += SLICE) {
    if (at > 0) yield
    const slice = packed.subarray(at, at + SLICE)
    if (method === STORED) append(slice)
    else inflater.push(slice, at + SLICE >= packed.length)
  }
  if (length < size) throw new Error(`the member has ${length} bytes, expected ${size}`)
  if (~sum >>> 0 !== crc) throw new Error('the member has a wrong checksum')
  return bytes
}

/** CRC-32 (ISO 3309), reversed. */
const POLYNOMIAL = 0xed_b8_83_20

const TABLE = /* @__PURE__ */ Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1
  return value
})
