import { measure } from 'mitata'

import { median } from '../median.ts'

/** A function of ours, and what its time is compared with. */
export interface Comparison {
  name: string
  ours: () => unknown
  reference: { name: string; run: () => unknown }
  /** Most times the reference that ours may take; absent where it is only shown. */
  goal?: number
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
  { ours, reference }: Comparison,
  { rounds, time, batch }: Effort,
): Promise<Outcome> {
  const results: Outcome[] = []
  for (let round = 0; round < rounds; round += 1) {
    const taken = await timeOf(ours, time, batch)
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
