import { writeSync } from 'node:fs'
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'

import { simulate } from './simulate.ts'
import type { Report } from './simulate.ts'
import type { Settings } from './world/settings.ts'

/** Simulations of several seeds. */
export interface Batch {
  first: number
  seeds: number
  days: number
  /** How many threads to use. */
  jobs: number
  /** Settings that are not left to the seeds. */
  settings: Partial<Settings>
}

/** Every so many-th seed of a batch. */
interface Share extends Batch {
  step: number
  /** The first seed that is not in the batch. */
  end: number
}

type Outcome = { seed: number; report: Report } | { seed: number; failure: string }

/**
 * Runs a batch on several threads; the reports are in the order of the seeds.
 *
 * @throws {Error} the message of the first violation
 */
export async function runAll(batch: Batch): Promise<Report[]> {
  const reports = new Map<number, Report>()
  const jobs = Math.max(1, Math.min(batch.jobs, batch.seeds))
  const end = batch.first + batch.seeds
  const workers = Array.from({ length: jobs }, (_, job) => {
    const share: Share = { ...batch, first: batch.first + job, step: jobs, end }
    return new Worker(new URL(import.meta.url), { workerData: share })
  })
  try {
    await Promise.all(
      workers.map((worker) => finished(worker, (seed, report) => reports.set(seed, report))),
    )
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()))
  }
  return [...reports].sort(([one], [other]) => one - other).map(([, report]) => report)
}

/** Runs the first seed of a batch in this thread, and prints all that happens. */
export async function runTraced({ first, days, settings }: Batch): Promise<Report[]> {
  // Whoever ends the process on a failure must not lose the lines before it.
  const print = (line: string): void => void writeSync(1, `${line}\n`)
  return [await simulate({ seed: first, days, settings, print })]
}

/** Resolves when a worker has done its share; rejects with its first failure. */
function finished(worker: Worker, onReport: (seed: number, report: Report) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    worker
      .on('message', (outcome: Outcome) => {
        if ('report' in outcome) onReport(outcome.seed, outcome.report)
        else reject(new Error(outcome.failure))
      })
      .on('error', reject)
      .on('exit', resolve)
  })
}

async function work({ first, end, step, days, settings }: Share): Promise<void> {
  // Much of what is simulated are failures, and their stacks cost a tenth of the time.
  Error.stackTraceLimit = 0
  for (let seed = first; seed < end; seed += step) {
    const outcome: Outcome = await simulate({ seed, days, settings }).then(
      (report) => ({ seed, report }),
      (error: unknown) => ({
        seed,
        failure: String(error instanceof Error ? error.message : error),
      }),
    )
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- there are no origins between threads
    parentPort?.postMessage(outcome)
    if ('failure' in outcome) return
  }
}

if (!isMainThread) {
  const share: Share = workerData
  await work(share)
}
