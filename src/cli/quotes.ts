import { createQuotes } from '../quotes/index.ts'
import type { Quote, QuoteSettings, QuotedParams } from '../quotes/index.ts'
import { resolveQuoteSettings } from '../quotes/settings.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import { readTypedAmount } from '../typed-amount.ts'
import type { CommandContext } from './context.ts'
import type { RatesQuery } from './output.ts'
import { UsageError } from './usage.ts'

const VARIABLE = 'RATESMITH_QUOTE_SECRETS'

/** @throws {UsageError} that contains no secret */
export function readQuoteSettings(env: NodeJS.ProcessEnv): QuoteSettings | undefined {
  const { [VARIABLE]: text } = env
  if (!text) return undefined
  const secrets = text.split(/[\s,]+/).filter(Boolean)
  try {
    resolveQuoteSettings({ secrets })
    return { secrets }
  } catch {
    const form = 'secrets of at least 32 bytes, separated by commas or white space (at most ten)'
    throw new UsageError(`${VARIABLE} must be ${form}`)
  }
}

/** Quotes of synthetic rates do not hold where the same secrets sign others. */
export function ofSyntheticRates(quotes: QuoteSettings | undefined): QuoteSettings | undefined {
  if (!Array.isArray(quotes?.secrets)) return quotes
  return { ...quotes, secrets: quotes.secrets.map((secret) => `demo ${String(secret)}`) }
}

/** Returns the query for a quote, also for one that has expired. */
export function byQuote(
  params: Readonly<Record<string, string> & { quote: string }>,
  words: readonly string[],
  isDemo: boolean,
  { env, now }: CommandContext,
): Pick<RatesQuery<Quote>, 'params' | 'notes' | 'request'> {
  // Other services call the target currency so.
  if (isCodeShaped(params.quote))
    throw new UsageError('--quote must be a quote; the target is a word: ratesmith 100 usd eur')
  const ofService = readQuoteSettings(env)
  const settings = isDemo ? ofSyntheticRates(ofService) : ofService
  if (!settings) throw new UsageError(`--quote needs ${VARIABLE}`)
  const { amount, problem } = words.length > 0 ? readTypedAmount(words.join(' ')) : {}
  if (problem !== undefined) throw new UsageError(problem)
  const notes = new Set<string>()
  return {
    params: { ...params, ...(amount !== undefined && { amount }) },
    notes,
    async request(rates, { quote = '', ...others }: QuotedParams & { quote?: string }) {
      const quotes = createQuotes({ ...settings, rates: Object(rates), now: () => 0 })
      const record = await quotes.convert(quote, others)
      const { expiresAt, markup } = record
      const state = expiresAt > now() ? 'expires' : 'expired'
      notes.add(`the quote ${state} at ${new Date(expiresAt).toISOString()}`)
      if (markup !== undefined) notes.add(`its rate has a markup of ${markup} %`)
      return record
    },
  }
}
