import type { LoadLine } from './load-program.ts'

/** Latencies of the answers to the questions of some time, in ms. */
export interface Latencies {
  count: number
  p50: number
  p99: number
  max: number
}

/** Everything that a load program has told. */
export interface LoadRecord {
  add(line: LoadLine): void
  /** Answers by status. */
  statuses: Record<string, number>
  /** What was wrong with answers. */
  wrong: string[]
  /** How many answers there were. */
  answered(): number
  /** How many answers were 5xx. */
  failures(): number
  /** Latencies of the questions from the instant `from` (ms since the Unix epoch) for `duration` ms. */
  latencies(from: number, duration: number): Latencies
  /** Forgets the latencies of all questions so far. */
  forget(): void
}

/** A record of nothing yet. */
export function createLoadRecord(): LoadRecord {
  const statuses: Record<string, number> = {}
  const wrong: string[] = []
  let answers: LoadLine['answers'] = []
  return {
    statuses,
    wrong,
    add(line) {
      for (const answer of line.answers) answers.push(answer)
      wrong.push(...line.wrong)
      for (const [status, count] of Object.entries(line.statuses)) {
        statuses[status] = (statuses[status] ?? 0) + count
      }
    },
    answered: () => countOf(() => true),
    failures: () => countOf((status) => status >= 500),
    latencies(from, duration) {
      const sorted = answers
        .filter(([at]) => at >= from && at < from + duration)
        .map(([, latency]) => latency)
        .sort((one, other) => one - other)
      const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? NaN
      return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) }
    },
    forget() {
      answers = []
    },
  }

  function countOf(isCounted: (status: number) => boolean): number {
    return Object.entries(statuses).reduce(
      (sum, [status, count]) => sum + (isCounted(Number(status)) ? count : 0),
      0,
    )
  }
}
