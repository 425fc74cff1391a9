import { measure } from 'mitata'

import { median, medianInterval } from '../figures.ts'

/** A function of the package, and the reference for its time. */
export interface Comparison {
  name: string
  ours: () => unknown
  reference: { name: string; run: () => unknown }
  /** Largest ratio to the reference; absent without a goal. */
  goal?: number
  /** Mean time of a call, its mean CPU time on all threads, or the longest block of the event loop (default `time`). */
  measures?: 'time' | 'cpu-time' | 'loop-delay'
}

/** Result of a comparison. Means in microseconds, each the median over the rounds. */
export interface Outcome {
  ours: number
  reference: number
  /** Median of the ratios of the rounds. */
  ratio: number
  /** Contains the true median of the ratios with 95 %. */
  interval: readonly [low: number, high: number]
}

export interface Effort {
  rounds: number
  /** Shortest time per function and round, in ms. */
  time: number
  /** Calls timed as one, if a single call is too short for the clock. */
  batch: number
}

/** Measures both functions alternately in this process, so that other load on the machine affects both. */
export async function compare(
  { ours, reference, measures = 'time' }: Comparison,
  { rounds, time, batch }: Effort,
): Promise<Outcome> {
  const results: Omit<Outcome, 'interval'>[] = []
  for (let round = 0; round < rounds; round += 1) {
    const meanOf = async (run: () => unknown): Promise<number> =>
      measures === 'cpu-time' ? cpuTimeOf(run, time) : timeOf(run, time, batch)
    const taken = measures === 'loop-delay' ? await longestBlockOf(ours) : await meanOf(ours)
    const allowed = await meanOf(reference.run)
    results.push({ ours: taken, reference: allowed, ratio: taken / allowed })
  }
  const ratios = results.map(({ ratio }) => ratio)
  return {
    ours: median(results.map(({ ours: taken }) => taken)),
    reference: median(results.map(({ reference: allowed }) => allowed)),
    ratio: median(ratios),
    interval: medianInterval(ratios),
  }
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

/** Returns the mean CPU time of a call, on all threads, garbage collection included, in microseconds. */
export async function cpuTimeOf(run: () => unknown, time: number): Promise<number> {
  const started = process.cpuUsage()
  for (let calls = 1; ; calls += 1) {
    await run()
    const { user, system } = process.cpuUsage(started)
    if (user + system >= time * 1_000) return (user + system) / calls
  }
}

/** Returns the longest block of the event loop while `run` runs, in microseconds of CPU. */
export async function longestBlockOf(run: () => unknown): Promise<number> {
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
