import { latestCsv } from '../api/csv.ts'
import { codesOf, datedNeed, toDatedRates, toLatestRates } from '../api/latest.ts'
import type { DatedRates, LatestParams, LatestRates } from '../api/latest.ts'
import { MISTAKEN_TABLE_NAMES, MISTAKEN_WHOLE_TABLE_NAMES } from '../api/mistaken-names.ts'
import { assertDated, datedSnapshot, daysToLoad } from '../api/resolve-code.ts'
import type { DayParams } from '../api/resolve-code.ts'
import { createQueryParser } from '../http/query.ts'
import { ONLY_REPEATED } from '../http/response-cache.ts'
import type { ResponseCache, ResponseCaches } from '../http/response-cache.ts'
import { bodyHeaders, represent, viaLink } from '../http/response.ts'
import type { DataResult, Endpoint, Representation, RequestContext } from '../http/response.ts'
import { DAY_MS, toDay } from '../rates/dates.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { CacheResult, RateSources } from '../sources/rate-sources.ts'
import { providerText } from './convert.ts'
import { base, date, failures, format, maxAge, rule, source, symbols } from './parameters.ts'
import type { Format } from './parameters.ts'

interface ParsedTable {
  params: Pick<LatestParams, 'base' | 'symbols'> & { format?: Format | undefined }
  key: string
  /** Day of the rates; undefined for the latest rates. */
  day?: DayParams | undefined
}

const parseLatest = createQueryParser({
  parameters: { base, symbols, date, rule, maxAge, source, format },
  failures,
  mistaken: MISTAKEN_TABLE_NAMES.advice,
  toParams: ({ date: on, rule: by, maxAge: age, source: only, ...params }): ParsedTable => {
    assertDated({ date: on, rule: by, maxAge: age, source: only })
    if (on === undefined) return { params, key: toKey('latest', params) }
    const key = toKey('latest', params, [on, by, age, only].join(' ').trimEnd())
    return { params, key, day: { date: on, rule: by, maxAge: age, source: only } }
  },
  isRecurring: true,
})

const parseRates = createQueryParser({
  parameters: { base, format },
  failures,
  mistaken: MISTAKEN_WHOLE_TABLE_NAMES.advice,
  toParams: (params): ParsedTable => ({ params, key: toKey('rates', params) }),
  isRecurring: true,
})

function toKey(
  path: string,
  { base: from = 'USD', symbols: to = [], format: of = 'json' }: ParsedTable['params'],
  on = '',
): string {
  const codes = new Set(to.map((code) => code.toUpperCase()))
  return `${path} ${of} ${from.toUpperCase()} ${[...codes].sort().join()} ${on}`
}

export function latest(
  sources: RateSources,
  { latest: responseCache, dated }: ResponseCaches,
  now: () => number,
): Endpoint {
  const respondLatest = createTableResponder(sources, responseCache, (record) => record)

  async function respondDated(
    { params, key }: ParsedTable,
    day: DayParams,
    request: RequestContext,
  ): Promise<DataResult> {
    const instant = now()
    const today = toDay(instant)
    const need = { ...daysToLoad(day, today), ...datedNeed(params), source: day.source }
    return sources.history(need, request, (freshness) => {
      const make = (): Representation => {
        const record = toDatedRates(datedSnapshot(freshness.value, day, today), params)
        return representTable(record, params.format, Math.min(record.updatedAt, instant))
      }
      const caching = { day: Math.floor(instant / DAY_MS), onlyRepeated: true }
      return { representation: dated.getOrCreate(freshness.value, key, make, caching), freshness }
    })
  }

  return (query, request) => {
    const parsed = parseLatest(query)
    return parsed.day === undefined
      ? respondLatest(parsed, request)
      : respondDated(parsed, parsed.day, request)
  }
}

/** Response of `/rates`. */
export type UnversionedTable = Omit<
  LatestRates,
  'source' | 'disclaimer' | 'older' | 'tableNumber'
> & {
  /** Source of the rates: its name, and its URL in parentheses. */
  provider: string
}

export function rates(sources: RateSources, responseCache: ResponseCache): Endpoint {
  const respond = createTableResponder(sources, responseCache, (record) => ({
    base: record.base,
    rates: record.rates,
    updatedAt: record.updatedAt,
    nextUpdateAt: record.nextUpdateAt,
    ...(record.derived && { derived: record.derived }),
    provider: providerText(record.source),
  }))
  return (query, request) => respond(parseRates(query), request)
}

function createTableResponder(
  sources: RateSources,
  responseCache: ResponseCache,
  toBody: (record: LatestRates) => LatestRates | UnversionedTable,
): (parsed: ParsedTable, request: RequestContext) => DataResult | Promise<DataResult> {
  return ({ params, key }, request) => {
    const found = sources.latest(request, () => codesOf(params))
    const respond = (freshness: CacheResult<LatestSnapshot>): DataResult => {
      const make = (): Representation => {
        const record = toLatestRates(freshness.value, params)
        const lastModified = Math.min(record.updatedAt, freshness.value.table.publishedAt)
        return representTable(record, params.format, lastModified, toBody)
      }
      const caching = params.symbols && ONLY_REPEATED
      return {
        representation: responseCache.getOrCreate(freshness.value, key, make, caching),
        freshness,
      }
    }
    return found instanceof Promise ? found.then(respond) : respond(found)
  }
}

function representTable<Table extends LatestRates | DatedRates>(
  record: Table,
  form: Format = 'json',
  lastModified: number,
  toBody: (record: Table) => object = (whole) => whole,
): Representation {
  const headers = bodyHeaders({ form, lifetime: 'minute', lastModified })
  return form === 'csv'
    ? represent(latestCsv(record), [...headers, ...viaLink(record.source)])
    : represent(JSON.stringify(toBody(record)), headers)
}
