import { eachRecord } from './csv.ts'
import type { HistoryDay } from './provider.ts'
import {
  hasAny,
  parseRate,
  requireCode,
  requireDay,
  shown,
  toPublishedDays,
} from './reference-days.ts'

/** What the bank writes where a day has no rate of a currency. */
const NO_RATE = 'N/A'

/**
 * Reads `eurofxref-hist.csv`: a header `Date,USD,JPY,…`, and a line for every day, newest first. The bank ends every line
 * with a comma.
 *
 * @throws {Error} where it is anything else, if only in one cell
 */
export function readEurofxrefCsv(text: string): HistoryDay[] {
  let header: string[] | undefined
  let codes: string[] = []
  const days: HistoryDay[] = []
  eachRecord(text, (cells, line) => {
    if (!header) {
      header = cells
      codes = readCodes(cells)
      return
    }
    if (cells.length !== header.length) {
      throw new Error(`line ${line} has ${cells.length} cells, not ${header.length}`)
    }
    days.push(readDay(codes, cells))
  })
  // Days on which the bank was closed have been lines without rates.
  return toPublishedDays(days.filter(({ rates }) => hasAny(rates)))
}

/** The currencies of the columns behind the first. */
function readCodes(header: string[]): string[] {
  const [first = '', ...others] = header
  if (first !== 'Date') throw new Error(`the header begins with ${shown(first)}`)
  const codes = (others.at(-1) === '' ? others.slice(0, -1) : others).map(requireCode)
  const twice = codes.find((code, index) => codes.indexOf(code) !== index)
  if (twice) throw new Error(`${twice} is there twice in the header`)
  return codes
}

function readDay(codes: readonly string[], cells: readonly string[]): HistoryDay {
  const date = requireDay(cells[0] ?? '')
  const rates: Record<string, number> = {}
  for (let index = 0; index < codes.length; index += 1) {
    const text = cells[index + 1] ?? ''
    if (text !== NO_RATE) rates[codes[index] ?? ''] = parseRate(text)
  }
  const behind = cells[codes.length + 1] ?? ''
  if (behind !== '') throw new Error(`${date} has ${shown(behind)} behind its last rate`)
  return { date, rates }
}
