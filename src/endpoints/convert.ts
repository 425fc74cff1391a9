import { convert, loadConversionTable, toConversionResult } from '../api/convert.ts'
import type { ConversionParams } from '../api/convert.ts'
import { MISTAKEN_CONVERSION_NAMES } from '../api/mistaken-names.ts'
import { toSource } from '../api/resolve-code.ts'
import { createQueryParser } from '../http/query.ts'
import { memoizeLast } from '../http/response-cache.ts'
import { bodyHeaders, byteLength, represent } from '../http/response.ts'
import type { Endpoint, Representation } from '../http/response.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import { toDay } from '../rates/dates.ts'
import { oldestPublication } from '../rates/rate-table.ts'
import type { LatestSnapshot } from '../sources/latest-source.ts'
import type { RateSources } from '../sources/rate-sources.ts'
import { mapMaybePromise } from './map-maybe-promise.ts'
import {
  amount,
  booleanFlag,
  conversionFailures,
  currency,
  date,
  failures,
  format,
  isAmount,
  targets,
} from './parameters.ts'

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

/** The conversion that a query requests. */
export interface ParsedConversion {
  params: ConversionParams
  /** The raw amount, for error messages. */
  amountSent: string | undefined
}

type ConversionParameters = Record<string, string> & {
  from: string
  to: string
  amount: string | undefined
}

/** Parses the query of a conversion, which v1 and the unversioned API share. */
export const parseConversion: (query: string) => ParsedConversion = createQueryParser({
  parameters: { from: currency, to: currency, amount },
  failures,
  mistaken: MISTAKEN_CONVERSION_NAMES.advice,
  accepts: (values): values is ConversionParameters => {
    const { from, to, amount: sent } = values
    return isCodeShaped(from) && isCodeShaped(to) && (sent === undefined || isAmount(sent))
  },
  toParams: ({ from, to, amount: amountSent }) => {
    const value = amountSent === undefined ? undefined : Number(amountSent)
    return { params: { from, to, amount: value }, amountSent }
  },
})

const parse = createQueryParser({
  parameters: { from: currency, to: targets, amount, date, reverse: booleanFlag, format },
  failures: conversionFailures,
  mistaken: MISTAKEN_CONVERSION_NAMES.advice,
  toParams: ({ amount: amountSent, format: form, ...params }) => {
    const value = amountSent === undefined ? undefined : Number(amountSent)
    return { params: { ...params, amount: value }, amountSent, form }
  },
})

const json = {
  representConversion(record: object, lastModified: number): Representation {
    return represent(JSON.stringify(record), bodyHeaders({ lifetime: 'minute', lastModified }))
  },
}

/** Creates `GET /api/v1/convert` for lists, dates, `reverse` and CSV; `one` responds to all other queries. */
export function conversions(sources: RateSources, now: () => number, one: Endpoint): Endpoint {
  return async (query, request) => {
    const { params, amountSent, form } = parse(query)
    const { to, date: on, reverse } = params
    const isPlain = on === undefined && reverse === undefined && form === undefined
    if (isPlain && typeof to === 'string') return one(query, request)
    const { representConversion } = form === 'csv' ? await import('./csv.ts') : json
    const table = { codes: [params.from, to].flat(), date: on, today: toDay(now()) }
    const result = await loadConversionTable(sources, table, request)
    const record = toConversionResult(result.value, params, amountSent)
    const lastModified = Math.min(record.updatedAt, now())
    return { representation: representConversion(record, lastModified), freshness: result }
  }
}

/** Matches every query for a list, a date, `reverse` or CSV, and few others. */
const MAYBE_EXTENDED = /[,%]|date|format|reverse/i

/** Creates `GET /api/v1/convert`. */
export function versionedConvert(sources: RateSources, now: () => number): Endpoint {
  const one = conversionEndpoint(sources, ({ table, attribution }) => ({
    updatedAt: table.updatedAt,
    source: toSource(attribution),
  }))
  const extended = conversions(sources, now, one)
  return (query, request) => (MAYBE_EXTENDED.test(query) ? extended : one)(query, request)
}
