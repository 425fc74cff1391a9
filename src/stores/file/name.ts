import { createHash } from 'node:crypto'

/** Starts with a readable part; the digest keeps any two keys apart, also on case-insensitive file systems. */
export function fileName(key: string): string {
  const readable = key.toLowerCase().match(/[a-z0-9]+/g) ?? ['key']
  const digest = createHash('sha256').update(key, 'utf16le').digest('hex')
  return `${readable.join('-').slice(0, 60)}-${digest.slice(0, 32)}.cache`
}
