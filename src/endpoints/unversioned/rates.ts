import * as z from 'zod/mini'

import { createQueryParser } from '../../http/query.ts'
import { success } from '../../http/respond.ts'
import type { Endpoint } from '../../http/router.ts'
import { latestRecord } from '../../records/latest.ts'
import type { RateSources } from '../../sources/sources.ts'
import { currency, failures } from '../parameters.ts'
import { providerText } from './provider-text.ts'

const parse = createQueryParser({
  parameters: { base: z.optional(currency) },
  failures,
  mistaken: { from: 'base' },
})

/** `GET /api/rates` */
export function rates(sources: RateSources): Endpoint {
  return async (query, waiter) => {
    const question = parse(query)
    const reading = await sources.latest(waiter)
    const {
      base,
      rates: table,
      updatedAt,
      nextUpdateAt,
      source,
    } = latestRecord(reading.value, question)
    const record = { base, rates: table, updatedAt, nextUpdateAt, provider: providerText(source) }
    return success(record, { lifetime: 'minute', reading, updatedAt })
  }
}
