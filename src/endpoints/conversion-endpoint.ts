import type { Endpoint } from '../http/endpoint.ts'
import { memoizeLast } from '../http/memoize-last.ts'
import { bodyHeaders, byteLength, represent } from '../http/representation.ts'
import { oldestPublication } from '../rates/carry-forward.ts'
import { convert } from '../records/conversion.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import { mapMaybePromise } from './map-maybe-promise.ts'
import { parseConversion } from './parse-conversion.ts'

/** Creates an endpoint for one conversion. `endOf` returns the last fields of the body for a snapshot. */
export function conversionEndpoint(
  sources: RateSources,
  endOf: (snapshot: LatestSnapshot) => object,
): Endpoint {
  const commonOf = memoizeLast((snapshot: LatestSnapshot) => {
    const { publishedAt: lastModified } = snapshot.table
    const end = JSON.stringify(endOf(snapshot)).slice(1)
    // Only the end of a body can have non-ASCII characters.
    const moreBytes = byteLength(end) - end.length
    return { headers: bodyHeaders({ lifetime: 'minute', lastModified }), end, moreBytes }
  })
  return (query, request) => {
    const { params, amountSent } = parseConversion(query)
    const codes = (): string[] => [params.from, params.to]
    return mapMaybePromise(sources.latest(request, codes), (found) => {
      const { table } = found.value
      const { from, to, amount, rate, result } = convert(table, params, amountSent)
      const used = table.older ? oldestPublication(table, [from, to]) : table
      const snapshot = used === table ? found.value : { ...found.value, table: used }
      const { headers, end, moreBytes } = commonOf(snapshot)
      // Not cached: a lookup by amount would take about as long.
      const body = `{"from":"${from}","to":"${to}","amount":${amount},"rate":${rate},"result":${result},${end}`
      return { representation: represent(body, headers, body.length + moreBytes), freshness: found }
    })
  }
}
