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

/** Returns the table of the servers in Markdown: medians, and medians of the ratios to the reference. */
export function tableOf(rows: readonly Row[], samples: ReadonlyMap<string, Sample[]>): string {
  const lines = rows.map(({ id, name }) => {
    const own = samples.get(id) ?? []
    return [
      name,
      ...throughputCells(own),
      medianOf(own, 'p50').toFixed(2),
      medianOf(own, 'p99').toFixed(2),
      inMegabytes(medianOf(own, 'rss'), 0),
      `${(100 * medianOf(own, 'loadShare')).toFixed(0)} %`,
    ]
  })
  return markdown(COLUMNS, lines)
}

/** Returns medians of throughput and CPU time, and of their ratios to the reference. */
export function throughputCells(samples: readonly Sample[]): string[] {
  return [
    Math.round(medianOf(samples, 'rate')).toLocaleString('en'),
    medianOf(samples, 'cpu').toFixed(1),
    ratioText(ratiosByCpu(samples)),
    median(ratios(samples, 'rate')).toFixed(2),
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
  id: string
  /** By CPU time: how much of the speed of the reference; absent without a goal. */
  min: Readonly<Partial<Record<SheetName, number>>>
}

const NODE = { convert: 0.97, table: 0.97, history: 0.95 }
const DENO = { convert: 0.95, table: 0.93, history: 0.93 }
/** For small bodies, the reading of method, URL and headers alone leaves 0.90. */
const BUN = { convert: 0.85, table: 0.85, history: 0.97 }
const HOSTS = { convert: 0.85, table: 0.85, history: 0.85 }
const BY_ADDRESS = { convert: 0.95, table: 0.95, history: 0.95 }
/** Its responses have three more headers. */
const WITH_KEY = { convert: 0.9, table: 0.9, history: 0.9 }
const EXPRESS = { convert: 0.95, table: 0.95, history: 0.95 }
/** Histories are only shown: `bench:core` compares them with what they must do. */
const DISTINCT = { convert: 0.69 }

const GOALS: Goal[] = [
  { what: 'Node, of bare', id: 'direct', min: NODE },
  { what: 'Node with 15 headers, of bare', id: 'browser', min: NODE },
  { what: 'distinct queries, of bare', id: 'distinct', min: DISTINCT },
  { what: 'Bun, of bare', id: 'bun', min: BUN },
  { what: 'Deno, of bare', id: 'deno', min: DENO },
  { what: 'in @whatwg-node/server, of it', id: 'in-whatwg', min: HOSTS },
  { what: 'in @hono/node-server, of it', id: 'in-hono', min: HOSTS },
  { what: 'in srvx, of it', id: 'in-srvx', min: HOSTS },
  { what: 'in h3, of it', id: 'in-h3', min: HOSTS },
  { what: 'in Express 5, of a route of it', id: 'in-express', min: EXPRESS },
  { what: 'limited by address, of unlimited', id: 'limited', min: BY_ADDRESS },
  { what: 'with keys and limits, of unlimited', id: 'keyed', min: WITH_KEY },
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
    for (const { what, id, min } of GOALS) {
      const own = samples.get(id)
      const least = min[sheet]
      if (own && least !== undefined) verdicts.push(...checkCpu(`${sheet}: ${what}`, own, least))
    }
    const direct = samples.get('direct')
    for (const framework of direct ? BEHIND : []) {
      const other = samples.get(framework)
      if (direct && other) verdicts.push(checkBehind(`${sheet}: ${framework}`, direct, other))
    }
    if (direct && sheet === 'convert') verdicts.push(checkLatency(`${sheet}: Node`, direct))
  }
  return verdicts
}

export function lineOf({ isReached, text }: Verdict): string {
  return `- ${isReached ? 'ok' : 'missed'}: ${text}`
}

/** Checks a goal, and whether the halves of the rounds agree about it. */
function checkCpu(what: string, samples: readonly Sample[], min: number): Verdict[] {
  const all = ratiosByCpu(samples)
  const goal = { isReached: median(all) >= min, text: `${what}: ${ratioText(all)}, goal: ${min}` }
  const halves = [0, 1].map((odd) => median(all.filter((_, round) => round % 2 === odd)))
  const difference = Math.abs((halves[0] ?? NaN) / (halves[1] ?? NaN) - 1)
  if (difference <= MAX_DIFFERENCE) return [goal]
  const text = `${what}: even and odd rounds differ by ${(100 * difference).toFixed(1)} %, limit: 4 %; the machine is too busy`
  return [goal, { isReached: false, text }]
}

function checkBehind(what: string, direct: readonly Sample[], other: readonly Sample[]): Verdict {
  // Both by the bare server: the speed of the machine may have changed between the two.
  const ratio = median(ratiosByCpu(direct)) / median(ratiosByCpu(other))
  return {
    isReached: ratio > 1,
    text: `${what} takes ${ratio.toFixed(2)} times our CPU per request, goal: more than 1`,
  }
}

function checkLatency(what: string, samples: readonly Sample[]): Verdict {
  const ratio = median(ratios(samples, 'p99'))
  return {
    isReached: ratio <= MAX_P99_RATIO,
    text: `${what}: p99 ${ratio.toFixed(2)} times that of bare, goal: at most ${MAX_P99_RATIO}`,
  }
}

export function medianOf(samples: readonly Sample[], quantity: Quantity): number {
  return median(samples.map((sample) => sample[quantity]))
}

type Quantity = Exclude<keyof Sample, 'reference'>

/** Returns how much of the speed of its reference a server has, by CPU time; 1 without one. */
function ratiosByCpu(samples: readonly Sample[]): number[] {
  return ratios(samples, 'cpu').map((ratio) => 1 / ratio)
}

function ratios(samples: readonly Sample[], quantity: Quantity): number[] {
  return samples.map((sample) => sample[quantity] / (sample.reference ?? sample)[quantity])
}

/** Returns the median of ratios, and its interval. */
function ratioText(values: readonly number[]): string {
  const [low, high] = medianInterval(values)
  return `${median(values).toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`
}
