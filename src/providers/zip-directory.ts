const END_SIGNATURE = 0x06_05_4b_50
const END_SIZE = 22
const MAX_COMMENT_BYTES = 0xff_ff
const ENTRY_SIGNATURE = 0x02_01_4b_50
const ENTRY_SIZE = 46

export const STORED = 0
const DEFLATED = 8

/** Encrypted, patched data, strong encryption, masked local header. */
export const REFUSED_FLAGS = 0b10_0000_0110_0001

const ZIP64_MARKER = 0xff_ff_ff_ff

const MULTI_DISK = 'multi-disk archives are not supported'

/** Entry of the central directory. */
export interface Entry {
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

/**
 * Reads the central directory of an archive with exactly one member.
 *
 * @throws {Error} if the directory is invalid, truncated or has another number of members
 */
export function readDirectory(archive: Uint8Array<ArrayBuffer>): Entry {
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

/** Expected position and signature of a header. */
export interface Head {
  at: number
  /** Offset at which it must have ended. */
  end: number
  size: number
  signature: number
}

/** Throws if the header is missing. */
export function requireHead(view: DataView, { at, end, size, signature }: Head): void {
  if (at + size <= end && view.getUint32(at, true) === signature) return
  throw new Error(`expected an archive header at byte ${at}`)
}

/** Returns a view of `bytes`. */
export function viewOf(bytes: Uint8Array<ArrayBuffer>): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Decodes a name in an archive. */
export function decode(bytes: Uint8Array<ArrayBuffer>): string {
  return new TextDecoder().decode(bytes)
}
