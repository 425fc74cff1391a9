import { runInSlices } from '../async.ts'
import { yieldToEventLoop } from '../runtime.ts'
import { crc32 } from './crc32.ts'
import { inflate } from './inflate.ts'
import {
  REFUSED_FLAGS,
  STORED,
  decode,
  readDirectory,
  requireHead,
  viewOf,
} from './zip-directory.ts'
import type { Entry } from './zip-directory.ts'

const LOCAL_SIGNATURE = 0x04_03_4b_50
const LOCAL_SIZE = 30

/** Flag: a data descriptor after the data has the sizes and the checksum, instead of the local header. */
const SIZES_FOLLOW = 0b1000

/** Expected member of an archive. */
export interface ZipMember {
  /** Name of the only member. */
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
