import { MEGABYTE, inMegabytes, markdown } from '../figures.ts'
import { reportOf } from '../wire/load.ts'
import { THROUGHPUT_COLUMNS, medianOf, throughputCells } from '../wire/results.ts'
import type { Verdict } from '../wire/results.ts'
import { measureRows } from '../wire/rounds.ts'
import type { Measuring } from '../wire/rounds.ts'
import { SHEETS, rowsOf } from '../wire/rows.ts'
import { ourResponse } from '../wire/running.ts'
import type { HistoryReport, HistorySettings } from './history-program.ts'
import type { Point } from './picture.ts'
import type { QueriesReport, QueriesSettings, QueryKind } from './queries-program.ts'

/** A table of Markdown, and its lines as points of the picture. */
export interface Curve {
  table: string
  points: Point[]
}

/** A line of a table over the wire: one size of what grows. */
interface Step {
  /** The cells before the measured ones. */
  cells: string[]
  /** The response that the bare server sends. */
  target: string
  /** The number of distinct amounts (default one). */
  distinctCount?: number
  /** Flags of the command line that differ. */
  how?: Partial<Measuring>
  /** Its place in the picture (default none). */
  place?: Pick<Point, 'size' | 'label'>
}

/** `toNodeHandler`, which is compared with the bare server. */
const ROWS = rowsOf(SHEETS.convert, ['node']).filter(({ id }) => id === 'direct')

const WIRE_COLUMNS = [
  ...THROUGHPUT_COLUMNS,
  'bare: requests/s',
  'bare: CPU µs/request',
  'p99 ms',
  'bare: p99 ms',
  'load CPU',
]

/** Measures every step with both servers, newly started. */
async function measureSteps(
  columns: readonly string[],
  steps: readonly Step[],
  how: Measuring,
): Promise<Curve> {
  const lines: string[][] = []
  const points: Point[] = []
  for (const { cells, target, distinctCount, how: differing, place } of steps) {
    const targets = distinctCount ? { ...SHEETS.convert, distinctCount } : { target }
    const samples = await measureRows(ROWS, targets, { ...how, ...differing })
    const direct = samples.get('direct') ?? []
    const bare = direct.flatMap(({ reference }) => reference ?? [])
    lines.push([
      ...cells,
      ...throughputCells(direct),
      Math.round(medianOf(bare, 'rate')).toLocaleString('en'),
      medianOf(bare, 'cpu').toFixed(1),
      medianOf(direct, 'p99').toFixed(2),
      medianOf(bare, 'p99').toFixed(2),
      `${(100 * medianOf(direct, 'loadShare')).toFixed(0)} %`,
    ])
    const rates = { ratesmith: medianOf(direct, 'rate'), bare: medianOf(bare, 'rate') }
    if (place) points.push({ ...place, ...rates })
  }
  return { table: markdown([...columns, ...WIRE_COLUMNS], lines), points }
}

/** More connections take a good part of a second to open; they are measured for longer. */
const MAX_CONNECTIONS_PER_SECOND = 1_000

/** Measures a conversion with different numbers of connections. */
export function measureConnections(counts: readonly number[], how: Measuring): Promise<Curve> {
  const steps = counts.map((connections): Step => {
    const seconds = how.seconds * Math.ceil(connections / MAX_CONNECTIONS_PER_SECOND)
    const label = connections.toLocaleString('en')
    return {
      cells: [label],
      target: SHEETS.convert.target,
      how: { connections, seconds },
      place: { size: connections, label },
    }
  })
  return measureSteps(['connections'], steps, how)
}

/** Measures conversions with different numbers of distinct amounts; the bare server sends the same bytes for all. */
export function measureAmounts(counts: readonly number[], how: Measuring): Promise<Curve> {
  const { target } = SHEETS.convert
  const steps = counts.map((count): Step => {
    const place = { size: count, label: COMPACT.format(count) }
    return { cells: [count.toLocaleString('en')], target, distinctCount: count, place }
  })
  return measureSteps(['distinct amounts'], steps, how)
}

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact' })

