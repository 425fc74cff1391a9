import { runInSlices } from '../rates/slices.ts'
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

/** The local head leaves the sizes and the checksum to what stands behind the data. */
const SIZES_BEHIND = 0b1000

/** What is looked for in an archive, and what bounds the reading of it. */
export interface ZipMember {
  /** What the one member must be called. */
  name: string
  /** More bytes than this after inflating are refused. */
  maxBytes: number
  /** Ends the reading. */
  signal: AbortSignal
}

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
  const entry = readDirectory(archive)
  if (entry.name !== name) throw new Error(`the archive has another member than ${name}`)
  if (entry.size > maxBytes) throw new Error(`${name} has ${entry.size} bytes`)
  const packed = packedBytes(archive, entry)
  const bytes =
    entry.method === STORED ? packed : await inflate(packed, { size: entry.size, signal })
  if (bytes.byteLength !== entry.size) throw new Error(`${name} has not the size that it should`)
  const crc = await runInSlices(crc32(bytes), yieldToEventLoop, signal)
  if (crc !== entry.crc) throw new Error(`${name} has not the checksum that it should`)
  return bytes
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
