import { viaLink } from '../http/link.ts'
import { deliveryHeaders, represent, toSendable } from '../http/representation.ts'
import type { Representation } from '../http/representation.ts'
import { conversionCsv } from '../records/conversion-csv.ts'
import type { ConversionAnswer, ConversionsQuestion } from '../records/conversions.ts'
import { CSV_HISTORY } from '../records/history-csv.ts'
import { createHistoryWriter } from '../records/history-text.ts'
import type { DatedLatestRecord } from '../records/dated-latest.ts'
import { latestCsv } from '../records/latest-csv.ts'
import type { HistoryForm } from './v1/history-range.ts'
import type { LatestRecord } from '../records/latest.ts'

/** `latest` as CSV, with its source in a header too. */
export function representTable(
  latest: LatestRecord | DatedLatestRecord,
  lastModified: number,
): Representation {
  const headers = deliveryHeaders({ form: 'csv', lifetime: 'minute', lastModified })
  return represent(latestCsv(latest), [...headers, ...viaLink(latest.source)])
}

/** `conversion` as CSV, with its source in a header too. */
export function representConversion(
  conversion: ConversionAnswer<ConversionsQuestion>,
  lastModified: number,
): Representation {
  const headers = deliveryHeaders({ form: 'csv', lifetime: 'minute', lastModified })
  return represent(conversionCsv(conversion), [...headers, ...viaLink(conversion.source)])
}

/** Creates what writes histories as CSV, with their source in a header too. */
export function createCsvForm(): HistoryForm {
  const write = createHistoryWriter(CSV_HISTORY)
  const delivery = deliveryHeaders({ form: 'csv', lifetime: 'hour' })
  return {
    representHistory: (pair) =>
      represent(toSendable(write(pair)), [...delivery, ...viaLink(pair.source)]),
  }
}
