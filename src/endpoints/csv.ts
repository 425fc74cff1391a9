import { viaLink } from '../http/link.ts'
import { bodyHeaders, represent, toSendable } from '../http/representation.ts'
import type { Representation } from '../http/representation.ts'
import { conversionCsv } from '../records/conversion-csv.ts'
import type { ConversionListParams, ConversionResult } from '../records/conversions.ts'
import type { DatedRates } from '../records/dated-latest.ts'
import { CSV_HISTORY } from '../records/history-csv.ts'
import { createHistoryWriter } from '../records/history-text.ts'
import { latestCsv } from '../records/latest-csv.ts'
import type { LatestRates } from '../records/latest.ts'
import type { HistoryForm } from './v1/history-range.ts'

/** Returns `latest` as CSV, with the source in a `Link` header too. */
export function representTable(
  latest: LatestRates | DatedRates,
  lastModified: number,
): Representation {
  const headers = bodyHeaders({ form: 'csv', lifetime: 'minute', lastModified })
  return represent(latestCsv(latest), [...headers, ...viaLink(latest.source)])
}

/** Returns `conversion` as CSV, with the source in a `Link` header too. */
export function representConversion(
  conversion: ConversionResult<ConversionListParams>,
  lastModified: number,
): Representation {
  const headers = bodyHeaders({ form: 'csv', lifetime: 'minute', lastModified })
  return represent(conversionCsv(conversion), [...headers, ...viaLink(conversion.source)])
}

/** Creates a CSV writer for histories; the source is in a `Link` header too. */
export function createCsvForm(): HistoryForm {
  const write = createHistoryWriter(CSV_HISTORY)
  const headers = bodyHeaders({ form: 'csv', lifetime: 'hour' })
  return {
    representHistory: (pair) =>
      represent(toSendable(write(pair)), [...headers, ...viaLink(pair.source)]),
  }
}
