import { toConversion, withConversion } from '../api/convert.ts'
import type { ConversionResult } from '../api/convert.ts'
import { conversionCsv, latestCsv } from '../api/csv.ts'
import { toLatestRates, withChange, withLatest } from '../api/latest.ts'
import type { LatestRates } from '../api/latest.ts'
import { OPERATIONS } from '../api/parameters.ts'
import type { ConversionParams, LatestParams } from '../api/parameter-types.ts'
import type { Rates } from '../api/resolve-code.ts'
import type { Instant } from '../async.ts'
import { invalidParameter } from '../errors.ts'
import type { Header } from '../http/messages.ts'
import { createQueryParser } from '../http/query.ts'
import { bodyHeaders, represent, viaLink } from '../http/response.ts'
import type {
  DataResult,
  Endpoint,
  EndpointResult,
  Representation,
  RequestContext,
} from '../http/response.ts'
import type { UppercaseCode } from '../rates/currency-code.ts'
import { DAY_MS } from '../rates/dates.ts'
import type { Amount, Derivation, Rate } from '../rates/rate-table.ts'
import type { CacheResult, RateSources } from '../sources/rate-sources.ts'
import type { Attribution } from '../upstream/provider.ts'
import type { EndpointContext, Format } from './context.ts'

/** Response of `/rates`. */
type UnversionedTable = Omit<
  LatestRates,
  'date' | 'asked' | 'rule' | 'change' | 'source' | 'disclaimer' | 'older' | 'tableNumber'
> & {
  /** Source of the rates: its name, and its URL in parentheses. */
  provider: string
}

/** Response of `/convert`. */
interface UnversionedConversion {
  /** Source currency code. */
  from: UppercaseCode
  /** Target currency code. */
  to: UppercaseCode
  /** Requested amount, in `from`. */
  amount: Amount
  /** Units of `to` per unit of `from`, as published or derived to 10 significant digits. */
  rate: Rate
  /** Exact decimal product of `amount` and `rate`, rounded once to the nearest double. */
  result: Amount
  /** When the provider published the rates, in ms since the Unix epoch. */
  updatedAt: Instant
  /** Where the rate comes from, if it is not in the publication of the source; otherwise absent. */
  derived?: Derivation
  /** Source of the rates: its name, and its URL in parentheses. */
  provider: string
}

export function latest(context: EndpointContext): Endpoint {
  return ratesEndpoint(context, 'latest', TABLE)
}

export function unversionedRates(context: EndpointContext): Endpoint {
  return ratesEndpoint(context, 'unversionedRates', {
    ...TABLE,
    toBody: ({ base, rates, updatedAt, nextUpdateAt, derived, source }): UnversionedTable => ({
      base,
      rates,
      updatedAt,
      nextUpdateAt,
      ...(derived && { derived }),
      provider: providerText(source),
    }),
  })
}

export function convert(context: EndpointContext): Endpoint {
  return ratesEndpoint(context, 'convert', CONVERSION)
}

export function unversionedConvert(context: EndpointContext): Endpoint {
  return ratesEndpoint(context, 'unversionedConvert', {
    ...CONVERSION,
    toBody({ source, ...record }) {
      if ('results' in record) throw new Error('a list of conversions is not unversioned')
      const { tableNumber: _tableNumber, ...pair } = record
      return { ...pair, provider: providerText(source) } satisfies UnversionedConversion
    },
  })
}

function providerText({ name, url }: Attribution): string {
  return `${name} (${url})`
}

interface RatesQuery {
  date?: string | undefined
  quote?: string | undefined
  expand?: string | undefined
  change?: string | undefined
  format?: Format
}

