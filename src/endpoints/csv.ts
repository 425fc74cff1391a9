import { viaLink } from '../http/link.ts'
import { bodyHeaders, represent, toSendable } from '../http/representation.ts'
import type { Representation } from '../http/representation.ts'
import { conversionCsv } from '../records/conversion-csv.ts'
import type { ConversionResult, ConversionListParams } from '../records/conversions.ts'
import { CSV_HISTORY } from '../records/history-csv.ts'
import { createHistoryWriter } from '../records/history-text.ts'
import type { DatedRates } from '../records/dated-latest.ts'
import { latestCsv } from '../records/latest-csv.ts'
import type { HistoryForm } from './v1/history-range.ts'
import type { LatestRates } from '../records/latest.ts'

/** `latest` as CSV, with its source in a header too. */
export function representTable(
  latest: LatestRates | DatedRates,
  lastModified: number,
): Representation {
  const headers = bodyHeaders({ form: 'csv', lifetime: 'minute', lastModified })
  return represent(latestCsv(latest), [...headers, ...viaLink(latest.source)])
}

/** `conversion` as CSV, with its source in a header too. */
export function representConversion(
  conversion: ConversionResult<ConversionListParams>,
  lastModified: number,
): Representation {
  const headers = bodyHeaders({ form: 'csv', lifetime: 'minute', lastModified })
  return represent(conversionCsv(conversion), [...headers, ...viaLink(conversion.source)])
}

/** Creates what writes histories as CSV, with their source in a header too. */
export function createCsvForm(): HistoryForm {
  const write = createHistoryWriter(CSV_HISTORY)
  const delivery = bodyHeaders({ form: 'csv', lifetime: 'hour' })
  return {
    representHistory: (pair) =>
      represent(toSendable(write(pair)), [...delivery, ...viaLink(pair.source)]),
  }
}
