/** Four times the input may take this many times the CPU time: 4, and room for compilers and collectors; a square takes 16. */
export const LIMIT = 8

/** What takes less CPU time than this has no growth worth a measure, in ms. */
const NEGLIGIBLE_MS = 6

/** How many samples are taken before a ratio above the limit counts; load on a machine only ever adds to some of them. */
const SAMPLES = 3

/**
 * The lengths that are tried, one after another until one takes its time: what doubles with every character, or grows with
 * the third power of their number, would never come to the end of the longest.
 */
const LENGTHS = [22, 300, 5_000]

/** What a stranger may send again and again. */
const PIECES = [
  'a A 0 1 9 . - + e E _ : ; , = & ? # @ / \\ % [ ] ( ) < > " \' * ! ~ | ^ N'.split(' '),
  [' ', '\t', '\n', '\r', '\r\n', '\u00a0', '\0', 'é', '\u2028', '\ud800', '💵'],
  'a, a; a= a=& &= %2 %2C %C3 %0 [] ?? // /. /./ /../ /%2e \\/ 1. .1 1e 1e+ -1 00'.split(' '),
  [', ', ' ,', ' , ', '; ', '"a", ', '"\n', ' b="c"', " b='", '<?xml ', 'PK\u0005\u0006'],
  'EUR EUR, "" "," "a", W/"a", <a <a> <a/> </a> -- ?> <!-- {"a": [1,'.split(' '),
  'a;q= ;q=1 q=1, *; gzip,'.split(' '),
].flat()

/** What is measured. */
export type Work = () => unknown

/**
 * Returns how many times the CPU time of `once` is the CPU time of `fourTimes`, which has four times the input. The smallest
 * of some samples of either counts. Other processes take none of this time, however busy the machine is.
 */
export async function growth(once: Work, fourTimes: Work): Promise<number> {
  const fourOnce = async (): Promise<void> => {
    for (let count = 0; count < 4; count += 1) await once()
  }
  // Also warms up: what is not compiled yet takes longer, and would make the growth look smaller.
  if ((await cpuTimeOf(fourTimes)) <= NEGLIGIBLE_MS) return 1
  let [smallest, smallestOfFour] = [Infinity, Infinity]
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    smallest = Math.min(smallest, (await cpuTimeOf(fourOnce)) / 4)
    smallestOfFour = Math.min(smallestOfFour, await cpuTimeOf(fourTimes))
    if (smallestOfFour <= NEGLIGIBLE_MS || smallestOfFour <= LIMIT * smallest) break
  }
  return smallestOfFour <= NEGLIGIBLE_MS ? 1 : smallestOfFour / smallest
}

/**
 * Returns the first repeated piece behind one of `starts` that `workOf` takes too long for, more than in proportion to the
 * text; `undefined` where there is none.
 */
export async function findGrowth(
  workOf: (text: string) => Work,
  starts: readonly string[],
): Promise<string | undefined> {
  for (const start of starts) {
    for (const piece of PIECES) {
      const workFor = (length: number): Work =>
        workOf(`${start}${piece.repeat(Math.ceil(length / piece.length))}!`)
      const slow = await firstSlow(workFor)
      if (slow === undefined) continue
      const ratio = await growth(workFor(slow / 4), workFor(slow))
      if (ratio > LIMIT) return `${JSON.stringify(start + piece)}: ${ratio.toFixed(1)} times`
    }
  }
  return undefined
}

async function firstSlow(workFor: (length: number) => Work): Promise<number | undefined> {
  for (const length of LENGTHS) {
    const work = workFor(length)
    if ((await cpuTimeOf(work)) > NEGLIGIBLE_MS) return length
  }
  return undefined
}

/** In ms. */
async function cpuTimeOf(work: Work): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
