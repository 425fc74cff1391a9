import type { LoadLine } from './load-program.ts'

/** Latencies of the responses to requests of a period, in ms. */
export interface Latencies {
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
      const sorted = responses
        .filter(([at]) => at >= from && at < from + duration)
        .map(([, latency]) => latency)
        .sort((one, other) => one - other)
      const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? NaN
      return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
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
