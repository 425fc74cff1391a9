import type { Endpoint, EndpointResult } from '../http/endpoint.ts'
import { bodyHeaders, represent } from '../http/representation.ts'
import type { Representation } from '../http/representation.ts'
import type { ResponseCache } from '../http/response-cache.ts'
import type { Day } from '../rates/day.ts'
import { codesOf, toLatestRates } from '../records/latest.ts'
import type { LatestParams, LatestRates } from '../records/latest.ts'
import type { RateSources, RequestOptions } from '../sources/rate-sources.ts'
import { mapMaybePromise } from './map-maybe-promise.ts'
import type { Format } from './parameters.ts'

/** The table that a query requests. */
export interface ParsedTableQuery {
  params: Pick<LatestParams, 'base' | 'symbols'> & { format?: Format | undefined }
  /** Cache key: equal for all queries that request the same table. */
  key: string
  /** Day of the rates; undefined for the latest rates. */
  date?: Day | undefined
}

/** The table of an earlier day that a query requests. */
export interface ParsedDatedQuery extends ParsedTableQuery {
  date: Day
}

/** Options of `tableEndpoint`. */
export interface TableOptions {
  sources: RateSources
  responseCache: ResponseCache
  parse(query: string): ParsedTableQuery
  /** Returns the JSON body. */
  toBody(latest: LatestRates): object
  /** Responds with the rates of an earlier day; absent if the endpoint has no `date` parameter. */
  respondDated?(query: ParsedDatedQuery, request: RequestOptions): Promise<EndpointResult>
}

/** Creates an endpoint for tables of latest rates. */
export function tableEndpoint(options: TableOptions): Endpoint {
  const { sources, responseCache, parse, toBody } = options
  const json = {
    representTable(latest: LatestRates, lastModified: number): Representation {
      const headers = bodyHeaders({ lifetime: 'minute', lastModified })
      return represent(JSON.stringify(toBody(latest)), headers)
    },
  }
  return (query, request) => {
    const { params, key, date } = parse(query)
    if (date !== undefined && options.respondDated) {
      return options.respondDated({ params, key, date }, request)
    }
    const form = params.format === 'csv' ? import('./csv.ts') : json
    return mapMaybePromise(form, ({ representTable }) =>
      mapMaybePromise(
        sources.latest(request, () => codesOf(params)),
        (result) => {
          const make = () => {
            const record = toLatestRates(result.value, params)
            const { publishedAt } = result.value.table
            return representTable(record, Math.min(record.updatedAt, publishedAt))
          }
          return {
            representation: responseCache.getOrCreate(result.value, key, make),
            freshness: result,
          }
        },
      ),
    )
  }
}
