/**
 * Runs simulations: `npm run simulate -- --seeds 500 --days 30`.
 *
 *   --seeds N    how many, from --first on (default 100 from 1)
 *   --seed N     this one alone
 *   --days D     virtual days of each (default 30)
 *   --jobs J     threads (default as many as there are cores)
 *   --faults RE  only faults whose names match, all of them (default a random part of all)
 *   --trace      prints everything that happens with the first seed, and runs no other
 *
 * A broken promise ends it with the seed, the virtual time, the invariant and the command that shows it again. One seed
 * and one version of the code always give the same simulation.
 */
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'

import { runAll, runTraced } from './jobs.ts'
import { summarize } from './summary.ts'

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

const startedAt = performance.now()
const run = values.trace ? runTraced : runAll
const reports = await run({
  first: toCount('seed', values.seed ?? values.first),
  seeds: values.seed === undefined ? toCount('seeds', values.seeds) : 1,
  days: toCount('days', values.days),
  jobs: toCount('jobs', values.jobs),
  settings:
    values.faults === undefined ? {} : { faultNames: new RegExp(values.faults), faultShare: 1 },
}).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  return process.exit(1)
})
process.stdout.write(`${summarize(reports, Number(values.days), performance.now() - startedAt)}\n`)

function toCount(name: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  process.stderr.write(`--${name} must be a whole number, got ${text}\n`)
  return process.exit(2)
}
