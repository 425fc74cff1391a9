// Preloaded into a server (`--import`): writes a `TurnsLine` to stderr when the process ends, about the time since SIGUSR2.
import { writeSync } from 'node:fs'

/** Processor time of the main thread between looks at the event loop, in ms. */
export interface TurnsLine {
  /** For a twentieth of the time turns are longer: a request that comes at any moment rarely waits for more. */
  p95: number
  longest: number
}

let turns: number[] = []
let last = process.threadCpuUsage()

setInterval(() => {
  const { user, system } = process.threadCpuUsage(last)
  last = process.threadCpuUsage()
  turns.push((user + system) / 1_000)
}, 1).unref()

process.on('SIGUSR2', () => (turns = []))
process.on('exit', () => writeSync(2, `${JSON.stringify(toLine())}\n`))

function toLine(): TurnsLine {
  const sorted = turns.toSorted((one, other) => other - one)
  const twentieth = turns.reduce((sum, turn) => sum + turn, 0) / 20
  let passed = 0
  const p95 = sorted.find((turn) => (passed += turn) >= twentieth) ?? NaN
  return { p95, longest: sorted[0] ?? NaN }
}
