/** The plan, the end and the origins of a key. */
export interface KeyRecord {
  /** Identifies the key in events, logs and counters; not secret, 1 to 200 characters. */
  id: string
  /** Name of a plan of `createAccess`. */
  plan: string
  /** When the key expires, in ms since the Unix epoch (default never). */
  expiresAt?: number | undefined
  /** The origins of web pages that may use the key, such as `https://example.com` (default all). */
  origins?: readonly string[] | undefined
}

/** Where keys are looked up. */
export interface KeyStore {
  /**
   * Returns the record of the key with the SHA-256 `hash` (64 lower-case hexadecimal digits), or nothing for an unknown key.
   * May throw or reject: requests then use the last record, for up to an hour, or get a 503.
   */
  find(hash: string): KeyRecord | null | undefined | Promise<KeyRecord | null | undefined>
}

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 30 characters of base62 have 178 random bits. */
const RANDOM_LENGTH = 30
const CHECKSUM_LENGTH = 6
const PREFIX = 'rsk_'

/**
 * Creates an API key: `rsk_`, 30 random characters and a checksum. Show `key` once; keep only `hash`, its SHA-256.
 *
 * @example
 * ```ts
 * import { createKey } from 'ratesmith/access'
 *
 * const { key, hash } = await createKey()
 * ```
 */
export async function createKey(): Promise<{ key: string; hash: string }> {
  const random = randomText(RANDOM_LENGTH)
  const key = PREFIX + random + checksum(random)
  return { key, hash: await hashKey(key) }
}

/**
 * Resolves to the SHA-256 of a key, as 64 lower-case hexadecimal digits.
 *
 * @example
 * ```ts
 * import { hashKey } from 'ratesmith/access'
 *
 * const hash = await hashKey('rsk_…')
 * ```
 */
export async function hashKey(key: string): Promise<string> {
  return hexDigest('SHA-256', key)
}

export async function hexDigest(algorithm: 'SHA-1' | 'SHA-256', text: string): Promise<string> {
  const digest = await globalThis.crypto.subtle.digest(algorithm, new TextEncoder().encode(text))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export function isKey(text: string): boolean {
  if (!/^rsk_[0-9A-Za-z]{36}$/.test(text)) return false
  const random = text.slice(PREFIX.length, -CHECKSUM_LENGTH)
  return text.endsWith(checksum(random))
}

function randomText(length: number): string {
  let text = ''
  while (text.length < length) {
    const bytes = globalThis.crypto.getRandomValues(new Uint8Array(length))
    // Bytes from 248 on would make some characters more frequent.
    for (const byte of bytes) if (byte < 248 && text.length < length) text += ALPHABET[byte % 62]
  }
  return text
}

function checksum(text: string): string {
  let crc = 0xffffffff
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index)
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  let rest = (crc ^ 0xffffffff) >>> 0
  let encoded = ''
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit += 1) {
    encoded = ALPHABET.charAt(rest % 62) + encoded
    rest = Math.floor(rest / 62)
  }
  return encoded
}
