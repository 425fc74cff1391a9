import { measure } from 'mitata'

import { median } from '../figures.ts'

/** A function of the package, and the reference for its time. */
export interface Comparison {
  name: string
  ours: () => unknown
  reference: { name: string; run: () => unknown }
  /** Largest ratio to the reference; absent without a goal. */
  goal?: number
  /** Whether to measure the longest block of the event loop instead of the mean time (default false). */
  measuresLoopDelay?: boolean
}

/** Result of a comparison. Means in microseconds, each the median over the rounds. */
export interface Outcome {
  ours: number
  reference: number
  /** Median of the ratios of the rounds. */
  ratio: number
}

/** Duration of a measurement. */
export interface Effort {
  rounds: number
  /** Shortest time per function and round, in ms. */
  time: number
  /** Calls timed as one, if a single call is too short for the clock. */
  batch: number
}

/** Measures both functions alternately in this process, so that other load on the machine affects both. */
export async function compare(
  { ours, reference, measuresLoopDelay }: Comparison,
  { rounds, time, batch }: Effort,
): Promise<Outcome> {
  const results: Outcome[] = []
  for (let round = 0; round < rounds; round += 1) {
    const taken = measuresLoopDelay ? await longestBlockOf(ours) : await timeOf(ours, time, batch)
    const allowed = await timeOf(reference.run, time, batch)
    results.push({ ours: taken, reference: allowed, ratio: taken / allowed })
  }
  const medianOf = (figure: keyof Outcome): number => median(results.map((each) => each[figure]))
  return { ours: medianOf('ours'), reference: medianOf('reference'), ratio: medianOf('ratio') }
}

/** Returns the mean time of a call, garbage collection included, in microseconds. */
async function timeOf(run: () => unknown, time: number, batch: number): Promise<number> {
  const { avg } = await measure(run, {
    min_cpu_time: time * 1e6,
    batch_samples: batch,
    // Without this function, mitata would produce garbage before each round instead of collecting it.
    ...('gc' in globalThis || 'Bun' in globalThis ? {} : { gc: false }),
  })
  return avg / 1_000
}

/** Returns the longest block of the event loop while `run` runs, in microseconds. */
async function longestBlockOf(run: () => unknown): Promise<number> {
  let [longest, isOver] = [0, false]
  let turnedAt = clock()
  const turn = (): void => {
    longest = Math.max(longest, clock() - turnedAt)
    turnedAt = clock()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await run()
  // The last iteration ends after `run`.
  await new Promise(setImmediate)
  isOver = true
  return longest
}

/** Returns the CPU time of this thread in microseconds, or wall time if the runtime does not know it. */
function clock(): number {
  if (!process.threadCpuUsage) return performance.now() * 1_000
  const { user, system } = process.threadCpuUsage()
  return user + system
}
