import { MAX_QUOTE_LENGTH } from '../api/parameters.ts'
import { loadOnce } from '../async.ts'
import { invalidQuote } from '../errors.ts'

/** RFC 7515 §3.1; the type keeps tokens of other uses of the same secret apart. */
const HEADER = { alg: 'HS256', typ: 'rate-quote+jwt' }

const TOKEN = /^([\w-]+)\.([\w-]+)\.([\w-]{43})$/

type Bytes = ReturnType<typeof Uint8Array.from>

export interface Signer {
  sign(claims: object): Promise<string>
  /** @throws {RatesError} `invalid_quote` unless one of the secrets has signed `token` */
  verify(token: unknown): Promise<unknown>
}

/** Creates a signer of compact JWS (RFC 7515) by HS256: the first secret signs, all verify. */
export function createSigner(secrets: readonly Bytes[]): Signer {
  const loadKeys = loadOnce(async () => Promise.all(secrets.map(importKey)))
  return {
    async sign(claims) {
      const signed = `${encodeJson(HEADER)}.${encodeJson(claims)}`
      const [key] = await loadKeys()
      if (!key) throw new Error('no key')
      const signature = await globalThis.crypto.subtle.sign('HMAC', key, utf8.encode(signed))
      return `${signed}.${encode(new Uint8Array(signature))}`
    },
    async verify(token) {
      const isShort = typeof token === 'string' && token.length <= MAX_QUOTE_LENGTH
      const [, head = '', payload = '', signature = ''] = (isShort && TOKEN.exec(token)) || []
      const bytes = decode(signature)
      // Texts that differ in unused bits decode to the same bytes.
      if (signature === '' || encode(bytes) !== signature) throw invalidQuote()
      const signed = utf8.encode(`${head}.${payload}`)
      for (const key of await loadKeys()) {
        if (!(await globalThis.crypto.subtle.verify('HMAC', key, bytes, signed))) continue
        const { alg, typ, crit }: Record<string, unknown> = Object(decodeJson(head))
        if (alg !== HEADER.alg || typ !== HEADER.typ || crit !== undefined) break
        return decodeJson(payload)
      }
      throw invalidQuote()
    },
  }
}

export async function sha256(text: string): Promise<string> {
  return encode(new Uint8Array(await globalThis.crypto.subtle.digest('SHA-256', utf8.encode(text))))
}

async function importKey(secret: Bytes): Promise<CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  return globalThis.crypto.subtle.importKey('raw', secret, algorithm, false, ['sign', 'verify'])
}

const utf8 = new TextEncoder()
const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

function encodeJson(value: object): string {
  return encode(utf8.encode(JSON.stringify(value)))
}

/** @throws {RatesError} `invalid_quote` */
function decodeJson(text: string): unknown {
  try {
    return JSON.parse(strictUtf8.decode(decode(text)))
  } catch {
    throw invalidQuote()
  }
}

/** Base64url without padding (RFC 4648 §5). */
function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}

/** Throws for a length that no bytes have. */
function decode(text: string): Bytes {
  const characters = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = new Uint8Array(characters.length)
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = characters.charCodeAt(at)
  return bytes
}
