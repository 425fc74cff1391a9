import { isCode } from '../rates/currency-code.ts'
import { PAUSE_BY_REFUSAL, toLatestTable as toOpenTable } from './exchange-rate-api.ts'
import { isObject } from './payload.ts'
import type { LatestTable } from './provider.ts'
import { ratesByCode } from './rates-by-code.ts'
import type { UpstreamAnswer } from './read-upstream.ts'

/**
 * Understands an answer of `/v6/latest/{base}` with a key. It differs from that of the open feed in the name of its
 * rates, and in its errors coming with any status; of its texts only the known ones are told.
 *
 * @throws {Error} where it is a failure, another base's table or anything unknown
 */
export function toLatestTable(answer: UpstreamAnswer, base: string): LatestTable {
  const { 'error-type': type, base_code, conversion_rates, ...others } = Object(answer.body)
  const body = {
    ...others,
    'error-type': PAUSE_BY_REFUSAL.has(type) || type === 'no-data-available' ? type : 'unknown',
    base_code: base_code === base ? base : 'another base',
    rates: isObject(conversion_rates)
      ? ratesByCode(Object.entries(conversion_rates), isCode)
      : undefined,
  }
  return toOpenTable({ ...answer, body }, base)
}
