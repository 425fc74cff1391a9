import { viaLink } from '../http/link.ts'
import { deliveryHeaders, represent, toBytes, toSendable } from '../http/representation.ts'
import type { Representation } from '../http/representation.ts'
import { historyCsv } from '../records/history-csv.ts'
import type { PairRange } from '../records/history-range.ts'
import type { PairHistory } from '../records/history.ts'
import type { DatedLatestRecord } from '../records/dated-latest.ts'
import { latestCsv } from '../records/latest-csv.ts'
import type { LatestRecord } from '../records/latest.ts'

/** `latest` as CSV, with its source in a header too. */
export function representTable(
  latest: LatestRecord | DatedLatestRecord,
  lastModified: number,
): Representation {
  const headers = deliveryHeaders({ form: 'csv', lifetime: 'minute', lastModified })
  return represent(latestCsv(latest), [...headers, ...viaLink(latest.source)])
}

/** `pair` as CSV, with its source in a header too. */
export function representHistory(pair: PairHistory | PairRange): Representation {
  const headers = [...deliveryHeaders({ form: 'csv', lifetime: 'hour' }), ...viaLink(pair.source)]
  return represent(toSendable(toBytes(historyCsv(pair))), headers)
}
