import { MEGABYTE, inMegabytes, markdown } from '../figures.ts'
import { reportOf } from '../wire/load.ts'
import { THROUGHPUT_COLUMNS, medianOf, throughputCells } from '../wire/results.ts'
import type { Verdict } from '../wire/results.ts'
import { measureRounds } from '../wire/rounds.ts'
import type { Measuring, Sample } from '../wire/rounds.ts'
import { SHEETS, rowsOf } from '../wire/rows.ts'
import { withServers } from '../wire/running.ts'
import type { HistoryReport } from './history-program.ts'
import type { QueriesReport, QueriesSettings, QueryKind } from './queries-program.ts'

/** `toNodeHandler` and the server that it is compared with. */
const ROWS = rowsOf(SHEETS.convert, ['node']).filter(({ id }) => ['bare', 'direct'].includes(id))

const CONNECTION_COLUMNS = [
  'connections',
  ...THROUGHPUT_COLUMNS,
  'p50 ms',
  'bare’s',
  'p99 ms',
  'bare’s',
  'load CPU',
]

/**
 * Returns a table of conversions through `toNodeHandler` with different numbers of connections, compared with a bare
 * server.
 */
export async function tableOfConnections(
  counts: readonly number[],
  how: Measuring,
): Promise<string> {
  const { target } = SHEETS.convert
  const lines = await withServers(target, ROWS, async (running) => {
    const measured: string[][] = []
    for (const connections of counts) {
      const samples = await measureRounds(running, { target }, { ...how, connections })
      measured.push([connections.toLocaleString('en'), ...connectionCells(samples)])
    }
    return measured
  })
  return markdown(CONNECTION_COLUMNS, lines)
}

function connectionCells(samples: ReadonlyMap<string, Sample[]>): string[] {
  const [direct = [], bare = []] = [samples.get('direct'), samples.get('bare')]
  return [
    ...throughputCells(direct, bare),
    medianOf(direct, 'p50').toFixed(2),
    medianOf(bare, 'p50').toFixed(2),
    medianOf(direct, 'p99').toFixed(2),
    medianOf(bare, 'p99').toFixed(2),
    `${(100 * medianOf(direct, 'loadShare')).toFixed(0)} %`,
  ]
}

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

const MAX_GROWTH = 2 * MEGABYTE
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

const HISTORY_COLUMNS = [
  'period',
  'points',
  'bytes',
  'first response µs',
  'again µs',
  ...THROUGHPUT_COLUMNS,
  'p50 ms',
  'p99 ms',
]

/**
 * Returns a table of the cost of histories of different lengths: in process, and through `toNodeHandler` compared with
 * a bare server.
 */
export async function tableOfHistory(periods: readonly string[], how: Measuring): Promise<string> {
  const lines: string[][] = []
  for (const period of periods) {
    const { points, bytes, first, again } = await reportOf<HistoryReport>({
      program: 'bench/scale/history-program.ts',
      settings: { period },
    })
    lines.push([
      period,
      points.toLocaleString('en'),
      bytes.toLocaleString('en'),
      first.toFixed(1),
      again.toFixed(1),
      ...(await measureOverWire(period, how)),
    ])
  }
  return markdown(HISTORY_COLUMNS, lines)
}

async function measureOverWire(period: string, how: Measuring): Promise<string[]> {
  const target = `/api/v1/history?from=USD&to=JPY&period=${period}`
  const samples = await withServers(target, ROWS, (running) =>
    measureRounds(running, { target }, how),
  )
  const [direct = [], bare = []] = [samples.get('direct'), samples.get('bare')]
  return [
    ...throughputCells(direct, bare),
    medianOf(direct, 'p50').toFixed(2),
    medianOf(direct, 'p99').toFixed(2),
  ]
}
