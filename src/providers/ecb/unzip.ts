import { runInSlices, yieldToEventLoop } from '../../async.ts'
import type { Slices } from '../../async.ts'

const LOCAL_SIGNATURE = 0x04_03_4b_50
const LOCAL_SIZE = 30

/** Flag: a data descriptor after the data has the sizes and the checksum, instead of the local header. */
const SIZES_FOLLOW = 0b1000

export interface ZipMember {
  name: string
  /** Limit of the inflated size in bytes. */
  maxBytes: number
  signal: AbortSignal
}

/**
 * Reads the only member of a zip archive (PKWARE APPNOTE 6.3), stored or deflated, and checks its sizes and checksum.
 * Rejects encrypted, multi-disk and ZIP64 archives.
 *
 * @throws {Error} if the archive or the member is invalid; the signal's reason if it aborts
 */
export async function readZipMember(
  archive: Uint8Array<ArrayBuffer>,
  { name, maxBytes, signal }: ZipMember,
): Promise<Uint8Array<ArrayBuffer>> {
  const entry = readDirectory(archive)
  if (entry.name !== name) throw new Error(`expected the archive member ${name}`)
  if (entry.size > maxBytes) {
    throw new Error(`${name} has ${entry.size} bytes, expected at most ${maxBytes}`)
  }
  const packed = packedBytes(archive, entry)
  const bytes =
    entry.method === STORED ? packed : await inflate(packed, { size: entry.size, signal })
  if (bytes.byteLength !== entry.size) {
    throw new Error(`${name} has ${bytes.byteLength} bytes, expected ${entry.size}`)
  }
  const crc = await runInSlices(crc32(bytes), yieldToEventLoop, signal)
  if (crc !== entry.crc) throw new Error(`${name} has a wrong checksum`)
  return bytes
}

function packedBytes(archive: Uint8Array<ArrayBuffer>, entry: Entry): Uint8Array<ArrayBuffer> {
  const view = viewOf(archive)
  const { at, end } = entry
  requireHead(view, { at, end, size: LOCAL_SIZE, signature: LOCAL_SIGNATURE })
  const nameEnd = at + LOCAL_SIZE + view.getUint16(at + 26, true)
  const start = nameEnd + view.getUint16(at + 28, true)
  const flags = view.getUint16(at + 6, true)
  const local = [14, 18, 22].map((offset) => view.getUint32(at + offset, true))
  const expected = flags & SIZES_FOLLOW ? local : [entry.crc, entry.packedSize, entry.size]
  const isSame =
    (flags & REFUSED_FLAGS) === 0 &&
    view.getUint16(at + 8, true) === entry.method &&
    decode(archive.subarray(at + LOCAL_SIZE, nameEnd)) === entry.name &&
    local.every((value, index) => value === expected[index])
  if (!isSame) throw new Error('the archive directory and the local header differ')
  if (start + entry.packedSize > end) throw new Error('the archive member is truncated')
  return archive.subarray(start, start + entry.packedSize)
}

const END_SIGNATURE = 0x06_05_4b_50
const END_SIZE = 22
const MAX_COMMENT_BYTES = 0xff_ff
const ENTRY_SIGNATURE = 0x02_01_4b_50
const ENTRY_SIZE = 46

const STORED = 0
const DEFLATED = 8

/** Encrypted, patched data, strong encryption, masked local header. */
const REFUSED_FLAGS = 0b10_0000_0110_0001

const ZIP64_MARKER = 0xff_ff_ff_ff

const MULTI_DISK = 'multi-disk archives are not supported'

interface Entry {
  name: string
  method: number
  crc: number
  packedSize: number
  size: number
  /** Offset of the local header. */
  at: number
  /** Offset after the data of all members. */
  end: number
}

/** @throws {Error} if the directory is invalid, truncated or has another number of members */
function readDirectory(archive: Uint8Array<ArrayBuffer>): Entry {
  const { start, end } = findDirectory(archive)
  const view = viewOf(archive)
  requireHead(view, { at: start, end, size: ENTRY_SIZE, signature: ENTRY_SIGNATURE })
  const nameEnd = start + ENTRY_SIZE + view.getUint16(start + 28, true)
  const next = nameEnd + view.getUint16(start + 30, true) + view.getUint16(start + 32, true)
  if (next !== end) throw new Error('malformed archive directory')
  const entry = {
    name: decode(archive.subarray(start + ENTRY_SIZE, nameEnd)),
    method: view.getUint16(start + 10, true),
    crc: view.getUint32(start + 16, true),
    packedSize: view.getUint32(start + 20, true),
    size: view.getUint32(start + 24, true),
    at: view.getUint32(start + 42, true),
    end: start,
  }
  requireReadable(entry, view, start)
  return entry
}

