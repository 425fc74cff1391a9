import { RatesError } from './errors.ts'
import type { RatesErrorCode, RatesErrorDetails } from './errors.ts'

export interface ClientResponse {
  status: number
  text: string
  /** `Retry-After` in whole seconds, if present. */
  retryAfter?: number | undefined
}

/** A field of any member of the union `Body`. */
export type FieldOf<Body> = Body extends unknown ? keyof Body : never

const CODES: Record<RatesErrorCode, true> = {
  missing_parameter: true,
  invalid_parameter: true,
  invalid_currency: true,
  unsupported_currency: true,
  invalid_amount: true,
  invalid_period: true,
  invalid_quote: true,
  quote_expired: true,
  no_data: true,
  not_found: true,
  method_not_allowed: true,
  precondition_failed: true,
  unauthorized: true,
  forbidden: true,
  rate_limited: true,
  provider_unavailable: true,
  overloaded: true,
  internal_error: true,
}

/** Statuses of gateways for an unavailable service and for too many requests. */
const UNAVAILABLE = [429, 502, 503, 504]

/**
 * Returns the body of the response, which must have `field`. `hintOf` receives the status and the code of an
 * error response, and returns what to do about it.
 *
 * @throws {RatesError} with the error of the service; for any other response, `provider_unavailable` with a status of
 *   `UNAVAILABLE` and `internal_error` otherwise
 */
export function requireBody<Body>(
  { status, text, retryAfter }: ClientResponse,
  field: FieldOf<Body>,
  hintOf?: (status: number, code: unknown) => string | undefined,
): Body {
  let json: unknown
  let cause: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    cause = error
  }
  if (status === 200 && isBody<Body>(json, field)) return json
  const hint = hintOf?.(status, Object(Object(json).error).code)
  const error = errorOf(json, { retryAfter, hint })
  if (error) throw error
  throw new RatesError(
    UNAVAILABLE.includes(status) ? 'provider_unavailable' : 'internal_error',
    `Unexpected response with status ${status}`,
    { retryAfter, hint, cause: cause ?? json },
  )
}

/** Returns the error of a body that has one. */
export function errorOf(json: unknown, details?: RatesErrorDetails): RatesError | undefined {
  const { code, message } = Object(Object(json).error)
  return isErrorCode(code) && typeof message === 'string'
    ? new RatesError(code, message, details)
    : undefined
}

function isBody<Body>(json: unknown, field: FieldOf<Body>): json is Body {
  return Object.hasOwn(Object(json), field)
}

function isErrorCode(code: unknown): code is RatesErrorCode {
  return typeof code === 'string' && Object.hasOwn(CODES, code)
}

/** Parses `Retry-After`, a number of seconds or a date, to seconds from `now` (ms since the Unix epoch). */
export function parseRetryAfter(text: string | null, now: number): number | undefined {
  const seconds = /^\d{1,9}$/.test(text ?? '')
    ? Number(text)
    : Math.ceil((Date.parse(text ?? '') - now) / 1_000)
  return seconds >= 0 ? seconds : undefined
}
