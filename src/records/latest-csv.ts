import { toCsv } from './csv.ts'
import type { LatestRecord } from './latest.ts'

const HEAD = ['base', 'code', 'rate', 'updatedAt', 'nextUpdateAt', 'source', 'sourceUrl']

/** `record` as CSV: a line for each rate, and the attribution in each, so that it stays with what is copied. */
export function latestCsv({ base, rates, updatedAt, nextUpdateAt, source }: LatestRecord): string {
  const { name, url } = source
  const lines = Object.entries(rates).map(([code, rate]) => {
    return [base, code, rate, updatedAt, nextUpdateAt, name, url]
  })
  return toCsv([HEAD, ...lines])
}
