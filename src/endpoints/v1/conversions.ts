import type { Endpoint } from '../../http/endpoint.ts'
import { createQueryParser } from '../../http/query.ts'
import { bodyHeaders, represent } from '../../http/representation.ts'
import type { Representation } from '../../http/representation.ts'
import { toDay } from '../../rates/day.ts'
import { loadConversionTable } from '../../records/conversion-table.ts'
import { toConversionResult } from '../../records/conversions.ts'
import { MISTAKEN_CONVERSION_NAMES } from '../../records/mistaken-names.ts'
import type { RateSources } from '../../sources/rate-sources.ts'
import { booleanFlag, conversionFailures, targets } from '../conversion-parameters.ts'
import { amount, currency, date, format } from '../parameters.ts'

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
    const { representConversion } = form === 'csv' ? await import('../csv.ts') : json
    const table = { codes: [params.from, to].flat(), date: on, today: toDay(now()) }
    const result = await loadConversionTable(sources, table, request)
    const record = toConversionResult(result.value, params, amountSent)
    const lastModified = Math.min(record.updatedAt, now())
    return { representation: representConversion(record, lastModified), freshness: result }
  }
}
