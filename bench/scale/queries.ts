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

const COLUMNS = ['distinct queries', 'how many', 'ns/answer', 'heap, MB more', 'RSS, MB more']

/** A million distinct queries may leave so much behind, in bytes. */
const MOST_GROWTH = 2 * MEGABYTE
const MILLION = 1_000_000

/** The table of what distinct queries cost in process, and the verdicts on those of a million. */
export async function tableOfQueries(
  counts: readonly number[],
  leastAnswers: number,
): Promise<{ table: string; verdicts: Verdict[] }> {
  const lines: string[][] = []
  const verdicts: Verdict[] = []
  for (const kind of ['amounts', 'junk', 'symbols'] as const) {
    for (const distinct of counts) {
      const answers = Math.max(leastAnswers, distinct)
      const report = await measure({ kind, distinct, answers })
      lines.push([KINDS[kind], distinct.toLocaleString('en'), ...cellsOf(report)])
      if (distinct === MILLION) verdicts.push(judgeGrowth(KINDS[kind], report))
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

function judgeGrowth(kind: string, { heap }: QueriesReport): Verdict {
  return {
    isReached: heap <= MOST_GROWTH,
    text: `a million distinct ${kind} leave ${inMegabytes(heap)} MB behind, to be at most ${inMegabytes(MOST_GROWTH)}`,
  }
}

function inMegabytes(bytes: number): string {
  return (bytes / MEGABYTE).toFixed(2)
}
