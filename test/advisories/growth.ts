/** Twice the input may take this many times as long: 2, and some room for the machine's moods. */
export const LIMIT = 2.6

const FEWEST_ROUNDS = 15
/** For how long a ratio above the limit is given another chance, in ms. */
const PATIENCE_MS = 2_500
/** A sample is repeated until it takes this long, in ms: far above the grain of timers, but below a turn of the scheduler. */
const SAMPLE_MS = 1

/** What is measured. */
export type Work = () => unknown

/**
 * How many times as long `twice` takes as `once`. Of either the shortest of many samples counts, taken in turns: a busy
 * machine only ever adds to them, and what it adds to the longer one more often says nothing about the work.
 */
export async function growth(once: Work = () => {}, twice: Work = () => {}): Promise<number> {
  const repeats = await repeatsFor(once)
  let [least, leastOfTwice] = [Infinity, Infinity]
  const end = performance.now() + PATIENCE_MS
  for (let round = 1; performance.now() < end; round += 1) {
    least = Math.min(least, await timeOf(once, repeats))
    leastOfTwice = Math.min(leastOfTwice, await timeOf(twice, repeats))
    if (round >= FEWEST_ROUNDS && leastOfTwice <= LIMIT * least) break
  }
  return leastOfTwice / least
}

async function repeatsFor(work: Work): Promise<number> {
  await timeOf(work, 3)
  let repeats = 1
  while ((await timeOf(work, repeats)) < SAMPLE_MS) repeats *= 2
  return repeats
}

async function timeOf(work: Work, repeats: number): Promise<number> {
  const start = performance.now()
  for (let count = 0; count < repeats; count += 1) await work()
  return performance.now() - start
}

/** What takes less than this has no growth worth a word, in ms. */
const NOTHING_MS = 20

/**
 * The lengths that are tried, one after another until one takes its time: what doubles with every character, or grows with
 * the third power of their number, would never come to the end of the longest.
 */
const LENGTHS = [24, 200, 1_000, 6_000, 40_000]

/**
 * The first of `pieces` that `workOf` takes too long for when there are again and again of it, one behind the other: more
 * than in proportion to the text.
 */
export async function findGrowth(
  workOf: (text: string) => Work,
  pieces: readonly (readonly [before: string, piece: string])[],
): Promise<string | undefined> {
  for (const [before, piece] of pieces) {
    const workFor = (length: number): Work =>
      workOf(`${before}${piece.repeat(Math.ceil(length / piece.length))}!`)
    const slow = await firstSlow(workFor)
    if (slow === undefined) continue
    const ratio = await growth(workFor(slow / 2), workFor(slow))
    if (ratio > LIMIT) return `${JSON.stringify(before + piece)}: ${ratio.toFixed(1)} times`
  }
  return undefined
}

async function firstSlow(workFor: (length: number) => Work): Promise<number | undefined> {
  for (const length of LENGTHS) {
    const work = workFor(length)
    let least = Infinity
    for (let round = 0; round < 3 && least > NOTHING_MS; round += 1) {
      least = Math.min(least, await timeOf(work, 1))
    }
    if (least > NOTHING_MS) return length
  }
  return undefined
}
