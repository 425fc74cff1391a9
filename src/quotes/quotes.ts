import { check } from '../api/check.ts'
import { toConversion } from '../api/convert.ts'
import type { Quote } from '../api/convert.ts'
import { AT_RATES, MARKUP, MAX_QUOTE_LENGTH, OPERATIONS, QUOTED, ROW } from '../api/parameters.ts'
import type {
  DayChoice,
  QuoteParams,
  QuotedParams,
  SnapshotConversionParams,
  Targets,
} from '../api/parameter-types.ts'
import type { Operation } from '../api/parameters.ts'
import { toRates } from '../api/snapshot.ts'
import type { SignedSnapshot } from '../api/snapshot.ts'
import { RatesError, invalidParameter, invalidQuote } from '../errors.ts'
import { assertKnownOptions, requireFunctions } from '../known-options.ts'
import { SIGNIFICANT_DIGITS } from '../rates/arithmetic.ts'
import { add, divideSignificant, multiply, toDecimal, toNumber } from '../rates/decimal.ts'
import type { Decimal } from '../rates/decimal.ts'
import type { Rates } from '../rates-api.ts'
import { resolveQuoteSettings } from './settings.ts'
import type { QuoteSettings } from './settings.ts'
import { createSigner, sha256 } from './token.ts'

/** Options of `createQuotes`. */
export interface QuotesOptions extends QuoteSettings {
  /** Where the rates come from: the result of `createRates()`, or `handler.rates`. */
  rates: Pick<Rates, 'convert' | 'snapshot'>
  /** Returns the time in ms since the Unix epoch (default `Date.now`). */
  now?: (() => number) | undefined
}

/** Parameters of a new quote; also of the rates of a day. */
export type NewQuoteParams<To extends Targets = Targets> = QuoteParams<To> & {
  /** Whether `amount` is in `to`, and `result` the amount of `from` that gives it (default false). */
  reverse?: boolean | undefined
  /** Percent by which the quoted rates are above the published ones, `'-50'` to `'50'` (default: no markup). */
  markup?: string | undefined
} & DayChoice

/** Makes and redeems quotes. */
export interface Quotes {
  /**
   * Converts as `rates.convert` does, and returns the conversion with a token that repeats it until it expires.
   *
   * @throws {RatesError} as `rates.convert` does
   */
  create<const To extends Targets>(params: NewQuoteParams<To>): Promise<Quote<To>>
  /**
   * Returns the conversion of a quote, which needs no rates: as `create` returned it, or of another `amount` at the same rate.
   *
   * @throws {RatesError} `invalid_quote` unless one of the secrets has signed it for these currencies and this context;
   *   `quote_expired`
   */
  convert<const To extends Targets = Targets>(
    quote: string,
    params?: QuotedParams<To>,
  ): Promise<Quote<To>>
}

const { quote: ofQuotes, convert: ofConversions, latest } = OPERATIONS
const { expand: _expand, ...converted } = ofConversions.parameters

const NEW_QUOTE: Operation = {
  ...ofQuotes,
  path: 'create()',
  parameters: { ...converted, ...ofQuotes.parameters, markup: MARKUP },
  needs: latest.needs ?? {},
}
const BY_QUOTE: Operation = { path: 'convert()', parameters: ofQuotes.parameters }
const QUOTED_ROW: Operation = {
  path: ofConversions.path,
  parameters: { ...QUOTED, ...ofQuotes.parameters, amount: ROW.parameters.amount },
}

/** What a quote says. */
interface Claims extends SnapshotConversionParams {
  /** In seconds since the Unix epoch (RFC 7519 §4.1). */
  iat: number
  exp: number
  jti: string
  /** SHA-256 in base64url. */
  context?: string | undefined
  markup?: string | undefined
  snapshot: SignedSnapshot
}

/**
 * Creates quotes: conversions whose rates hold for a time, as tokens that the app gives out and gets back. No state is kept.
 *
 * @throws {TypeError} that names the invalid option
 * @example
 * ```ts
 * import { createRates } from 'ratesmith'
 * import { createQuotes } from 'ratesmith/quotes'
 *
 * const secrets = [globalThis.crypto.getRandomValues(new Uint8Array(32))]
 * const quotes = createQuotes({ rates: createRates(), secrets, ttl: '10m' })
 * const shown = await quotes.create({ from: 'USD', to: 'EUR', amount: '99.90', context: 'cart 4711' })
 * const charged = await quotes.convert(shown.quote, { to: 'EUR', context: 'cart 4711' })
 * console.log(charged.result === shown.result) // true
 * ```
 */
