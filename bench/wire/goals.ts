import type { SheetName } from './rows.ts'
import type { Sample } from './rounds.ts'
import { medianRatio } from './statistics.ts'

/** What was measured, by table and by the id of the row. */
export type Measured = ReadonlyMap<SheetName, ReadonlyMap<string, Sample[]>>

/** A goal, and whether it was reached. */
export interface Verdict {
  isReached: boolean
  text: string
}

/** A ratio of two rows that a table must reach. */
interface Goal {
  what: string
  one: string
  other: string
  /** The least ratio of throughput, by table. */
  least: Partial<Record<SheetName, number>>
}

const GOALS: Goal[] = [
  throughput('Node, directly, of bare', ['direct', 'bare'], [0.9, 0.95, 0.95]),
  throughput('Node, by @whatwg-node/server, of bare', ['fetch-style', 'bare'], [0.5, 0.5, 0.6]),
  throughput('in Express 5, of a route of it', ['in-express', 'express'], [0.9, 0.9, 0.9]),
  throughput('Bun, of bare', ['bun', 'bare-bun'], [0.9, 0.95, 0.95]),
  throughput('Deno, of bare', ['deno', 'bare-deno'], [0.9, 0.95, 0.95]),
]

/** Frameworks that need more processor time for the same bytes than we do. */
const BEHIND = ['hono', 'fastify', 'h3']

/** The p99 latency of a conversion is to be at most so many times bare's. */
const MOST_P99 = 1.5

/** Judges every goal whose rows were measured. */
export function judge(measured: Measured): Verdict[] {
  const verdicts: Verdict[] = []
  for (const [sheet, samples] of measured) {
    const both = (one: string, other: string): [Sample[], Sample[]] | undefined => {
      const pair = [samples.get(one), samples.get(other)] as const
      return pair[0] && pair[1] ? [pair[0], pair[1]] : undefined
    }
    for (const { what, one, other, least } of GOALS) {
      const pair = both(one, other)
      if (pair) verdicts.push(judgeThroughput(`${sheet}: ${what}`, pair, least[sheet] ?? NaN))
    }
    for (const framework of BEHIND) {
      const pair = both(framework, 'direct')
      if (pair) verdicts.push(judgeProcessor(`${sheet}: ${framework}`, pair))
    }
    const pair = sheet === 'convert' ? both('direct', 'bare') : undefined
    if (pair) verdicts.push(judgeLatency(`${sheet}: Node, directly`, pair))
  }
  return verdicts
}

/** A verdict as a line. */
export function lineOf({ isReached, text }: Verdict): string {
  return `- ${isReached ? 'ok' : 'missed'}: ${text}`
}

function throughput(
  what: string,
  [one, other]: [string, string],
  [convert, table, history]: [number, number, number],
): Goal {
  return { what, one, other, least: { convert, table, history } }
}

function judgeThroughput(what: string, pair: [Sample[], Sample[]], least: number): Verdict {
  const [one, other] = pair
  const ratio = medianRatio(one, other, 'rate')
  const byCpu = medianRatio(other, one, 'cpu').toFixed(2)
  return {
    isReached: ratio >= least,
    text: `${what} ${ratio.toFixed(3)} (by CPU ${byCpu}), to be at least ${least}`,
  }
}

function judgeProcessor(what: string, [one, other]: [Sample[], Sample[]]): Verdict {
  const ratio = medianRatio(one, other, 'cpu')
  return {
    isReached: ratio > 1,
    text: `${what} takes ${ratio.toFixed(3)} times our CPU per request, to be more than 1`,
  }
}

function judgeLatency(what: string, [one, other]: [Sample[], Sample[]]): Verdict {
  const ratio = medianRatio(one, other, 'p99')
  return {
    isReached: ratio <= MOST_P99,
    text: `${what} p99 ${ratio.toFixed(3)} times bare's, to be at most ${MOST_P99}`,
  }
}
