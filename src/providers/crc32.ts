import type { Slices } from '../async.ts'

/** CRC-32 (ISO 3309), reversed. */
const POLYNOMIAL = 0xed_b8_83_20

/** A few ms of work. */
const BYTES_PER_SLICE = 512 * 1_024

/** Computes the CRC-32 of zip archives, from 0 to 2³² − 1, in slices. */
export function* crc32(bytes: Uint8Array): Slices<number> {
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
