import { toCsv } from '../api/csv.ts'
import { OPERATIONS } from '../api/parameters.ts'
import type { HistoryList, Point, RateHistory } from '../index.ts'
import { drawChart } from './chart.ts'
import type { CommandContext } from './context.ts'
import { spellOut, takeSpan } from './days.ts'
import { HISTORY_OPTIONS, parseFlags, withWords } from './flags.ts'
import { pairsOf, printRates, toPercent } from './output.ts'
import { readFormat, toDirective } from './price-directives.ts'
import { alignedNumbers, grouped, styled, styledLines, toColumnTable, toTable } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError, parseName, refuseWith } from './usage.ts'
import { readPair } from './words.ts'

export async function history(typed: string[], context: CommandContext): Promise<number> {
  const args = spellOut(typed, context.now())
  const { values, positionals, ...given } = parseFlags(args, HISTORY_OPTIONS, OPERATIONS.history)
  const { words, ...span } = takeSpan(positionals, context.now())
  const pair = readPair(words.join(' '))
  if (!pair) throw new UsageError('history needs <from> <to>, such as ratesmith history usd eur 1y')
  const { notes, ...codes } = pair
  const { layout = 'long', ...params } = withWords(given.params, span)
  const isWide = parseName('--layout', layout, ['long', 'wide']) === 'wide'
  const format = readFormat(values)
  if (isWide) refuseWith('--layout wide', { json: values.json, format })
  return printRates<RateHistory | HistoryList>(
    {
      operation: 'history',
      params: { ...codes, ...params },
      notes: new Set(notes),
      request: async (rates, typed) => rates.history(Object(typed)),
      csv(record) {
        const pairs = pairsOf(record)
        return toCsv(isWide ? wideRows(pairs, String, 'fill' in params) : longCsv(pairs))
      },
      lines(record, { terminal }) {
        const { isTTY } = terminal
        const pairs = pairsOf(record)
        if (format)
          return eachPoint(pairs, (pair, { d, r }) =>
            toDirective(format, { ...pair, day: d, rate: r }),
          )
        if (isWide && isTTY) return toTable(wideRows(pairs, grouped), 'aside', terminal)
        if (isTTY) return 'series' in record ? showList(pairs, terminal) : show(record, terminal)
        const rows = isWide ? wideRows(pairs, String) : longRows(pairs, 'series' in record)
        return rows.map((cells) => cells.join('\t'))
      },
    },
    values,
    context,
  )
}

function eachPoint<Result>(
  pairs: readonly RateHistory[],
  use: (pair: RateHistory, point: Point) => Result,
): Result[] {
  return pairs.flatMap((pair) => pair.points.map((point) => use(pair, point)))
}

type Cells = (string | number)[]

function longRows(pairs: readonly RateHistory[], isList: boolean): Cells[] {
  return eachPoint(pairs, ({ to, fill }, { d, r, filled }) => {
    return [...(isList ? [to] : []), d, r, ...(fill ? [filled ? 'filled' : ''] : [])]
  })
}

function longCsv(pairs: readonly RateHistory[]): Cells[] {
  const rows = eachPoint(pairs, ({ from, to, fill, source }, { d, r, filled }) => {
    return [from, to, d, r, ...(fill ? [filled ? 'true' : ''] : []), source.name, source.url]
  })
  const filled = pairs[0]?.fill ? ['filled'] : []
  return [['from', 'to', 'date', 'rate', ...filled, 'source', 'sourceUrl'], ...rows]
}

function wideRows(
  pairs: readonly RateHistory[],
  format: (rate: number) => string,
  isFilled = false,
): string[][] {
  const codes = pairs.map(({ to }) => to)
  const columns = pairs.map(({ points }) => new Map(points.map((point) => [point.d, point])))
  const days = new Set(columns.flatMap((column) => [...column.keys()]))
  const rows = [...days].toSorted().map((day) => {
    const points = columns.map((column) => column.get(day))
    const filled = codes.filter((_, index) => points[index]?.filled).join(' ')
    const cells = points.map((point) => (point ? format(point.r) : ''))
    return [day, ...cells, ...(isFilled ? [filled] : [])]
  })
  return [['date', ...codes, ...(isFilled ? ['filled'] : [])], ...rows]
}

/** Returns a title such as `1 EUR, 2025-11-20 to 2026-11-20, the average of each month`. */
function titleOf(what: string, pairs: readonly RateHistory[]): string {
  const days = pairs.flatMap(({ points }) => [points[0]?.d ?? '', points.at(-1)?.d ?? ''])
  const [{ interval = 'day', value = 'last', fill } = {}] = pairs
  const [first = '', last = ''] = [days.toSorted()[0], days.toSorted().at(-1)]
  const ofEach = interval === 'day' ? '' : `, the ${value} of each ${interval}`
  return `${what}, ${first} to ${last}${ofEach}${fill ? ', every day' : ''}`
}

function showList(pairs: readonly RateHistory[], terminal: Terminal): string[] {
  const stats = pairs.map((pair) => pair.stats)
  const columns = [
    ['code', ...pairs.map(({ to }) => to)],
    ['change', ...stats.map(({ changePct }) => toPercent(changePct))],
    ...(['open', 'close', 'high', 'low', 'average'] as const).map((name) => {
      return [name, ...alignedNumbers(stats.map((each) => each[name]))]
    }),
  ]
  return [
    ...styledLines('title', titleOf(`1 ${pairs[0]?.from}`, pairs), terminal),
    ...toColumnTable(columns, terminal),
  ]
}

function show(record: RateHistory, terminal: Terminal): string[] {
  const { from, to, points, stats } = record
  const { open, close, high, low, average, changePct, highDate, lowDate } = stats
  const chart = drawChart(points, terminal)
  const title = titleOf(`1 ${from} in ${to}`, [record])
  const change = toPercent(changePct)
  return [
    ...styledLines('title', title, terminal),
    ...chart.map((line) => styled('line', line, terminal)),
    `open     ${grouped(open)}`,
    `close    ${grouped(close)}`,
    `high     ${grouped(high)} on ${highDate}`,
    `low      ${grouped(low)} on ${lowDate}`,
    `average  ${grouped(average)}`,
    `change   ${changePct === 0 ? change : styled(changePct > 0 ? 'good' : 'bad', change, terminal)}`,
  ]
}
