import type { ConversionListParams, ConversionResult } from './conversions.ts'
import { toCsv } from './csv.ts'

/** Returns `record` as CSV: one line per target currency, each with the attribution, so that copied lines keep it. */
export function conversionCsv(record: ConversionResult<ConversionListParams>): string {
  const { from, amount, reverse, date, updatedAt, source } = record
  const rest = {
    ...(reverse && { reverse: String(reverse) }),
    ...(date !== undefined && { date }),
    updatedAt,
    source: source.name,
    sourceUrl: source.url,
  }
  const results = 'results' in record ? record.results : { [record.to]: record }
  const lines = Object.entries(results).map(([to, { rate, result }]) => {
    return [from, to, amount, rate, result, ...Object.values(rest)]
  })
  return toCsv([['from', 'to', 'amount', 'rate', 'result', ...Object.keys(rest)], ...lines])
}
