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

/** Collects everything that a load program reports. */
export function createLoadRecord() {
  const statuses: Record<string, number> = {}
  const wrong: string[] = []
  let responses: LoadLine['responses'] = []
  const countOf = (isCounted: (status: number) => boolean): number =>
    Object.entries(statuses).reduce(
      (sum, [status, count]) => sum + (isCounted(Number(status)) ? count : 0),
      0,
    )
  return {
    statuses,
    wrong,
    add(line: LoadLine): void {
      for (const response of line.responses) responses.push(response)
      wrong.push(...line.wrong)
      for (const [status, count] of Object.entries(line.statuses)) {
        statuses[status] = (statuses[status] ?? 0) + count
      }
    },
    responseCount: () => countOf(() => true),
    failureCount: () => countOf((status) => status >= 500),
    /** Latencies in ms of the requests due from `from` (ms since the Unix epoch) for `duration` ms. */
    latencies(from: number, duration: number) {
      const latencies = responses
        .filter(([at]) => at >= from && at < from + duration)
        .map(([, latency]) => latency)
      return { count: latencies.length, p99: percentile(latencies, 0.99) }
    },
    /** Drops the latencies of all requests so far. */
    forget(): void {
      responses = []
    },
  }
}