/** What the endpoints of one kind of record have in common. */
interface RecordKind<Params, Body> {
  cache: 'latest' | 'conversions'
  withRates<Result>(
    sources: RateSources,
    params: Params,
    now: () => number,
    request: RequestContext,
    use: (found: CacheResult<Rates>, data: object) => Result,
  ): Result | Promise<Result>
  toRecord(rates: Rates, params: Params): Body
  /** Adds what needs reference rates of other days or sources: `change` or `expand`. */
  expand(
    sources: RateSources,
    params: Params,
    found: { record: Body; rates: Rates },
    now: () => number,
    request: RequestContext,
  ): Promise<Body>
  toCsv(record: Body): string
  toBody(record: Body): object
}

const TABLE: RecordKind<LatestParams, LatestRates> = {
  cache: 'latest',
  withRates: withLatest,
  toRecord: toLatestRates,
  expand: withChange,
  toCsv: latestCsv,
  toBody: (record) => record,
}

const CONVERSION: RecordKind<ConversionParams, ConversionResult> = {
  cache: 'conversions',
  withRates: withConversion,
  toRecord: toConversion,
  async expand(...given) {
    const { withSources } = await import('../api/sources.ts')
    return withSources(...given)
  },
  toCsv: conversionCsv,
  toBody: (record) => record,
}

async function respondQuoted(
  params: RatesQuery,
  quotes: EndpointContext['quotes'],
): Promise<EndpointResult> {
  if (!quotes) throw invalidParameter('quote', 'this service has no quotes')
  return (await quotes()).convert(params)
}

function ratesEndpoint<
  Params extends RatesQuery,
  Body extends { updatedAt: number; source: Attribution },
>(
  { sources, responseCaches, now, keyNames, quotes }: EndpointContext,
  operation: 'latest' | 'convert' | 'unversionedRates' | 'unversionedConvert',
  { cache, withRates, toRecord, expand, toCsv, toBody }: RecordKind<Params, Body>,
): Endpoint {
  const parse = createQueryParser<Params & RatesQuery>(OPERATIONS[operation], keyNames)
  let last: { form: Format; lastModified: number; headers: Header[] } | undefined

  function toRepresentation(record: Body, { format: form = 'json' }: RatesQuery, rates: Rates) {
    const publishedAt = 'date' in rates ? now() : rates.table.publishedAt
    const lastModified = Math.min(record.updatedAt, publishedAt)
    // Responses that differ in nothing else are requested one after another.
    if (last?.form !== form || last.lastModified !== lastModified) {
      const headers = bodyHeaders({ form, lifetime: 'minute', lastModified })
      last = { form, lastModified, headers }
    }
    return form === 'csv'
      ? represent(toCsv(record), [...last.headers, ...viaLink(record.source)])
      : represent(JSON.stringify(toBody(record)), last.headers)
  }

  /** Not cached: the response has rates of several data sets. */
  async function respondExpanded(
    params: Params & RatesQuery,
    request: RequestContext,
  ): Promise<DataResult> {
    // Another source may have the rates where `toRecord` throws.
    const [found, freshness] = await withRates(sources, params, now, request, (each) => {
      return [{ record: toRecord(each.value, params), rates: each.value }, each] as const
    })
    const record = await expand(sources, params, found, now, request)
    return { representation: toRepresentation(record, params, found.rates), freshness }
  }

  return (query, request) => {
    const { params, key } = parse(query)
    if (params.quote !== undefined) return respondQuoted(params, quotes)
    if ((params.expand ?? params.change) !== undefined) return respondExpanded(params, request)
    const isDated = params.date !== undefined
    const responseCache = responseCaches[isDated ? 'dated' : cache]
    const day = isDated ? Math.floor(now() / DAY_MS) : 0
    return withRates(sources, params, now, request, (freshness, data): DataResult => {
      const { value } = freshness
      let cost: number | undefined = 1
      const make = (): Representation => {
        cost = undefined
        return toRepresentation(toRecord(value, params), params, value)
      }
      const representation = responseCache.getOrCreate(data, key, make, day)
      return { representation, freshness, cost }
    })
  }
}
