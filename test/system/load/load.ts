import { startChild } from '../child.ts'
import type { Child } from '../child.ts'
import { percentile } from '../../../bench/figures.ts'

export interface LoadSettings {
  /** Servers, which get the requests alternately. */
  urls: string[]
  /** Requests per second. */
  rate: number
  /** Share of requests that are aborted before the response (default 0). */
  aborted?: number
  /** Share of requests from the catalogue of bad inputs (default 0). */
  hostile?: number
}

/** Results of the last quarter of a second. */
export interface LoadLine {
  /** When each request was due, in ms since the Unix epoch, and the time from then to its response in ms. */
  responses: [at: number, latency: number][]
  statuses: Record<string, number>
  /** The first few problems. */
  wrong: string[]
}

/** Starts `load-program.ts`. The caller must kill it. */
export function startLoad(settings: LoadSettings, onLine: (line: LoadLine) => void): Child {
  return startChild({
    program: 'test/system/load/load-program.ts',
    settings,
    onLine: (line) => onLine(JSON.parse(line)),
  })
}

/** Latencies of the responses to requests of a period, in ms. */
interface Latencies {
  count: number
  p50: number
  p99: number
  max: number
}

/** Everything that a load program has reported. */
export interface LoadRecord {
  add(line: LoadLine): void
  statuses: Record<string, number>
  wrong: string[]
  responseCount(): number
  /** Number of 5xx responses. */
  failureCount(): number
  /** Latencies of the requests due from `from` (ms since the Unix epoch) for `duration` ms. */
  latencies(from: number, duration: number): Latencies
  /** Drops the latencies of all requests so far. */
  forget(): void
}

export function createLoadRecord(): LoadRecord {
  const statuses: Record<string, number> = {}
  const wrong: string[] = []
  let responses: LoadLine['responses'] = []
  return {
    statuses,
    wrong,
    add(line) {
      for (const response of line.responses) responses.push(response)
      wrong.push(...line.wrong)
      for (const [status, count] of Object.entries(line.statuses)) {
        statuses[status] = (statuses[status] ?? 0) + count
      }
    },
    responseCount: () => countOf(() => true),
    failureCount: () => countOf((status) => status >= 500),
    latencies(from, duration) {
      const latencies = responses
        .filter(([at]) => at >= from && at < from + duration)
        .map(([, latency]) => latency)
      const at = (share: number): number => percentile(latencies, share)
      return { count: latencies.length, p50: at(0.5), p99: at(0.99), max: at(1) }
    },
    forget() {
      responses = []
    },
  }

  function countOf(isCounted: (status: number) => boolean): number {
    return Object.entries(statuses).reduce(
      (sum, [status, count]) => sum + (isCounted(Number(status)) ? count : 0),
      0,
    )
  }
}
