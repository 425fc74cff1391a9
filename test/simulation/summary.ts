import type { Report } from './simulate.ts'
import { hash } from './world/random.ts'

const YEAR_DAYS = 365

/** What `reports` of so many days each, which took `elapsed` ms, come to: a few lines, the last one a digest of all. */
export function summarize(reports: readonly Report[], days: number, elapsed: number): string {
  const sum = (count: (report: Report) => number): number =>
    reports.reduce((total, report) => total + count(report), 0)
  const years = (reports.length * days) / YEAR_DAYS
  const injected = countAll(reports)
  const kinds = [...injected].sort(([one], [other]) => (one < other ? -1 : 1))
  return [
    `faults: ${kinds.map(([name, count]) => `${name} ×${count}`).join('; ')}`,
    `${reports.length} seeds of ${days} days, ${sum(({ events }) => events)} events, ` +
      `${sum(({ requests }) => requests)} requests, ` +
      `${sum(({ upstreamCalls }) => upstreamCalls.latest + upstreamCalls.history)} upstream calls, ` +
      `${kinds.reduce((total, [, count]) => total + count, 0)} faults of ${kinds.length} kinds, ` +
      `${((years * 1_000) / elapsed).toFixed(2)} virtual years a second`,
    `digest ${(hash(reports.map(({ digest }) => digest).join()) >>> 0).toString(16)}`,
  ].join('\n')
}

function countAll(reports: readonly Report[]): ReadonlyMap<string, number> {
  const total = new Map<string, number>()
  for (const { injected } of reports) {
    for (const [name, count] of injected) total.set(name, (total.get(name) ?? 0) + count)
  }
  return total
}
