/** The polynomial of CRC-32 (ISO 3309), reversed. */
const POLYNOMIAL = 0xed_b8_83_20

/** The checksum that zip archives have, from 0 to 2³² − 1. */
export function crc32(bytes: Uint8Array): number {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => remainder(byte))
  let crc = ~0
  for (const byte of bytes) crc = (table[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8)
  return ~crc >>> 0
}

function remainder(byte: number): number {
  let value = byte
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1
  return value
}
