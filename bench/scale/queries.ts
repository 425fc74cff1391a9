import { startChild } from '../../test/system/child.ts'
import type { Verdict } from '../wire/goals.ts'
import { markdown } from '../wire/table.ts'
import type { QueriesReport, QueriesSettings, QueryKind } from './queries-program.ts'

const MEGABYTE = 1_048_576

const KINDS: Record<QueryKind, string> = {
  amounts: 'amounts of a conversion',
  junk: 'unknown parameters of a table',
  symbols: 'lists of three `symbols`',
}

const COLUMNS = ['distinct queries', 'number', 'ns/response', 'heap growth MB', 'RSS growth MB']

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
      const report = await measure({ kind, distinct, responses })
      lines.push([KINDS[kind], distinct.toLocaleString('en'), ...cellsOf(report)])
      if (distinct === MILLION) verdicts.push(checkGrowth(KINDS[kind], report))
    }
  }
  return { table: markdown(COLUMNS, lines), verdicts }
}

async function measure(settings: QueriesSettings): Promise<QueriesReport> {
  const program = 'bench/scale/queries-program.ts'
  const child = startChild({ program, settings, flags: ['--expose-gc'] })
  try {
    const report: QueriesReport = JSON.parse(await child.firstLine)
    return report
  } finally {
    await child.kill()
  }
}

function cellsOf({ nanoseconds, heap, rss }: QueriesReport): string[] {
  return [Math.round(nanoseconds).toLocaleString('en'), inMegabytes(heap), inMegabytes(rss)]
}

function checkGrowth(kind: string, { heap }: QueriesReport): Verdict {
  return {
    isReached: heap <= MAX_GROWTH,
    text: `a million distinct ${kind} leave ${inMegabytes(heap)} MB in use (goal: at most ${inMegabytes(MAX_GROWTH)})`,
  }
}

function inMegabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(2)
}
