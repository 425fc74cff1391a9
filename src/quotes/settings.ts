import { DAY_MS } from '../rates/dates.ts'

/** What signs quotes, and how long they hold. */
export interface QuoteSettings {
  /**
   * Secrets of at least 32 bytes each, as text or bytes: the first signs, all verify. To replace a secret, put the new one
   * first and remove the old one when the last quote that it signed has expired. At most ten.
   */
  secrets: readonly (string | Uint8Array)[]
  /** How long a quote holds: in ms, or as `'30s'`, `'10m'`, `'12h'` or `'7d'`; 1 s to 30 days (default 10 minutes). */
  ttl?: number | string | undefined
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS }
const MAX_SECRETS = 10
const MAX_TTL_MS = 30 * DAY_MS
const MIN_SECRET_BYTES = 32

/**
 * Returns a copy of the secrets as bytes, and the lifetime in ms.
 *
 * @throws {TypeError} that names the invalid option, and no secret
 */
export function resolveQuoteSettings({ secrets, ttl = '10m' }: QuoteSettings): {
  secrets: ReturnType<typeof Uint8Array.from>[]
  ttl: number
} {
  const [, count, unit = ''] = /^(\d{1,7})([smhd])$/.exec(String(ttl)) ?? []
  const ms = typeof ttl === 'number' ? ttl : Number(count) * (UNITS[unit] ?? NaN)
  if (!(ms >= 1_000 && ms <= MAX_TTL_MS)) {
    throw new TypeError(`ttl must be ms or a text such as 10m, from 1s to 30d, got ${String(ttl)}`)
  }
  const given: readonly unknown[] = Array.isArray(secrets) ? secrets : []
  const bytes = given.map((each) => {
    if (typeof each === 'string') return new TextEncoder().encode(each)
    return each instanceof Uint8Array ? Uint8Array.from(each) : new Uint8Array()
  })
  const isCount = bytes.length > 0 && bytes.length <= MAX_SECRETS
  if (!isCount || bytes.some(({ length }) => length < MIN_SECRET_BYTES)) {
    const form = `texts or Uint8Arrays of at least ${MIN_SECRET_BYTES} bytes`
    throw new TypeError(`secrets must be a non-empty array of at most ${MAX_SECRETS} ${form}`)
  }
  return { secrets: bytes, ttl: ms }
}