function requireReadable(entry: Entry, view: DataView, start: number): void {
  if ((view.getUint16(start + 8, true) & REFUSED_FLAGS) !== 0) {
    throw new Error('encrypted archives are not supported')
  }
  if (entry.method !== STORED && entry.method !== DEFLATED) {
    throw new Error(`unsupported compression method ${entry.method}; expected 0 or 8`)
  }
  if (view.getUint16(start + 34, true) !== 0) throw new Error(MULTI_DISK)
  if ([entry.packedSize, entry.size, entry.at].includes(ZIP64_MARKER)) {
    throw new Error('ZIP64 archives are not supported')
  }
}

interface Directory {
  start: number
  end: number
}

/** The directory is followed by its end record, which may have a comment. */
function findDirectory(archive: Uint8Array<ArrayBuffer>): Directory {
  const view = viewOf(archive)
  const first = Math.max(0, archive.length - END_SIZE - MAX_COMMENT_BYTES)
  for (let end = archive.length - END_SIZE; end >= first; end -= 1) {
    if (view.getUint32(end, true) !== END_SIGNATURE) continue
    if (end + END_SIZE + view.getUint16(end + 20, true) !== archive.length) continue
    const [disk, diskOfStart] = [view.getUint16(end + 4, true), view.getUint16(end + 6, true)]
    const [here, all] = [view.getUint16(end + 8, true), view.getUint16(end + 10, true)]
    if (disk !== 0 || diskOfStart !== 0) throw new Error(MULTI_DISK)
    if (here !== 1 || all !== 1) throw new Error(`expected an archive with 1 member, got ${all}`)
    const start = view.getUint32(end + 16, true)
    if (start + view.getUint32(end + 12, true) !== end) break
    return { start, end }
  }
  throw new Error('the body is not a zip archive, or is truncated')
}

interface Head {
  at: number
  /** Offset at which it must have ended. */
  end: number
  size: number
  signature: number
}

function requireHead(view: DataView, { at, end, size, signature }: Head): void {
  if (at + size <= end && view.getUint32(at, true) === signature) return
  throw new Error(`expected an archive header at byte ${at}`)
}

function viewOf(bytes: Uint8Array<ArrayBuffer>): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function decode(bytes: Uint8Array<ArrayBuffer>): string {
  return new TextDecoder().decode(bytes)
}

/** Input bytes per chunk. Small, because a runtime may inflate a whole chunk before it returns any output. */
const SLICE = 4_096

interface InflateOptions {
  /** Exact size of the output in bytes; inflating stops at the first byte beyond it. */
  size: number
  signal: AbortSignal
}

/**
 * Inflates raw DEFLATE (RFC 1951) with `DecompressionStream`, to exactly `size` bytes.
 *
 * @throws {Error} if the output has another size or the input is not DEFLATE; the signal's reason if it aborts
 */
async function inflate(
  deflated: Uint8Array<ArrayBuffer>,
  { size, signal }: InflateOptions,
): Promise<Uint8Array<ArrayBuffer>> {
  const stream = slices(deflated).pipeThrough(new DecompressionStream('deflate-raw'), { signal })
  const inflated = new Uint8Array(size)
  const reader = stream.getReader()
  let length = 0
  for (;;) {
    const { done, value } = await readMore(reader, signal)
    if (done) break
    if (length + value.byteLength > size) {
      await reader.cancel().catch(() => undefined)
      throw new Error(`the data inflates to more than ${size} bytes`)
    }
    inflated.set(value, length)
    length += value.byteLength
  }
  if (length < size) throw new Error(`the data inflates to ${length} bytes, expected ${size}`)
  return inflated
}

type Reader = ReadableStreamDefaultReader<Uint8Array>

async function readMore(
  reader: Reader,
  signal: AbortSignal,
): Promise<ReadableStreamReadResult<Uint8Array>> {
  try {
    signal.throwIfAborted()
    return await reader.read()
  } catch (error) {
    signal.throwIfAborted()
    throw new Error('cannot inflate the data', { cause: error })
  }
}

function slices(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at < bytes.length) controller.enqueue(bytes.slice(at, (at += SLICE)))
      else controller.close()
    },
  })
}

/** CRC-32 (ISO 3309), reversed. */
const POLYNOMIAL = 0xed_b8_83_20

/** A few ms of work. */
const BYTES_PER_SLICE = 512 * 1_024

function* crc32(bytes: Uint8Array): Slices<number> {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => remainder(byte))
  let crc = ~0
  for (let start = 0; start < bytes.length; start += BYTES_PER_SLICE) {
    if (start > 0) yield
    const slice = bytes.subarray(start, start + BYTES_PER_SLICE)
    for (const byte of slice) crc = (table[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8)
  }
  return ~crc >>> 0
}

function remainder(byte: number): number {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1
  return value
}
