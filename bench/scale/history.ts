import { startChild } from '../../test/system/child.ts'
import { measureRounds } from '../wire/rounds.ts'
import type { Measuring, Sample } from '../wire/rounds.ts'
import { rowsOf } from '../wire/rows.ts'
import { withServers } from '../wire/running.ts'
import { medianOf } from '../wire/statistics.ts'
import { THROUGHPUT_COLUMNS, markdown, throughputCells } from '../wire/table.ts'
import type { HistoryReport } from './history-program.ts'

const COLUMNS = [
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
    const { points, bytes, first, again } = await measureInProcess(period)
    lines.push([
      period,
      points.toLocaleString('en'),
      bytes.toLocaleString('en'),
      first.toFixed(1),
      again.toFixed(1),
      ...(await measureOverWire(period, how)),
    ])
  }
  return markdown(COLUMNS, lines)
}

async function measureInProcess(period: string): Promise<HistoryReport> {
  const child = startChild({ program: 'bench/scale/history-program.ts', settings: { period } })
  try {
    const report: HistoryReport = JSON.parse(await child.firstLine)
    return report
  } finally {
    await child.kill()
  }
}

async function measureOverWire(period: string, how: Measuring): Promise<string[]> {
  const target = `/api/v1/history?from=USD&to=JPY&period=${period}`
  const rows = rowsOf({ target }, ['node']).filter(({ id }) => ['bare', 'direct'].includes(id))
  const samples = await withServers(target, rows, (running) =>
    measureRounds(running, { target }, how),
  )
  return cellsOf(samples)
}

function cellsOf(samples: ReadonlyMap<string, Sample[]>): string[] {
  const [direct = [], bare = []] = [samples.get('direct'), samples.get('bare')]
  return [
    ...throughputCells(direct, bare),
    medianOf(direct, 'p50').toFixed(2),
    medianOf(direct, 'p99').toFixed(2),
  ]
}
