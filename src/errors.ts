/** The codes of all errors; a closed list. */
export type RatesErrorCode =
  | 'missing_parameter'
  | 'invalid_parameter'
  | 'invalid_currency'
  | 'unsupported_currency'
  | 'invalid_amount'
  | 'invalid_period'
  | 'invalid_quote'
  | 'quote_expired'
  | 'no_data'
  | 'not_found'
  | 'method_not_allowed'
  | 'precondition_failed'
  | 'unauthorized'
  | 'forbidden'
  | 'rate_limited'
  | 'provider_unavailable'
  | 'overloaded'
  | 'internal_error'

const STATUS: Readonly<Record<RatesErrorCode, number>> = {
  missing_parameter: 400,
  invalid_parameter: 400,
  invalid_currency: 400,
  unsupported_currency: 400,
  invalid_amount: 400,
  invalid_period: 400,
  invalid_quote: 400,
  quote_expired: 410,
  no_data: 404,
  not_found: 404,
  method_not_allowed: 405,
  precondition_failed: 412,
  unauthorized: 401,
  forbidden: 403,
  rate_limited: 429,
  provider_unavailable: 502,
  overloaded: 503,
  internal_error: 500,
}

/** The optional parts of a `RatesError`. */
export interface RatesErrorDetails {
  /** What to do about it; appended to the message in parentheses. */
  hint?: string | undefined
  /** The invalid parameter. */
  parameter?: string
  /** How long to wait before the next request, in whole seconds. */
  retryAfter?: number | undefined
  /** The private reason; never part of a response. */
  cause?: unknown
}

/**
 * An error of an operation. Its `message` is safe to show to anyone; private details are in `cause`.
 *
 * @example
 * ```ts
 * import { RatesError, createRatesHandler } from 'ratesmith'
 *
 * const { rates } = createRatesHandler()
 * const result = await rates.convert({ from: 'USD', to: 'EUR' }).catch((error: unknown) => {
 *   if (error instanceof RatesError && error.code === 'provider_unavailable') return null
 *   throw error
 * })
 * ```
 */
export class RatesError extends Error {
  /** Identifies the error where `instanceof` cannot, as between two copies of the package. */
  override readonly name = 'RatesError'
  /** The reason of the failure, from a closed list. */
  readonly code: RatesErrorCode
  /** The HTTP status of the error, which Express and Koa use for their response. */
  readonly status: number
  /** The same, as Fastify names it. */
  readonly statusCode: number
  /** The message without its hint. */
  readonly summary: string
  /** The invalid parameter, if the error is about one. */
  readonly parameter: string | undefined
  /** How long to wait before the next request, in whole seconds, if known. */
  readonly retryAfter: number | undefined

  /** Creates an error with the message `summary`, followed by the hint in parentheses; both must be safe to send. */
  constructor(code: RatesErrorCode, summary: string, details: RatesErrorDetails = {}) {
    const { hint, parameter, retryAfter, cause } = details
    super(hint === undefined ? summary : `${summary} (${hint})`, { cause })
    this.code = code
    this.status = STATUS[code] ?? 500
    this.statusCode = this.status
    this.summary = summary
    this.parameter = parameter
    this.retryAfter = retryAfter
  }
}

/** Gives `error` a status other than that of its code. */
export function withStatus(error: RatesError, status: number): RatesError {
  return Object.assign(error, { status, statusCode: status })
}

/** Returns a thrown `RatesError`, or an `internal_error` with a fixed message and the thrown value as `cause`. */
export function toRatesError(thrown: unknown): RatesError {
  return isRatesError(thrown)
    ? thrown
    : new RatesError('internal_error', 'Internal error', { cause: thrown })
}

/** Returns whether `thrown` is a `RatesError`, also of another copy of the package. */
export function isRatesError(thrown: unknown): thrown is RatesError {
  try {
    const { name, status }: { name?: unknown; status?: unknown } = Object(thrown)
    // A response cannot have another status.
    const isStatus = Number.isInteger(status) && Number(status) >= 400 && Number(status) <= 599
    return thrown instanceof RatesError || (name === 'RatesError' && isStatus)
  } catch {
    // The thrown value may be a proxy whose traps throw.
    return false
  }
}

export function missingParameter(parameter: string): RatesError {
  return new RatesError('missing_parameter', `Missing required parameter: ${parameter}`, {
    parameter,
  })
}

export function invalidParameter(name: string, hint: string): RatesError {
  return new RatesError('invalid_parameter', `Invalid parameter: ${escapeForMessage(name)}`, {
    hint,
    parameter: escapeForMessage(name),
  })
}

export function invalidCurrency(parameter: string, sent: string, hint?: string): RatesError {
  return new RatesError(
    'invalid_currency',
    `Invalid ${parameter} currency: ${escapeForMessage(sent)}`,
    {
      parameter,
      hint,
    },
  )
}

export function invalidAmount(sent: string, hint?: string): RatesError {
  return new RatesError('invalid_amount', `Invalid amount: ${escapeForMessage(sent)}`, {
    parameter: 'amount',
    hint,
  })
}

export function invalidPeriod(sent: string, periods: readonly string[]): RatesError {
  return new RatesError('invalid_period', `Invalid period: ${escapeForMessage(sent)}`, {
    hint: `one of ${periods.join(', ')}`,
    parameter: 'period',
  })
}

/** Does not say what is wrong with the quote. */
export function invalidQuote(): RatesError {
  const hint = 'not issued by this service, or for other currencies or another context'
  return new RatesError('invalid_quote', 'Invalid quote', { hint, parameter: 'quote' })
}

export const MAX_RETRY_AFTER_SECONDS = 300

/** Creates the error of missing data. `retryAfter` in seconds. */
export function providerUnavailable(retryAfter: number, cause?: unknown): RatesError {
  const message = 'The exchange-rate provider is unavailable. Please retry shortly.'
  return new RatesError('provider_unavailable', message, { cause, retryAfter })
}

const MAX_ECHOED_CHARACTERS = 32

/**
 * Returns the first 32 characters of `text`, with invisible characters and those that change the reading direction escaped
 * as `\u{…}`.
 */
export function escapeForMessage(text: string): string {
  // A character has at most two code units; cutting first bounds the work for long texts.
  return Array.from(text.slice(0, 2 * MAX_ECHOED_CHARACTERS))
    .slice(0, MAX_ECHOED_CHARACTERS)
    .join('')
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu,
      (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
    )
}
