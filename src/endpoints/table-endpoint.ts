import type { Endpoint, EndpointResult } from '../http/endpoint.ts'
import type { ResponseCache } from '../http/response-cache.ts'
import { bodyHeaders, represent } from '../http/representation.ts'
import type { Representation } from '../http/representation.ts'
import type { Day } from '../rates/day.ts'
import { codesOf, toLatestRates } from '../records/latest.ts'
import type { LatestParams, LatestRates } from '../records/latest.ts'
import type { RateSources, RequestOptions } from '../sources/rate-sources.ts'
import type { Format } from './parameters.ts'
import { mapMaybePromise } from './map-maybe-promise.ts'

/** A table that a query asks for. */
export interface ParsedTableQuery {
  params: Pick<LatestParams, 'base' | 'symbols'> & { format?: Format | undefined }
  /** The same for every way to ask for it, and for nothing else. */
  key: string
  /** The day whose rates are asked for, where it is not those of now. */
  date?: Day | undefined
}

/** The same of an earlier day. */
export interface ParsedDatedQuery extends ParsedTableQuery {
  date: Day
}

/** What an endpoint of tables is made from. */
export interface TableOptions {
  sources: RateSources
  responseCache: ResponseCache
  /** Reads a query. */
  parse(query: string): ParsedTableQuery
  /** What is written as JSON. */
  toBody(latest: LatestRates): object
  /** Answers with the rates of an earlier day, where these may be asked for. */
  respondDated?(asked: ParsedDatedQuery, request: RequestOptions): Promise<EndpointResult>
}

/** An endpoint of tables, made of the records of `/api/v1`. */
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
