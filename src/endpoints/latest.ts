import { codesOf, toDatedRates, toLatestRates } from '../api/latest.ts'
import type { DatedRates, LatestParams, LatestRates } from '../api/latest.ts'
import { MISTAKEN_TABLE_NAMES, MISTAKEN_WHOLE_TABLE_NAMES } from '../api/mistaken-names.ts'
import { assertNotFuture, earliestDayFor } from '../api/resolve-code.ts'
import { createQueryParser } from '../http/query.ts'
import type { ResponseCache, ResponseCaches } from '../http/response-cache.ts'
import { bodyHeaders, represent } from '../http/response.ts'
import type { Endpoint, EndpointResult, Representation } from '../http/response.ts'
import { DAY_MS, toDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import type { RateSources, RequestOptions } from '../sources/rate-sources.ts'
import { mapMaybePromise } from './map-maybe-promise.ts'
import { base, date, failures, format, symbols } from './parameters.ts'
import type { Format } from './parameters.ts'
import { providerText } from './unversioned/provider-text.ts'

/** The table that a query requests. */
interface ParsedTableQuery {
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
interface TableOptions {
  sources: RateSources
  responseCache: ResponseCache
  parse(query: string): ParsedTableQuery
  /** Returns the JSON body. */
  toBody(latest: LatestRates): object
  /** Responds with the rates of an earlier day; absent if the endpoint has no `date` parameter. */
  respondDated?(query: ParsedDatedQuery, request: RequestOptions): Promise<EndpointResult>
}

/** Creates an endpoint for tables of latest rates. */
function tableEndpoint(options: TableOptions): Endpoint {
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

const parseLatest = createQueryParser({
  parameters: { base, symbols, date, format },
  failures,
  mistaken: MISTAKEN_TABLE_NAMES.advice,
  toParams: ({ date: on, ...params }) => ({ params, key: latestKey(params, on), date: on }),
  isRecurring: true,
})

/** Creates `GET /api/v1/latest`. */
export function latest(
  sources: RateSources,
  { latest: responseCache, dated }: ResponseCaches,
  now: () => number,
): Endpoint {
  return tableEndpoint({
    sources,
    responseCache,
    parse: parseLatest,
    toBody: (record) => record,
    async respondDated(query, request) {
      return respondDated({ sources, responseCache: dated, now }, query, request)
    },
  })
}

function latestKey(
  { base: from = 'USD', symbols: to = [], format: of = 'json' }: ParsedTableQuery['params'],
  on: string | undefined,
): string {
  const codes = new Set(to.map((code) => code.toUpperCase()))
  return `latest ${of} ${from.toUpperCase()} ${[...codes].sort().join()} ${on ?? ''}`
}

const json = {
  representTable(record: DatedRates, lastModified: number): Representation {
    return represent(JSON.stringify(record), bodyHeaders({ lifetime: 'minute', lastModified }))
  },
}

/** Responds with the rates of an earlier day. */
export async function respondDated(
  {
    sources,
    responseCache,
    now,
  }: { sources: RateSources; responseCache: ResponseCache; now: () => number },
  { params, key, date }: ParsedDatedQuery,
  request: RequestOptions,
): Promise<EndpointResult> {
  const instant = now()
  const today = toDay(instant)
  assertNotFuture(date, today)
  const { representTable } = params.format === 'csv' ? await import('./csv.ts') : json
  const result = await sources.history(request, earliestDayFor(date))
  const make = (): Representation => {
    const record = toDatedRates(result.value, { ...params, date }, today)
    return representTable(record, Math.min(record.updatedAt, instant))
  }
  const day = Math.floor(instant / DAY_MS)
  return {
    representation: responseCache.getOrCreate(result.value, key, make, day),
    freshness: result,
  }
}

const parseRates = createQueryParser({
  parameters: { base, format },
  failures,
  mistaken: MISTAKEN_WHOLE_TABLE_NAMES.advice,
  toParams: (params) => ({ params, key: ratesKey(params) }),
  isRecurring: true,
})

/** Creates `GET /api/rates`. */
export function rates(sources: RateSources, responseCache: ResponseCache): Endpoint {
  return tableEndpoint({
    sources,
    responseCache,
    parse: parseRates,
    toBody: (latest) => ({
      base: latest.base,
      rates: latest.rates,
      updatedAt: latest.updatedAt,
      nextUpdateAt: latest.nextUpdateAt,
      provider: providerText(latest.source),
    }),
  })
}

function ratesKey({ base: from = 'USD', format: of = 'json' }: ParsedTableQuery['params']): string {
  return `rates ${of} ${from.toUpperCase()}`
}