export function createQuotes(options: QuotesOptions): Quotes {
  const { create, convert } = createQuoteService(options)
  return { create, convert }
}

/** Creates quotes that also convert the rows of many conversions, whose amounts may be negative. */
export function createQuoteService(
  options: QuotesOptions,
): Quotes & { convertRow(row: object): Promise<Quote> } {
  assertKnownOptions(options, { rates: true, secrets: true, ttl: true, now: true })
  const { rates, now = Date.now } = options
  const { secrets, ttl } = resolveQuoteSettings(options)
  requireFunctions({ 'rates.convert': rates?.convert, 'rates.snapshot': rates?.snapshot }, true)
  requireFunctions({ now })
  const { sign, verify } = createSigner(secrets)

  async function create(params: NewQuoteParams): Promise<Quote> {
    const terms = await termsOf(params, rates)
    const at = now()
    const times = { iat: Math.floor(at / 1_000), exp: Math.ceil((at + ttl) / 1_000) }
    const claims = { ...times, jti: globalThis.crypto.randomUUID(), ...terms }
    const quote = await sign(claims)
    if (quote.length <= MAX_QUOTE_LENGTH) return toQuote(quote, claims, claims)
    throw invalidParameter('to', `the quote would have more than ${MAX_QUOTE_LENGTH} characters`)
  }

  async function redeem(quote: string, params: QuotedParams): Promise<Quote> {
    const claims = readClaims(await verify(quote))
    const { context, from = claims.from, to = claims.to, ...others } = params
    const held = [claims.to].flat()
    const codes = [to].flat().map((code) => code.toUpperCase())
    const isHeld = from.toUpperCase() === claims.from && codes.every((code) => held.includes(code))
    const digest = context && (await sha256(context))
    if (!isHeld || digest !== claims.context) throw invalidQuote()
    if (!(now() < claims.exp * 1_000)) {
      throw new RatesError('quote_expired', 'The quote has expired', { parameter: 'quote' })
    }
    const { amount = claims.amount, round = claims.round } = others
    return toQuote(quote, claims, { from, to, amount, round, reverse: claims.reverse })
  }

  return Object({
    create,
    async convert(quote: string, params: QuotedParams = {}) {
      check(BY_QUOTE, params)
      return redeem(quote, params)
    },
    async convertRow(row: object) {
      check(QUOTED_ROW, row)
      const { quote = '', ...params }: QuotedParams & { quote?: string } = row
      return redeem(quote, params)
    },
  })
}

/** @throws {RatesError} as `create` does */
async function termsOf(
  given: NewQuoteParams,
  rates: QuotesOptions['rates'],
): Promise<Omit<Claims, 'iat' | 'exp' | 'jti'>> {
  check(NEW_QUOTE, given)
  const { markup, context, ...conversion } = given
  const { from, to, amount = 1, reverse, round, ...day } = conversion
  // Its errors name these parameters.
  await rates.convert(conversion)
  const taken = await rates.snapshot({ base: from, symbols: [to].flat(), ...day })
  const { check: _check, ...snapshot } = taken
  return {
    from: from.toUpperCase(),
    to: typeof to === 'string' ? to.toUpperCase() : to.map((code) => code.toUpperCase()),
    amount,
    reverse,
    round,
    markup,
    context: context && (await sha256(context)),
    snapshot,
  }
}

/** @throws {RatesError} `invalid_quote` for what the same secret has signed elsewhere */
function readClaims(payload: unknown): Claims {
  const claims: Claims = Object(payload)
  const { from, to, amount, reverse, round, markup = '0', snapshot } = claims
  try {
    check(AT_RATES, { from, to, amount, reverse, round })
    toConversion(toRates(snapshot), claims)
    if (snapshot.version === 1 && MARKUP.schema.safeParse(markup).success) return claims
  } catch {
    // As below.
  }
  throw invalidQuote()
}

function toQuote(quote: string, claims: Claims, terms: SnapshotConversionParams): Quote {
  const { markup, jti, exp, snapshot } = claims
  const toQuoted = markup === undefined ? undefined : (rate: number) => withMarkup(rate, markup)
  const conversion = toConversion(toRates(snapshot), terms, toQuoted)
  const more = { jti, expiresAt: exp * 1_000, quote }
  return { ...conversion, ...(markup !== undefined && { markup }), ...more }
}

function withMarkup(rate: number, markup: string): number {
  const percent = add(HUNDRED, toDecimal(markup))
  const product = multiply(toDecimal(rate), percent)
  return toNumber(divideSignificant(product, HUNDRED, SIGNIFICANT_DIGITS))
}

const HUNDRED: Decimal = { digits: 100n, exponent: 0 }
