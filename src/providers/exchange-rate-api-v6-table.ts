import { isCode } from '../rates/currency-code.ts'
import { knownError, toLatestTable as toOpenTable } from './exchange-rate-api.ts'
import { isObject } from './payload.ts'
import type { LatestTable } from './provider.ts'
import { ratesByCode } from './rates-by-code.ts'
import type { UpstreamResponse } from './read-upstream.ts'

/**
 * Parses a response of `/v6/latest/{base}` with a key. Unlike in the open feed, the rates have another name, and errors can
 * have any status.
 *
 * @throws {Error} if the response is an error, has another base or an unexpected format
 */
export function toLatestTable(response: UpstreamResponse, base: string): LatestTable {
  const { 'error-type': type, conversion_rates, ...others } = Object(response.body)
  const body = {
    ...others,
    'error-type': knownError(type),
    rates: isObject(conversion_rates)
      ? ratesByCode(Object.entries(conversion_rates), isCode)
      : undefined,
  }
  return toOpenTable({ ...response, body }, base)
}
