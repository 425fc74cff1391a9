import type { RatesErrorCode } from '../src/index.ts'

/** The HTTP status of each error code. Complete, or it would not compile. */
export const ERROR_STATUSES: Readonly<Record<RatesErrorCode, number>> = {
  missing_parameter: 400,
  invalid_parameter: 400,
  invalid_currency: 400,
  unsupported_currency: 400,
  invalid_amount: 400,
  invalid_period: 400,
  invalid_quote: 400,
  no_data: 404,
  not_found: 404,
  method_not_allowed: 405,
  quote_expired: 410,
  precondition_failed: 412,
  unauthorized: 401,
  forbidden: 403,
  rate_limited: 429,
  provider_unavailable: 502,
  overloaded: 503,
  internal_error: 500,
}
