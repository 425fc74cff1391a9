/** Maximum CPU time ratio for four times the input: 4 plus a margin for compiler and garbage collector. Quadratic work has 16. */
export const LIMIT = 8

/** Shorter CPU times are too small to measure growth. */
const NEGLIGIBLE_MS = 6

/** A ratio counts only if it exceeds the limit in all samples: machine load slows down only some of them. */
const SAMPLES = 3

/**
 * Input lengths, tried in order until one is slow: exponential or cubic work would never finish with the longest.
 */
const LENGTHS = [22, 300, 5_000]

/** Texts that an attacker can repeat. */
const PIECES = [
  'a A 0 1 9 . - + e E _ : ; , = & ? # @ / \\ % [ ] ( ) < > " \' * ! ~ | ^ N'.split(' '),
  [' ', '\t', '\n', '\r', '\r\n', '\u00a0', '\0', 'é', '\u2028', '\ud800', '💵'],
  'a, a; a= a=& &= %2 %2C %C3 %0 [] ?? // /. /./ /../ /%2e \\/ 1. .1 1e 1e+ -1 00'.split(' '),
  [', ', ' ,', ' , ', '; ', '"a", ', '"\n', ' b="c"', " b='", '<?xml ', 'PK\u0005\u0006'],
  'EUR EUR, "" "," "a", W/"a", <a <a> <a/> </a> -- ?> <!-- {"a": [1,'.split(' '),
  'a;q= ;q=1 q=1, *; gzip,'.split(' '),
].flat()

export type Work = () => unknown

/**
 * Returns the ratio of the CPU time of `fourTimes`, with four times the input, to that of `once`. Uses the smallest sample of
 * each. CPU time excludes other processes, so a busy machine does not matter.
 */
export async function growth(once: Work, fourTimes: Work): Promise<number> {
  const fourOnce = async (): Promise<void> => {
    for (let count = 0; count < 4; count += 1) await once()
  }
  // Also warms up: code that is not compiled yet is slower and would hide the growth.
  if ((await cpuMsOf(fourTimes)) <= NEGLIGIBLE_MS) return 1
  let [smallest, smallestOfFour] = [Infinity, Infinity]
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    smallest = Math.min(smallest, (await cpuMsOf(fourOnce)) / 4)
    smallestOfFour = Math.min(smallestOfFour, await cpuMsOf(fourTimes))
    if (smallestOfFour <= NEGLIGIBLE_MS || smallestOfFour <= LIMIT * smallest) break
  }
  return smallestOfFour <= NEGLIGIBLE_MS ? 1 : smallestOfFour / smallest
}

/**
 * Returns the first repeated piece after one of `starts` for which the time of `workOf` grows faster than the text, or
 * `undefined`.
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
    if ((await cpuMsOf(work)) > NEGLIGIBLE_MS) return length
  }
  return undefined
}

async function cpuMsOf(work: Work): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}
