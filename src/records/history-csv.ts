import { toCsv } from './csv.ts'
import type { HistoryFormat } from './history-text.ts'

const HEAD = ['from', 'to', 'date', 'rate', 'source', 'sourceUrl']

/** CSV: one line per point, each with the attribution. Omits the statistics, which follow from the points. */
export const CSV_HISTORY: HistoryFormat = {
  separator: '',
  pointStart: (day) => `${day},`,
  frameOf({ from, to, source }) {
    const lineStart = `${from},${to},`
    const lineEnd = toCsv([['', source.name, source.url]])
    return {
      before: `${toCsv([HEAD])}${lineStart}`,
      rateEnd: `${lineEnd}${lineStart}`,
      after: lineEnd,
    }
  },
}
