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
  const body = Object(answer.body)
  const { 'error-type': type, base_code, conversion_rates } = body
  return toOpenTable(
    {
      ...answer,
      body: {
        ...body,
        ...(type === undefined ? {} : { 'error-type': toKnownType(type) }),
        ...(base_code === undefined ? {} : { base_code: base_code === base ? base : 'another' }),
        rates: isObject(conversion_rates)
          ? ratesByCode(Object.entries(conversion_rates), isCode)
          : undefined,
      },
    },
    base,
  )
}

function toKnownType(type: unknown): string {
  const isKnown =
    typeof type === 'string' && (PAUSE_BY_REFUSAL.has(type) || type === 'no-data-available')
  return isKnown ? type : 'unknown'
}
