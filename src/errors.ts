/** Every way in which a question can fail; a closed list. */
export type RatesErrorCode =
  | 'missing_parameter'
  | 'invalid_parameter'
  | 'invalid_currency'
  | 'unsupported_currency'
  | 'invalid_amount'
  | 'invalid_period'
  | 'no_data'
  | 'not_found'
  | 'method_not_allowed'
  | 'precondition_failed'
  | 'provider_unavailable'
  | 'overloaded'
  | 'internal_error'

/** What a `RatesError` carries beside its code and summary. */
export interface RatesErrorDetails {
  /** What to do about it; joins the message, but not the summary. */
  hint?: string | undefined
  /** The parameter at fault. */
  parameter?: string
  /** How long to wait before asking again, in whole seconds. */
  retryAfter?: number | undefined
  /** The private reason; never sent. */
  cause?: unknown
}

/** An error whose `message` is safe to send to anyone. Anything private is in `cause`. */
export class RatesError extends Error {
  /** Tells it from other errors where `instanceof` cannot, as between two copies of the package. */
  override readonly name = 'RatesError'
  /** What went wrong, from a closed list. */
  readonly code: RatesErrorCode
  /** The message without its hint. */
  readonly summary: string
  /** The parameter at fault, where there is one. */
  readonly parameter: string | undefined
  /** How long to wait before asking again, in whole seconds, where that is known. */
  readonly retryAfter: number | undefined

  /** Its message is `summary`, with the hint of `details` in parentheses behind it; both must be safe to send. */
  constructor(code: RatesErrorCode, summary: string, details: RatesErrorDetails = {}) {
    const { hint, parameter, retryAfter, cause } = details
    super(hint === undefined ? summary : `${summary} (${hint})`, { cause })
    this.code = code
    this.summary = summary
    this.parameter = parameter
    this.retryAfter = retryAfter
  }
}

/** Turns anything thrown into a `RatesError`; what is not one already becomes `internal_error` with a fixed message. */
export function toRatesError(thrown: unknown): RatesError {
  return isRatesError(thrown)
    ? thrown
    : new RatesError('internal_error', 'Internal error', { cause: thrown })
}

function isRatesError(thrown: unknown): thrown is RatesError {
  try {
    return thrown instanceof RatesError
  } catch {
    // A proxy need not let itself be looked at, and no handler is to fail over that.
    return false
  }
}

/** A required parameter is absent. */
export function missingParameter(parameter: string): RatesError {
  return new RatesError('missing_parameter', `Missing required parameter: ${parameter}`, {
    parameter,
  })
}

/** A parameter that cannot be read as one question: repeated, misspelt or too long. `name` is echoed as sent. */
export function invalidParameter(name: string, hint: string): RatesError {
  return new RatesError('invalid_parameter', `Invalid parameter: ${escapeForMessage(name)}`, {
    hint,
    parameter: escapeForMessage(name),
  })
}

/** A code that is malformed or that the data do not hold. `sent` is echoed. */
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

/** An amount outside the grammar or the range. `sent` is echoed. */
export function invalidAmount(sent: string, hint?: string): RatesError {
  return new RatesError('invalid_amount', `Invalid amount: ${escapeForMessage(sent)}`, {
    parameter: 'amount',
    hint,
  })
}

/** A period that is none of `periods`. `sent` is echoed. */
export function invalidPeriod(sent: string, periods: readonly string[]): RatesError {
  return new RatesError('invalid_period', `Invalid period: ${escapeForMessage(sent)}`, {
    hint: `one of ${periods.join(', ')}`,
    parameter: 'period',
  })
}

/** The longest that `Retry-After` asks clients to wait, in seconds. */
export const MAX_RETRY_AFTER_SECONDS = 300

/** There are no usable rates. `retryAfter` in seconds. */
export function providerUnavailable(retryAfter: number, cause?: unknown): RatesError {
  const message = 'The exchange-rate provider is unavailable. Please retry shortly.'
  return new RatesError('provider_unavailable', message, { cause, retryAfter })
}

const MAX_ECHOED_CHARACTERS = 32

/**
 * `text` fit for a message: its first 32 characters, those that are invisible or change the direction of reading
 * escaped as `\u{…}`.
 */
export function escapeForMessage(text: string): string {
  // Two code units at most make a character; cutting first keeps the work bounded.
  return Array.from(text.slice(0, 2 * MAX_ECHOED_CHARACTERS))
    .slice(0, MAX_ECHOED_CHARACTERS)
    .join('')
    .replace(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu,
      (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
    )
}
