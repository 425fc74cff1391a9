import { RatesError } from '../errors.ts'
import type { RatesErrorCode } from '../errors.ts'
import { baseUrlHint } from './base-url.ts'

/** A response that was read to its end. */
export interface ClientResponse {
  status: number
  text: string
  /** How long to wait before asking again, in whole seconds, where the response says so. */
  retryAfter: number | undefined
}

/** A field of any of the records that `Outcome` may be. */
export type FieldOf<Outcome> = Outcome extends unknown ? keyof Outcome : never

const CODES: Record<RatesErrorCode, true> = {
  missing_parameter: true,
  invalid_parameter: true,
  invalid_currency: true,
  unsupported_currency: true,
  invalid_amount: true,
  invalid_period: true,
  no_data: true,
  not_found: true,
  method_not_allowed: true,
  precondition_failed: true,
  provider_unavailable: true,
  overloaded: true,
  internal_error: true,
}

/** What gateways answer with for a service that is down, and to those who ask too often. */
const UNAVAILABLE = [429, 502, 503, 504]

/** What answers below the wrong `baseUrl`: another page, or nothing. */
const ELSEWHERE = [200, 404]

/**
 * The record in `reply` of the service at `root`, known by its field `mark`.
 *
 * @throws {RatesError} what the service says is wrong; or, where the answer is not one of its own,
 *   `provider_unavailable` with a status that says "later" and `internal_error` with any other
 */
export function requireBody<Outcome>(
  { status, text, retryAfter }: ClientResponse,
  mark: FieldOf<Outcome>,
  root: string,
): Outcome {
  let json: unknown
  let cause: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    cause = error
  }
  if (status === 200 && isBodyOf<Outcome>(json, mark)) return json
  const { code, message } = Object(Object(json).error)
  const isElsewhere = ELSEWHERE.includes(status) && code !== 'no_data'
  const hint = isElsewhere ? baseUrlHint(root) : undefined
  if (isErrorCode(code) && typeof message === 'string') {
    throw new RatesError(code, message, { retryAfter, hint })
  }
  throw new RatesError(
    UNAVAILABLE.includes(status) ? 'provider_unavailable' : 'internal_error',
    `Unexpected answer with status ${status}`,
    { retryAfter, hint, cause: cause ?? json },
  )
}

function isBodyOf<Outcome>(json: unknown, mark: FieldOf<Outcome>): json is Outcome {
  return Object.hasOwn(Object(json), mark)
}

function isErrorCode(code: unknown): code is RatesErrorCode {
  return typeof code === 'string' && Object.hasOwn(CODES, code)
}

/** The seconds that a `Retry-After` asks for, as a number or a date, at the instant `now` (ms since the Unix epoch). */
export function parseRetryAfter(text: string | null, now: number): number | undefined {
  const seconds = /^\d{1,9}$/.test(text ?? '')
    ? Number(text)
    : Math.ceil((Date.parse(text ?? '') - now) / 1_000)
  return seconds >= 0 ? seconds : undefined
}