const KINDS: Record<QueryKind, string> = {
  amounts: 'amounts of a conversion',
  junk: 'unknown parameters of a table',
  symbols: 'lists of three `symbols`',
}

const QUERY_COLUMNS = [
  'distinct queries',
  'number',
  'ns/response',
  'heap growth MB',
  'RSS growth MB',
]

/** What the caches may keep: 2 MiB of bodies for latest rates, 1/4 MiB of queries, and what describes them. */
const MAX_GROWTH = 3.5 * MEGABYTE
const MILLION = 1_000_000

/** Returns a table of the cost of distinct queries in process, and the verdicts on those with a million. */
export async function tableOfQueries(
  counts: readonly number[],
  minResponses: number,
): Promise<{ table: string; verdicts: Verdict[] }> {
  const lines: string[][] = []
  const verdicts: Verdict[] = []
  for (const kind of ['amounts', 'junk', 'symbols'] as const) {
    for (const distinct of counts) {
      const responses = Math.max(minResponses, distinct)
      const report = await reportOf<QueriesReport>({
        program: 'bench/scale/queries-program.ts',
        settings: { kind, distinct, responses } satisfies QueriesSettings,
        flags: ['--expose-gc'],
      })
      lines.push([KINDS[kind], distinct.toLocaleString('en'), ...queryCells(report)])
      if (distinct === MILLION) verdicts.push(checkGrowth(KINDS[kind], report))
    }
  }
  return { table: markdown(QUERY_COLUMNS, lines), verdicts }
}

function queryCells({ nanoseconds, heap, rss }: QueriesReport): string[] {
  return [Math.round(nanoseconds).toLocaleString('en'), inMegabytes(heap, 2), inMegabytes(rss, 2)]
}

function checkGrowth(kind: string, { heap }: QueriesReport): Verdict {
  return {
    isReached: heap <= MAX_GROWTH,
    text: `a million distinct ${kind} leave ${inMegabytes(heap, 2)} MB in use (goal: at most ${inMegabytes(MAX_GROWTH, 2)})`,
  }
}

/** Days of a history: their name, and the parameters that select them. */
export type HistoryLength = readonly [name: string, days: string]

/** Measures histories of different lengths in process and over the wire. */
export async function measureHistories(
  lengths: readonly HistoryLength[],
  how: Measuring,
): Promise<Curve> {
  const steps: Step[] = []
  for (const [name, days] of lengths) {
    const { points, bytes, first, again } = await reportOf<HistoryReport>({
      program: 'bench/scale/history-program.ts',
      settings: { days } satisfies HistorySettings,
    })
    const sizes = [points, bytes].map((size) => size.toLocaleString('en'))
    steps.push({
      cells: [name, ...sizes, first.toFixed(1), again.toFixed(1)],
      target: `/api/v1/history?from=USD&to=JPY&${days}`,
      place: { size: points, label: name },
    })
  }
  return measureSteps(['length', 'points', 'bytes', 'first response µs', 'again µs'], steps, how)
}

/** Measures tables of different numbers of currencies, and the whole table, which is too close to 150 for the picture. */
export async function measureCurrencies(counts: readonly number[], how: Measuring): Promise<Curve> {
  const whole = SHEETS.table.target
  const { rates }: { rates: object } = JSON.parse((await ourResponse(whole)).body.toString())
  const codes = Object.keys(rates)
  const steps = counts.map((count): Step => {
    if (count > codes.length) throw new RangeError(`the market has only ${codes.length} currencies`)
    const target = `${whole}&symbols=${codes.slice(0, count).join()}`
    return { cells: [String(count)], target, place: { size: count, label: String(count) } }
  })
  const all: Step = { cells: [`all ${codes.length}`], target: whole }
  return measureSteps(['currencies'], [...steps, all], how)
}
