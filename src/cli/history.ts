import type { HistoryList, Point, RateHistory } from '../index.ts'
import { nearest } from '../known-options.ts'
import { drawChart } from './chart.ts'
import type { CommandContext } from './context.ts'
import { HISTORY_OPTIONS, MOVED, INTERVALS, PERIODS, VALUES } from './flags.ts'
import { printRates } from './output.ts'
import { toRatesFlags } from './session.ts'
import { alignedNumbers, styled, styledLines, toAge, toTable } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError, parseArguments, splitCodes } from './usage.ts'
import { readPair, spellOut } from './words.ts'

const CHART_HEIGHT = 10

type HistoryBody = RateHistory | HistoryList

export async function history(typed: string[], context: CommandContext): Promise<number> {
  const args = spellOut(typed, context.now())
  const { values, positionals } = parseArguments(
    { args, options: HISTORY_OPTIONS, allowPositionals: true },
    MOVED,
  )
  const pair = readPair(positionals)
  if (!pair) {
    throw new UsageError(
      'history needs <from> <to>, for example: ratesmith history USD EUR --period 1Y',
    )
  }
  const { from, to } = pair
  const { period, start, end, interval, value, fill, source, layout = 'long', json } = values
  if (layout !== 'long' && layout !== 'wide') {
    throw new UsageError(`--layout must be long or wide, got ${layout || '""'}`)
  }
  const isWide = layout === 'wide'
  if (isWide && json) throw new UsageError('--layout wide must not be combined with --json')
  return printRates<HistoryBody>(
    {
      path: '/v1/history',
      params: { from, to, period, start, end, interval, value, fill, source },
      csvParams: isWide ? { layout } : {},
      dataSet: 'history',
      codes: [from, ...splitCodes(to)],
      days: { first: start, last: end },
      suggest: ({ code, message }) => {
        if (code === 'invalid_period') return suggestPeriods(period ?? '')
        return message.includes('(must be ') ? suggestValues(message, { interval, value }) : []
      },
      publication(body, now) {
        const days = pairsOf(body).map(({ points }) => points.findLast(isPublished)?.d ?? '')
        const day = days.reduce((last, each) => (each > last ? each : last), '')
        return { day, when: toAge(now - Date.parse(day ?? '')) }
      },
      sources: (body) => pairsOf(body).map(({ source }) => source),
      show: (body, terminal) => {
        if (isWide) return toTable(wideRows(pairsOf(body)), 'aside', terminal)
        return 'series' in body ? showList(pairsOf(body), terminal) : show(body, terminal)
      },
      list: (body) =>
        isWide ? wideRows(pairsOf(body)).map((cells) => cells.join('\t')) : longLines(body),
    },
    toRatesFlags(values),
    context,
  )
}

/** Suggests 1Y for `1y`, `1yr` and `1 year`. */
function suggestPeriods(sent: string): string[] {
  return PERIODS.filter((period) => sent.replace(/\s/g, '').toUpperCase().startsWith(period))
}

/** Suggests week for `weekly`, `weeks` and `Week`, average for `averge`. */
function suggestValues(
  message: string,
  { interval = '', value = '' }: { interval: string | undefined; value: string | undefined },
): string[] {
  if (message.includes('parameter: interval')) return nearest(interval, INTERVALS, 2)
  return message.includes('parameter: value') ? nearest(value, Object.keys(VALUES), 2) : []
}

function isPublished({ filled }: Point): boolean {
  return !filled
}

function pairsOf(body: HistoryBody): RateHistory[] {
  return 'series' in body ? Object.values(body.series) : [body]
}

/** Returns a line per point; those of a list begin with the code. */
function longLines(body: HistoryBody): string[] {
  return pairsOf(body).flatMap(({ to, points, fill }) =>
    points.map(({ d, r, filled }) => {
      const cells = [...('series' in body ? [to] : []), d, r]
      return [...cells, ...(fill ? [filled ? 'filled' : ''] : [])].join('\t')
    }),
  )
}

function wideRows(pairs: readonly RateHistory[]): string[][] {
  const columns = pairs.map(({ points }) => new Map(points.map(({ d, r }) => [d, String(r)])))
  const days = new Set(columns.flatMap((column) => [...column.keys()]))
  const rows = [...days].toSorted().map((day) => {
    return [day, ...columns.map((column) => column.get(day) ?? '')]
  })
  return [['date', ...pairs.map(({ to }) => to)], ...rows]
}

/** Returns a title such as `1 EUR, 2025-11-20 to 2026-11-20, the average of each month`. */
function titleOf(what: string, pairs: readonly RateHistory[]): string {
  const days = pairs.flatMap(({ points }) => [points[0]?.d ?? '', points.at(-1)?.d ?? ''])
  const [{ interval = 'day', value = 'last', fill } = {}] = pairs
  const [first = '', last = ''] = [days.toSorted()[0], days.toSorted().at(-1)]
  const ofEach = interval === 'day' ? '' : `, ${VALUES[value]} of each ${interval}`
  return `${what}, ${first} to ${last}${ofEach}${fill ? ', every day' : ''}`
}

/** Shows a row with the statistics of each pair; without room, the last columns are left out. */
function showList(pairs: readonly RateHistory[], terminal: Terminal): string[] {
  const stats = pairs.map((pair) => pair.stats)
  const columns = [
    ['code', ...pairs.map(({ to }) => to)],
    ['change', ...stats.map(({ changePct }) => toChange(changePct))],
    ...(['open', 'close', 'high', 'low', 'average'] as const).map((name) => {
      return [name, ...alignedNumbers(stats.map((each) => each[name]))]
    }),
  ]
  const widths = columns.map((cells) => Math.max(...cells.map((cell) => cell.trimEnd().length)))
  const isRoomFor = (count: number): boolean =>
    widths.slice(0, count).reduce((sum, width) => sum + width + 2, -2) <= terminal.width
  const shown = columns.filter((_, index) => isRoomFor(index + 1))
  const rows = ['code', ...pairs].map((_, row) => shown.map((column) => column[row] ?? ''))
  return [
    ...styledLines('title', titleOf(`1 ${pairs[0]?.from}`, pairs), terminal),
    ...toTable(rows, 'aside', terminal),
  ]
}

function toChange(percent: number): string {
  return `${percent > 0 ? '+' : ''}${percent} %`
}

function show(record: RateHistory, terminal: Terminal): string[] {
  const { from, to, points, stats } = record
  const { width, hasUnicode } = terminal
  const { open, close, high, low, average, changePct, highDate, lowDate } = stats
  const chart = drawChart(points, { width, height: CHART_HEIGHT, hasUnicode })
  const title = titleOf(`1 ${from} in ${to}`, [record])
  const change = toChange(changePct)
  return [
    ...styledLines('title', title, terminal),
    ...chart.map((line) => styled('line', line, terminal)),
    `open     ${open}`,
    `close    ${close}`,
    `high     ${high} on ${highDate}`,
    `low      ${low} on ${lowDate}`,
    `average  ${average}`,
    `change   ${changePct === 0 ? change : styled(changePct > 0 ? 'good' : 'bad', change, terminal)}`,
  ]
}
