import { inMegabytes, markdown, median } from '../figures.ts'
import type { Sample } from './rounds.ts'
import { BARE } from './rows.ts'
import type { Row, SheetName } from './rows.ts'

/** The columns of `throughputCells`. */
export const THROUGHPUT_COLUMNS = ['requests/s', 'of bare', 'CPU µs/request', 'of bare, by CPU']

const COLUMNS = ['server', ...THROUGHPUT_COLUMNS, 'p50 ms', 'p99 ms', 'RSS MB', 'load CPU']

/** Returns the table of the servers in Markdown: medians, and medians of the ratios to bare in the same round. */
export function tableOf(rows: readonly Row[], samples: ReadonlyMap<string, Sample[]>): string {
  const lines = rows.map(({ id, name, runtime }) => {
    const own = samples.get(id) ?? []
    const bare = samples.get(BARE[runtime]) ?? []
    return [
      name,
      ...throughputCells(own, bare),
      medianOf(own, 'p50').toFixed(2),
      medianOf(own, 'p99').toFixed(2),
      inMegabytes(medianOf(own, 'rss'), 0),
      `${(100 * medianOf(own, 'loadShare')).toFixed(0)} %`,
    ]
  })
  return markdown(COLUMNS, lines)
}

/** Returns medians of throughput and CPU time, and of their ratios to bare in the same round. */
export function throughputCells(own: readonly Sample[], bare: readonly Sample[]): string[] {
  return [
    Math.round(medianOf(own, 'rate')).toLocaleString('en'),
    medianRatio(own, bare, 'rate').toFixed(2),
    medianOf(own, 'cpu').toFixed(1),
    medianRatio(bare, own, 'cpu').toFixed(2),
  ]
}

/** Samples by table and row id. */
export type Measured = ReadonlyMap<SheetName, ReadonlyMap<string, Sample[]>>

export interface Verdict {
  isReached: boolean
  text: string
}

interface Goal {
  what: string
  one: string
  other: string
  min: Partial<Record<SheetName, number>>
}

/** Goals of rows that need more CPU time than another, as the ratio of the other's time to theirs. */
const CPU_GOALS: readonly [what: string, one: string, other: string, min: number][] = [
  ['limited by address, of unlimited', 'limited', 'direct', 0.97],
  ['with keys and limits, of unlimited', 'keyed', 'direct', 0.97],
]

const GOALS: Goal[] = [
  throughput('Node, directly, of bare', ['direct', 'bare'], [0.9, 0.95, 0.95]),
  throughput('Node, by @whatwg-node/server, of bare', ['fetch-style', 'bare'], [0.5, 0.5, 0.6]),
  throughput('in Express 5, of a plain Express route', ['in-express', 'express'], [0.9, 0.9, 0.9]),
  throughput('Bun, of bare', ['bun', 'bare-bun'], [0.9, 0.95, 0.95]),
  throughput('Deno, of bare', ['deno', 'bare-deno'], [0.9, 0.95, 0.95]),
]

/** Frameworks that must need more CPU time than ratesmith for the same bytes. */
const BEHIND = ['hono', 'fastify', 'h3']

/** Largest ratio of the p99 of a conversion to that of the bare server. */
const MAX_P99_RATIO = 1.5

/** Checks every goal whose rows were measured. */
export function checkGoals(measured: Measured): Verdict[] {
  const verdicts: Verdict[] = []
  for (const [sheet, samples] of measured) {
    const both = (one: string, other: string): [Sample[], Sample[]] | undefined => {
      const pair = [samples.get(one), samples.get(other)] as const
      return pair[0] && pair[1] ? [pair[0], pair[1]] : undefined
    }
    for (const { what, one, other, min } of GOALS) {
      const pair = both(one, other)
      if (pair) verdicts.push(checkThroughput(`${sheet}: ${what}`, pair, min[sheet] ?? NaN))
    }
    for (const [what, one, other, min] of CPU_GOALS) {
      const pair = both(one, other)
      if (pair) verdicts.push(checkCpu(`${sheet}: ${what}`, pair, min))
    }
    for (const framework of BEHIND) {
      const pair = both(framework, 'direct')
      if (pair) verdicts.push(checkProcessorTime(`${sheet}: ${framework}`, pair))
    }
    const pair = sheet === 'convert' ? both('direct', 'bare') : undefined
    if (pair) verdicts.push(checkLatency(`${sheet}: Node, directly`, pair))
  }
  return verdicts
}

/** Formats a verdict. */
export function lineOf({ isReached, text }: Verdict): string {
  return `- ${isReached ? 'ok' : 'missed'}: ${text}`
}

function throughput(
  what: string,
  [one, other]: [string, string],
  [convert, table, history]: [number, number, number],
): Goal {
  return { what, one, other, min: { convert, table, history } }
}

function checkThroughput(what: string, pair: [Sample[], Sample[]], min: number): Verdict {
  const [one, other] = pair
  const ratio = medianRatio(one, other, 'rate')
  const byCpu = medianRatio(other, one, 'cpu').toFixed(2)
  return {
    isReached: ratio >= min,
    text: `${what} ${ratio.toFixed(3)} (by CPU ${byCpu}), goal: at least ${min}`,
  }
}

function checkCpu(what: string, [one, other]: [Sample[], Sample[]], min: number): Verdict {
  const ratio = medianRatio(other, one, 'cpu')
  const rate = medianRatio(one, other, 'rate').toFixed(2)
  return {
    isReached: ratio >= min,
    text: `${what} ${ratio.toFixed(3)} by CPU (throughput ${rate}), goal: at least ${min}`,
  }
}

function checkProcessorTime(what: string, [one, other]: [Sample[], Sample[]]): Verdict {
  const ratio = medianRatio(one, other, 'cpu')
  return {
    isReached: ratio > 1,
    text: `${what} takes ${ratio.toFixed(3)} times our CPU per request, goal: more than 1`,
  }
}

function checkLatency(what: string, [one, other]: [Sample[], Sample[]]): Verdict {
  const ratio = medianRatio(one, other, 'p99')
  return {
    isReached: ratio <= MAX_P99_RATIO,
    text: `${what} p99 ${ratio.toFixed(3)} times that of bare, goal: at most ${MAX_P99_RATIO}`,
  }
}

export function medianOf(samples: readonly Sample[], quantity: keyof Sample): number {
  return median(samples.map((sample) => sample[quantity]))
}

/** Returns the median of the ratios of two servers in the same round. */
function medianRatio(
  one: readonly Sample[],
  other: readonly Sample[],
  quantity: keyof Sample,
): number {
  return median(one.map((sample, round) => sample[quantity] / (other[round]?.[quantity] ?? NaN)))
}
