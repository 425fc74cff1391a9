import { isCode } from '../rates/currency-code.ts'
import { knownError, toLatestTable as toOpenTable } from './exchange-rate-api.ts'
import { isObject } from './payload.ts'
import type { LatestTable } from './provider.ts'
import { ratesByCode } from './rates-by-code.ts'
import type { UpstreamResponse } from './read-upstream.ts'

/**
 * Understands an answer of `/v6/latest/{base}` with a key. It differs from that of the open feed in the name of its
 * rates, and in its errors coming with any status.
 *
 * @throws {Error} where it is a failure, another base's table or anything unknown
 */
export function toLatestTable(answer: UpstreamResponse, base: string): LatestTable {
  const { 'error-type': type, conversion_rates, ...others } = Object(answer.body)
  const body = {
    ...others,
    'error-type': knownError(type),
    rates: isObject(conversion_rates)
      ? ratesByCode(Object.entries(conversion_rates), isCode)
      : undefined,
  }
  return toOpenTable({ ...answer, body }, base)
}
