const END_SIGNATURE = 0x06_05_4b_50
const END_SIZE = 22
const MAX_COMMENT_BYTES = 0xff_ff
const ENTRY_SIGNATURE = 0x02_01_4b_50
const ENTRY_SIZE = 46

export const STORED = 0
const DEFLATED = 8

/** Encrypted, patched, strongly encrypted, and with a masked head. */
export const REFUSED_FLAGS = 0b10_0000_0110_0001

/** What stands for a number that is elsewhere, in the format of archives over 4 GB. */
const ZIP64_MARKER = 0xff_ff_ff_ff

/** What the central directory says of a member. */
export interface Entry {
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

/**
 * The entry of an archive that has one member, in its central directory.
 *
 * @throws {Error} where the directory is anything else, or cut
 */
export function readDirectory(archive: Uint8Array<ArrayBuffer>): Entry {
  const { start, end } = findDirectory(archive)
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
  requireReadable(entry, view, start)
  return entry
}

function requireReadable(entry: Entry, view: DataView, start: number): void {
  if ((view.getUint16(start + 8, true) & REFUSED_FLAGS) !== 0) throw new Error('it is encrypted')
  if (entry.method !== STORED && entry.method !== DEFLATED) {
    throw new Error(`it is packed by method ${entry.method}`)
  }
  if (view.getUint16(start + 34, true) !== 0) throw new Error('the archive is one of several disks')
  if ([entry.packedSize, entry.size, entry.at].includes(ZIP64_MARKER)) {
    throw new Error('the archive is in the format of those over 4 GB')
  }
}

/** Where the directory is: from `start` to `end`. */
interface Directory {
  start: number
  end: number
}

/** Finds the end of the central directory, behind which there is only a comment. */
function findDirectory(archive: Uint8Array<ArrayBuffer>): Directory {
  const view = viewOf(archive)
  const first = Math.max(0, archive.length - END_SIZE - MAX_COMMENT_BYTES)
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

/** A head that is to be where the archive says. */
export interface Head {
  at: number
  /** What it must end before. */
  end: number
  size: number
  signature: number
}

/** Throws where there is no such head. */
export function requireHead(view: DataView, { at, end, size, signature }: Head): void {
  if (at + size <= end && view.getUint32(at, true) === signature) return
  throw new Error('the archive has no member where it says')
}

/** The numbers of an archive. */
export function viewOf(bytes: Uint8Array<ArrayBuffer>): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** A name in an archive. */
export function decode(bytes: Uint8Array<ArrayBuffer>): string {
  return new TextDecoder().decode(bytes)
}
