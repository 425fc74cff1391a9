import { toCsv } from './csv.ts'
import type { DatedRates } from './dated-latest.ts'
import type { LatestRates } from './latest.ts'

/** Returns `record` as CSV: one line per rate, each with the attribution, so that copied lines keep it. */
export function latestCsv(record: LatestRates | DatedRates): string {
  const { base, rates, updatedAt, nextUpdateAt, source } = record
  const older: Record<string, number> = ('older' in record && record.older) || {}
  const date = 'date' in record ? { date: record.date } : {}
  const rest = { ...date, updatedAt, nextUpdateAt, source: source.name, sourceUrl: source.url }
  const lines = Object.entries(rates).map(([code, rate]) => [
    base,
    code,
    rate,
    ...Object.values({ ...rest, updatedAt: older[code] ?? updatedAt }),
  ])
  return toCsv([['base', 'code', 'rate', ...Object.keys(rest)], ...lines])
}
