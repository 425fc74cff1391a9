/**
 * Runs simulations: `npm run simulate -- --seeds 500 --days 30`.
 *
 *   --seeds N    number of seeds, from --first on (default 100 from 1)
 *   --seed N     runs a single seed
 *   --days D     virtual days of each seed (default 30)
 *   --jobs J     threads (default one per core)
 *   --faults RE  injects only faults with matching names, all of them (default a random part of all)
 *   --trace      prints every event of the first seed, and runs no other seed
 *
 * On the first violation it prints the seed, the virtual time, the invariant and the command that reproduces it, and exits
 * with 1. The same seed and code always produce the same simulation.
 */
import { writeSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'

import { simulate } from './simulate.ts'
import type { Report } from './simulate.ts'
import type { Settings } from './world/fleet.ts'
import { hash } from './world/random.ts'

/** Every `step`-th seed from `first` up to, not including, `end`. */
type Share = Record<'first' | 'end' | 'step' | 'days', number> & { settings: Partial<Settings> }

await (isMainThread ? main() : work(workerData))

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '100' },
      first: { type: 'string', default: '1' },
      seed: { type: 'string' },
      days: { type: 'string', default: '30' },
      jobs: { type: 'string', default: String(availableParallelism()) },
      faults: { type: 'string' },
      trace: { type: 'boolean', default: false },
    },
  })
  const first = toCount('seed', values.seed ?? values.first)
  const seeds = values.seed === undefined ? toCount('seeds', values.seeds) : 1
  const [days, jobs] = [toCount('days', values.days), toCount('jobs', values.jobs)]
  const settings =
    values.faults === undefined ? {} : { faultNames: new RegExp(values.faults), faultShare: 1 }
  const startedAt = performance.now()
  try {
    const step = Math.max(1, Math.min(jobs, seeds))
    const all = { first, end: first + seeds, step, days, settings }
    // Output is synchronous, so that lines printed before a crash are not lost.
    const print = (line: string): void => void writeSync(1, `${line}\n`)
    const reports = values.trace
      ? [await simulate({ seed: first, days, settings, print })]
      : await runAll(all)
    process.stdout.write(`${summarize(reports, days, performance.now() - startedAt)}\n`)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  }
}

/** Runs `share` on several threads; resolves to the reports in the order of the seeds, or rejects with the first violation. */
async function runAll(share: Share): Promise<Report[]> {
  const reports = new Map<number, Report>()
  const finish = (_: unknown, job: number): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const part: Share = { ...share, first: share.first + job }
      new Worker(new URL(import.meta.url), { workerData: part })
        .on('message', ({ seed, report }) => reports.set(seed, report))
        .on('error', reject)
        .on('exit', resolve)
    })
  // The caller exits after the first failure, which ends the other threads.
  await Promise.all(Array.from({ length: share.step }, finish))
  return [...reports].sort(([one], [other]) => one - other).map(([, report]) => report)
}

/** A violation ends the thread, and is its error. */
async function work({ first, end, step, days, settings }: Share): Promise<void> {
  for (let seed = first; seed < end; seed += step) {
    const report = await simulate({ seed, days, settings })
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origins
    parentPort?.postMessage({ seed, report })
  }
}

/** Returns a summary of `reports`, which took `elapsed` ms: a few lines, the last one a digest of all runs. */
function summarize(reports: readonly Report[], days: number, elapsed: number): string {
  const sum = (count: (report: Report) => number): number =>
    reports.reduce((total, report) => total + count(report), 0)
  const years = (reports.length * days) / 365
  const injected = new Map<string, number>()
  for (const [name, count] of reports.flatMap((report) => [...report.injected])) {
    injected.set(name, (injected.get(name) ?? 0) + count)
  }
  const kinds = [...injected].sort(([one], [other]) => (one < other ? -1 : 1))
  return [
    `faults: ${kinds.map(([name, count]) => `${name} ×${count}`).join('; ')}`,
    `${reports.length} seeds of ${days} days, ${sum(({ events }) => events)} events, ` +
      `${sum(({ requests }) => requests)} requests, ` +
      `${sum(({ upstreamCalls }) => upstreamCalls.latest + upstreamCalls.history)} upstream calls, ` +
      `${kinds.reduce((total, [, count]) => total + count, 0)} faults of ${kinds.length} kinds, ` +
      `${((years * 1_000) / elapsed).toFixed(2)} virtual years per second`,
    `digest ${(hash(reports.map(({ digest }) => digest).join()) >>> 0).toString(16)}`,
  ].join('\n')
}

function toCount(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  process.stderr.write(`--${name} must be a whole number, got ${text}\n`)
  return process.exit(2)
}
