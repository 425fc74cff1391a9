import { OPERATIONS } from '../api/parameters.ts'
import type { HistoryList, Point, RateHistory } from '../index.ts'
import { drawChart } from './chart.ts'
import type { CommandContext } from './context.ts'
import { HISTORY_OPTIONS, parseFlags, valuesOf, withWords } from './flags.ts'
import { printRates } from './output.ts'
import { readFormat, toDirective } from './price-directives.ts'
import type { DirectiveFormat } from './price-directives.ts'
import { toRatesFlags } from './session.ts'
import { alignedNumbers, styled, styledLines, toAge, toTable } from './terminal.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage.ts'
import { readPair, spellOut, takeDay } from './words.ts'

const CHART_HEIGHT = 10

const PERIODS = valuesOf(OPERATIONS.history.parameters['period'])

type HistoryBody = RateHistory | HistoryList

export async function history(typed: string[], context: CommandContext): Promise<number> {
  const args = spellOut(typed, context.now())
  const { values, positionals, ...given } = parseFlags(args, HISTORY_OPTIONS, OPERATIONS.history)
  const { words, ...span } = takeSpan(positionals, context.now())
  const pair = readPair(words)
  if (!pair) {
    throw new UsageError(
      'history needs <from> <to>, for example: ratesmith history USD EUR --period 1Y',
    )
  }
  const { from, to } = pair
  const all = withWords(given.params, span)
  const { layout, ...params } = all
  const isWide = layout === 'wide'
  const format = readFormat(values)
  if (isWide && (values.json || format)) {
    throw new UsageError('--layout wide must not be combined with --json or --format')
  }
  return printRates<HistoryBody>(
    {
      operation: 'history',
      params: { from, to, ...(isWide ? params : all) },
      csvParams: isWide ? { layout } : {},
      age(body, now) {
        const days = pairsOf(body).map(({ points }) => points.findLast(isPublished)?.d ?? '')
        return toAge(now - Date.parse(days.reduce((last, each) => (each > last ? each : last), '')))
      },
      sources: (body) => pairsOf(body).map(({ source }) => source),
      show: (body, terminal) => {
        if (format) return directives(body, format)
        if (isWide) return toTable(wideRows(pairsOf(body)), 'aside', terminal)
        return 'series' in body ? showList(pairsOf(body), terminal) : show(body, terminal)
      },
      list: (body) => {
        if (format) return directives(body, format)
        return isWide ? wideRows(pairsOf(body)).map((cells) => cells.join('\t')) : longLines(body)
      },
    },
    toRatesFlags(values),
    context,
  )
}

/** Takes the period, the first day, or the first and the last, at the end of words: `1y`, `2020-01-01 2020-12-31`. */
function takeSpan(positionals: readonly string[], now: number) {
  const all = positionals.join(' ').trim().split(/\s+/)
  const last = all.at(-1)?.toUpperCase() ?? ''
  if (all.length > 1 && PERIODS.includes(last)) return { words: all.slice(0, -1), period: last }
  const later = takeDay(positionals, now)
  const earlier = takeDay(later.words, now)
  if (earlier.day === undefined) return { words: later.words, start: later.day }
  return { words: earlier.words, start: earlier.day, end: later.day }
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

function directives(body: HistoryBody, format: DirectiveFormat): string[] {
  return pairsOf(body).flatMap(({ from, to, points }) =>
    points.map(({ d, r }) => toDirective(format, { day: d, from, rate: r, to })),
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
  const ofEach = interval === 'day' ? '' : `, the ${value} of each ${interval}`
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
