import { measure } from 'mitata'

import { median } from '../median.ts'

/** A function of ours, and what its time is compared with. */
export interface Comparison {
  name: string
  ours: () => unknown
  reference: { name: string; run: () => unknown }
  /** Most times the reference that ours may take; absent where it is only shown. */
  goal?: number
  /** Whether only the longest turn of the event loop counts while ours runs (default false). */
  isLongestTurn?: boolean
}

/** What a comparison came to. Times are means in microseconds, of each the median of the rounds. */
export interface Outcome {
  ours: number
  reference: number
  /** The median of the ratios of the rounds. */
  ratio: number
}

/** How long is measured. */
export interface Effort {
  rounds: number
  /** For how long a function is called at least in a round, in ms. */
  time: number
  /** How many calls are timed as one where a single one is too short for the clock. */
  batch: number
}

/** Measures both functions in turns, in this process: whatever the machine does meanwhile meets both. */
export async function compare(
  { ours, reference, isLongestTurn }: Comparison,
  { rounds, time, batch }: Effort,
): Promise<Outcome> {
  const results: Outcome[] = []
  for (let round = 0; round < rounds; round += 1) {
    const taken = isLongestTurn ? await longestTurnOf(ours) : await timeOf(ours, time, batch)
    const allowed = await timeOf(reference.run, time, batch)
    results.push({ ours: taken, reference: allowed, ratio: taken / allowed })
  }
  const medianOf = (figure: keyof Outcome): number => median(results.map((each) => each[figure]))
  return { ours: medianOf('ours'), reference: medianOf('reference'), ratio: medianOf('ratio') }
}

/** The mean time of a call with the collection of its garbage, in microseconds. */
async function timeOf(run: () => unknown, time: number, batch: number): Promise<number> {
  const { avg } = await measure(run, {
    min_cpu_time: time * 1e6,
    batch_samples: batch,
    // Where there is no such function, garbage would be made instead of collected before each round.
    ...('gc' in globalThis || 'Bun' in globalThis ? {} : { gc: false }),
  })
  return avg / 1_000
}

/** The longest time between two turns of the event loop while `run` runs, in microseconds. */
async function longestTurnOf(run: () => unknown): Promise<number> {
  let [longest, isOver] = [0, false]
  let turnedAt = clock()
  const turn = (): void => {
    longest = Math.max(longest, clock() - turnedAt)
    turnedAt = clock()
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await run()
  // The last turn ends behind it.
  await new Promise(setImmediate)
  isOver = true
  return longest
}

/** Microseconds that this thread has computed, where the runtime knows; other processes take none of them. */
function clock(): number {
  if (!process.threadCpuUsage) return performance.now() * 1_000
  const { user, system } = process.threadCpuUsage()
  return user + system
}
