import { crc32 } from './crc32.ts'
import { inflate } from './inflate.ts'
import { shown } from './reference-days.ts'

/** What is looked for in an archive, and what bounds the reading of it. */
export interface ZipMember {
  /** What the one member must be called. */
  name: string
  /** More bytes than this after inflating are refused. */
  maxBytes: number
  /** Ends the inflating. */
  signal: AbortSignal
}

const END_SIGNATURE = 0x06_05_4b_50
const END_SIZE = 22
const ENTRY_SIGNATURE = 0x02_01_4b_50
const ENTRY_SIZE = 46
const LOCAL_SIGNATURE = 0x04_03_4b_50
const LOCAL_SIZE = 30
const MOST_COMMENT = 0xff_ff

const STORED = 0
const DEFLATED = 8

/** Encrypted, patched, strongly encrypted, and with a masked head. */
const REFUSED_FLAGS = 0b10_0000_0110_0001
/** The local head leaves the sizes and the checksum to what stands behind the data. */
const SIZES_BEHIND = 0b1000

/** What stands for a number that is elsewhere, in the format of archives over 4 GB. */
const ELSEWHERE = 0xff_ff_ff_ff

/**
 * The one member of a zip archive (PKWARE's APPNOTE 6.3), stored or deflated. Sizes and checksum must be those that the
 * archive says; encryption, several disks and the format of archives over 4 GB are refused.
 *
 * @throws {Error} where the archive or its member is anything else; the signal's reason where that aborts
 */
export async function readZipMember(
  archive: Uint8Array<ArrayBuffer>,
  { name, maxBytes, signal }: ZipMember,
): Promise<Uint8Array<ArrayBuffer>> {
  const entry = readEntry(archive, readEnd(archive))
  if (entry.name !== name) throw new Error(`the archive has ${shown(entry.name)}, not ${name}`)
  if (entry.size > maxBytes) throw new Error(`${name} has ${entry.size} bytes`)
  const packed = packedBytes(archive, entry)
  const bytes =
    entry.method === STORED ? packed : await inflate(packed, { size: entry.size, signal })
  if (bytes.byteLength !== entry.size) throw new Error(`${name} has not the size that it should`)
  if (crc32(bytes) !== entry.crc) throw new Error(`${name} has not the checksum that it should`)
  return bytes
}

/** Where the central directory is: from `start` to `end`. */
interface Directory {
  start: number
  end: number
}

/** Finds the end of the central directory, behind which there is only a comment. */
function readEnd(archive: Uint8Array<ArrayBuffer>): Directory {
  const view = viewOf(archive)
  const first = Math.max(0, archive.length - END_SIZE - MOST_COMMENT)
  for (let end = archive.length - END_SIZE; end >= first; end -= 1) {
    if (view.getUint32(end, true) !== END_SIGNATURE) continue
    if (end + END_SIZE + view.getUint16(end + 20, true) !== archive.length) continue
    const [disk, diskOfStart] = [view.getUint16(end + 4, true), view.getUint16(end + 6, true)]
    const [here, all] = [view.getUint16(end + 8, true), view.getUint16(end + 10, true)]
    if (disk !== 0 || diskOfStart !== 0) throw new Error('the archive is one of several disks')
    if (here !== 1 || all !== 1) throw new Error(`the archive has ${all} members, not 1`)
    const start = view.getUint32(end + 16, true)
    if (start + view.getUint32(end + 12, true) !== end) break
    return { start, end }
  }
  throw new Error('there is no archive, or not all of it')
}

/** What the central directory says of a member. */
interface Entry {
  name: string
  method: number
  crc: number
  packedSize: number
  size: number
  /** Where its local head begins. */
  at: number
  /** Where the data of all members end. */
  end: number
}

function readEntry(archive: Uint8Array<ArrayBuffer>, { start, end }: Directory): Entry {
  const view = viewOf(archive)
  requireHead(view, { at: start, end, size: ENTRY_SIZE, signature: ENTRY_SIGNATURE })
  const nameEnd = start + ENTRY_SIZE + view.getUint16(start + 28, true)
  const next = nameEnd + view.getUint16(start + 30, true) + view.getUint16(start + 32, true)
  if (next !== end) throw new Error('the directory of the archive is not what it should be')
  const entry = {
    name: decode(archive.subarray(start + ENTRY_SIZE, nameEnd)),
    method: view.getUint16(start + 10, true),
    crc: view.getUint32(start + 16, true),
    packedSize: view.getUint32(start + 20, true),
    size: view.getUint32(start + 24, true),
    at: view.getUint32(start + 42, true),
    end: start,
  }
  if ((view.getUint16(start + 8, true) & REFUSED_FLAGS) !== 0) throw new Error('it is encrypted')
  if (entry.method !== STORED && entry.method !== DEFLATED) {
    throw new Error(`it is packed by method ${entry.method}`)
  }
  if (view.getUint16(start + 34, true) !== 0) throw new Error('the archive is one of several disks')
  if ([entry.packedSize, entry.size, entry.at].includes(ELSEWHERE)) {
    throw new Error('the archive is in the format of those over 4 GB')
  }
  return entry
}

/** The data of a member, behind a local head that says the same as the directory. */
function packedBytes(archive: Uint8Array<ArrayBuffer>, entry: Entry): Uint8Array<ArrayBuffer> {
  const view = viewOf(archive)
  const { at, end } = entry
  requireHead(view, { at, end, size: LOCAL_SIZE, signature: LOCAL_SIGNATURE })
  const nameEnd = at + LOCAL_SIZE + view.getUint16(at + 26, true)
  const start = nameEnd + view.getUint16(at + 28, true)
  const flags = view.getUint16(at + 6, true)
  const said = [14, 18, 22].map((offset) => view.getUint32(at + offset, true))
  const known = flags & SIZES_BEHIND ? said : [entry.crc, entry.packedSize, entry.size]
  const isSame =
    (flags & REFUSED_FLAGS) === 0 &&
    view.getUint16(at + 8, true) === entry.method &&
    decode(archive.subarray(at + LOCAL_SIZE, nameEnd)) === entry.name &&
    said.every((value, index) => value === known[index])
  if (!isSame) throw new Error('the archive says two things of its member')
  if (start + entry.packedSize > end) throw new Error('the archive has not all of its member')
  return archive.subarray(start, start + entry.packedSize)
}

/** A head that is to be where the archive says. */
interface Head {
  at: number
  /** What it must end before. */
  end: number
  size: number
  signature: number
}

function requireHead(view: DataView, { at, end, size, signature }: Head): void {
  if (at + size <= end && view.getUint32(at, true) === signature) return
  throw new Error('the archive has no member where it says')
}

function viewOf(bytes: Uint8Array<ArrayBuffer>): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function decode(bytes: Uint8Array<ArrayBuffer>): string {
  return new TextDecoder().decode(bytes)
}
