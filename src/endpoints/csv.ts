import type { ConversionListParams, ConversionResult } from '../api/convert.ts'
import { CSV_HISTORY, conversionCsv, latestCsv } from '../api/csv.ts'
import { createHistoryWriter } from '../api/history-writer.ts'
import type { PairHistory, PairRange } from '../api/history.ts'
import type { DatedRates, LatestRates } from '../api/latest.ts'
import { bodyHeaders, represent, toSendable, viaLink } from '../http/response.ts'
import type { Representation } from '../http/response.ts'

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

/** Writes histories in one format. */
export interface HistoryForm {
  representHistory(pair: PairHistory | PairRange): Representation
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
