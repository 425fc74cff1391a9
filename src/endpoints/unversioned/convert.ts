import { represent } from '../../http/representation.ts'
import type { Endpoint } from '../../http/router.ts'
import { conversionRecord } from '../../records/conversion.ts'
import type { RateSources } from '../../sources/sources.ts'
import { parseConversion } from '../parse-conversion.ts'
import { createTableHeaders } from '../table-headers.ts'
import { whenRead } from '../when-read.ts'
import { providerText } from './provider-text.ts'

/** `GET /api/convert` */
export function convert(sources: RateSources): Endpoint {
  const headersOf = createTableHeaders()
  return (query, waiter) => {
    const { question, amountSent } = parseConversion(query)
    return whenRead(sources.latest(waiter), (reading) => {
      const { source, ...conversion } = conversionRecord(reading.value, question, amountSent)
      const record = { ...conversion, provider: providerText(source) }
      return {
        representation: represent(JSON.stringify(record), headersOf(reading.value)),
        reading,
      }
    })
  }
}
