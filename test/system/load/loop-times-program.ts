// Preloaded into a server (`--import`): writes a `LoopTimes` for the time since SIGUSR2 to stderr at the end of the
// process.
import { writeSync } from 'node:fs'

/** CPU time of the main thread between samples of the event loop, in ms. */
export interface LoopTimes {
  /** Iterations longer than this take up a twentieth of the time: a request at a random moment rarely waits longer. */
  p95: number
  longest: number
}

let iterations: number[] = []
let last = process.threadCpuUsage()

setInterval(() => {
  const { user, system } = process.threadCpuUsage(last)
  last = process.threadCpuUsage()
  iterations.push((user + system) / 1_000)
}, 1).unref()

process.on('SIGUSR2', () => (iterations = []))
process.on('exit', () => writeSync(2, `${JSON.stringify(toLine())}\n`))

function toLine(): LoopTimes {
  const sorted = iterations.toSorted((one, other) => other - one)
  const twentieth = iterations.reduce((sum, iteration) => sum + iteration, 0) / 20
  let passed = 0
  const p95 = sorted.find((iteration) => (passed += iteration) >= twentieth) ?? NaN
  return { p95, longest: sorted[0] ?? NaN }
}
