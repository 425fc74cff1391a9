import { measureRounds } from '../wire/rounds.ts'
import type { Measuring, Sample } from '../wire/rounds.ts'
import { SHEETS, rowsOf } from '../wire/rows.ts'
import { withServers } from '../wire/running.ts'
import { medianOf } from '../wire/statistics.ts'
import { THROUGHPUT_COLUMNS, markdown, throughputCells } from '../wire/table.ts'

const COLUMNS = [
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
  const rows = rowsOf({ target }, ['node']).filter(({ id }) => ['bare', 'direct'].includes(id))
  const lines = await withServers(target, rows, async (running) => {
    const measured: string[][] = []
    for (const connections of counts) {
      const samples = await measureRounds(running, { target }, { ...how, connections })
      measured.push([connections.toLocaleString('en'), ...cellsOf(samples)])
    }
    return measured
  })
  return markdown(COLUMNS, lines)
}

function cellsOf(samples: ReadonlyMap<string, Sample[]>): string[] {
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
