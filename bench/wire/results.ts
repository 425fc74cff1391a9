import { inMegabytes, markdown, median, medianInterval } from '../figures.ts'
import type { Sample } from './rounds.ts'
import type { Row, SheetName } from './rows.ts'

/** The columns of `throughputCells`. */
export const THROUGHPUT_COLUMNS = [
  'requests/s',
  'CPU µs/request',
  'of its reference, by CPU',
  'by throughput',
]

const COLUMNS = ['server', ...THROUGHPUT_COLUMNS, 'p50 ms', 'p99 ms', 'RSS MB', 'load CPU']

/** Returns the table of the servers in Markdown: medians, and medians of the ratios to the reference in the same round. */
export function tableOf(rows: readonly Row[], samples: ReadonlyMap<string, Sample[]>): string {
  const lines = rows.map(({ id, name, of }) => {
    const own = samples.get(id) ?? []
    return [
      name,
      ...throughputCells(own, samples.get(of) ?? []),
      medianOf(own, 'p50').toFixed(2),
      medianOf(own, 'p99').toFixed(2),
      inMegabytes(medianOf(own, 'rss'), 0),
      `${(100 * medianOf(own, 'loadShare')).toFixed(0)} %`,
    ]
  })
  return markdown(COLUMNS, lines)
}

/** Returns medians of throughput and CPU time, and of their ratios to another server in the same round. */
export function throughputCells(own: readonly Sample[], other: readonly Sample[]): string[] {
  return [
    Math.round(medianOf(own, 'rate')).toLocaleString('en'),
    medianOf(own, 'cpu').toFixed(1),
    ratioText(ratiosByCpu(own, other)),
    median(ratios(own, other, 'rate')).toFixed(2),
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
  /** By CPU time: how much of the other server's speed. */
  min: Readonly<Record<SheetName, number>>
}

const NODE = { convert: 0.92, table: 0.97, history: 0.97 }
const OTHERS = { convert: 0.9, table: 0.95, history: 0.95 }
const HOSTS = { convert: 0.75, table: 0.75, history: 0.75 }
const EXPRESS = { convert: 0.9, table: 0.9, history: 0.9 }
const ACCESS = { convert: 0.97, table: 0.97, history: 0.97 }

const GOALS: Goal[] = [
  { what: 'Node, of bare', one: 'direct', other: 'bare', min: NODE },
  { what: 'Node with 15 headers, of bare', one: 'browser', other: 'bare-browser', min: NODE },
  { what: 'Node with 40 headers, of bare', one: 'proxy', other: 'bare-proxy', min: NODE },
  { what: 'Bun, of bare', one: 'bun', other: 'bare-bun', min: OTHERS },
  { what: 'Deno, of bare', one: 'deno', other: 'bare-deno', min: OTHERS },
  { what: 'in @whatwg-node/server, of it', one: 'in-whatwg', other: 'whatwg', min: HOSTS },
  { what: 'in @hono/node-server, of it', one: 'in-hono', other: 'hono', min: HOSTS },
  { what: 'in srvx, of it', one: 'in-srvx', other: 'srvx', min: HOSTS },
  { what: 'in h3, of it', one: 'in-h3', other: 'h3', min: HOSTS },
  { what: 'in Express 5, of a route of it', one: 'in-express', other: 'express', min: EXPRESS },
  { what: 'limited by address, of unlimited', one: 'limited', other: 'direct', min: ACCESS },
  { what: 'with keys and limits, of unlimited', one: 'keyed', other: 'direct', min: ACCESS },
]

/** Frameworks that must need more CPU time than ratesmith for the same bytes. */
const BEHIND = ['hono-app', 'fastify', 'h3']

/** Largest ratio of the p99 of a conversion to that of the bare server. */
const MAX_P99_RATIO = 1.5

/** Largest difference between the ratios of the two halves of the rounds, on a machine that is quiet enough. */
const MAX_DIFFERENCE = 0.04

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
      if (pair) verdicts.push(...checkCpu(`${sheet}: ${what}`, pair, min[sheet]))
    }
    for (const framework of BEHIND) {
      const pair = both('direct', framework)
      if (pair) verdicts.push(checkBehind(`${sheet}: ${framework}`, pair))
    }
    const pair = sheet === 'convert' ? both('direct', 'bare') : undefined
    if (pair) verdicts.push(checkLatency(`${sheet}: Node`, pair))
  }
  return verdicts
}

/** Formats a verdict. */
export function lineOf({ isReached, text }: Verdict): string {
  return `- ${isReached ? 'ok' : 'missed'}: ${text}`
}

/** Checks a goal, and whether the halves of the rounds agree about it. */
function checkCpu(what: string, [one, other]: [Sample[], Sample[]], min: number): Verdict[] {
  const all = ratiosByCpu(one, other)
  const goal = { isReached: median(all) >= min, text: `${what}: ${ratioText(all)}, goal: ${min}` }
  const halves = [0, 1].map((odd) => median(all.filter((_, round) => round % 2 === odd)))
  const difference = Math.abs((halves[0] ?? NaN) / (halves[1] ?? NaN) - 1)
  if (difference <= MAX_DIFFERENCE) return [goal]
  const text = `${what}: even and odd rounds differ by ${(100 * difference).toFixed(1)} %, limit: 4 %; the machine is too busy`
  return [goal, { isReached: false, text }]
}

function checkBehind(what: string, [direct, framework]: [Sample[], Sample[]]): Verdict {
  const ratio = median(ratiosByCpu(direct, framework))
  return {
    isReached: ratio > 1,
    text: `${what} takes ${ratio.toFixed(2)} times our CPU per request, goal: more than 1`,
  }
}

function checkLatency(what: string, [one, other]: [Sample[], Sample[]]): Verdict {
  const ratio = median(ratios(one, other, 'p99'))
  return {
    isReached: ratio <= MAX_P99_RATIO,
    text: `${what}: p99 ${ratio.toFixed(2)} times that of bare, goal: at most ${MAX_P99_RATIO}`,
  }
}

export function medianOf(samples: readonly Sample[], quantity: keyof Sample): number {
  return median(samples.map((sample) => sample[quantity]))
}

/** Returns how much of the other server's speed one has, by CPU time, in each round. */
function ratiosByCpu(one: readonly Sample[], other: readonly Sample[]): number[] {
  return ratios(other, one, 'cpu')
}

function ratios(
  one: readonly Sample[],
  other: readonly Sample[],
  quantity: keyof Sample,
): number[] {
  return one.map((sample, round) => sample[quantity] / (other[round]?.[quantity] ?? NaN))
}

/** Returns the median of ratios, and its interval. */
function ratioText(values: readonly number[]): string {
  const [low, high] = medianInterval(values)
  return `${median(values).toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`
}
