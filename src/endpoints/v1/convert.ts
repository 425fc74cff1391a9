import { represent } from '../../http/representation.ts'
import type { Endpoint } from '../../http/router.ts'
import { conversionRecord } from '../../records/conversion.ts'
import type { RateSources } from '../../sources/sources.ts'
import { parseConversion } from '../parse-conversion.ts'
import { createTableHeaders } from '../table-headers.ts'
import { whenRead } from '../when-read.ts'

/** `GET /api/v1/convert` */
export function convert(sources: RateSources): Endpoint {
  const headersOf = createTableHeaders()
  return (query, waiter) => {
    const { question, amountSent } = parseConversion(query)
    return whenRead(sources.latest(waiter), (reading) => {
      // Made afresh for every amount: to look for it would take as long.
      const record = conversionRecord(reading.value, question, amountSent)
      return {
        representation: represent(JSON.stringify(record), headersOf(reading.value)),
        reading,
      }
    })
  }
}
