import { dayAt } from '../rates/pair-series.ts'
import { toCsv } from './csv.ts'
import type { PairHistory } from './history.ts'
import type { PairRange } from './history-range.ts'

const HEAD = ['from', 'to', 'date', 'rate', 'source', 'sourceUrl']

/** The points of `history` as CSV, and the attribution with each of them. Its stats can be had from the points. */
export function historyCsv({ from, to, series, source }: PairHistory | PairRange): string {
  const lines = Array.from(series.rates, (rate, index) => {
    return [from, to, dayAt(series, index), rate, source.name, source.url]
  })
  return toCsv([HEAD, ...lines])
}
