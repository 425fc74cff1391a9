import type { QuoteSettings } from '../quotes/index.ts'
import { MIN_SECRET_BYTES } from '../quotes/settings.ts'
import { UsageError } from './usage.ts'

const VARIABLE = 'RATESMITH_QUOTE_SECRETS'

/** @throws {UsageError} that contains no secret */
export function readQuoteSettings(env: NodeJS.ProcessEnv): QuoteSettings | undefined {
  const { [VARIABLE]: text } = env
  if (!text) return undefined
  const secrets = text.split(/[\s,]+/).filter(Boolean)
  const shortest = Math.min(...secrets.map((secret) => Buffer.byteLength(secret)))
  if (shortest >= MIN_SECRET_BYTES && secrets.length > 0) return { secrets }
  const form = `secrets of at least ${MIN_SECRET_BYTES} bytes, separated by commas or white space`
  throw new UsageError(`${VARIABLE} must be ${form}`)
}
