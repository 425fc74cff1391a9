import { beforeAll, describe, expect, test } from 'vitest'

import { createCountingHandler, entries, toQuestion } from './catalogue.ts'
import type { Question } from './catalogue.ts'

/** Twice the input may take this many times as long: 2, and some room for the machine's moods. */
const LIMIT = 2.6
/**
 * Length of the smaller input: long enough for the size to outweigh everything else, and short enough for both to be
 * kept alike by engines, whose longest texts are a kind of their own, and to be answered within one turn of the scheduler.
 */
const CHARACTERS = 20_000
const FEWEST_ROUNDS = 15
/** For how long a ratio above the limit is given another chance, in ms. */
const PATIENCE_MS = 2_500
/** A sample is repeated until it takes this long, in ms: far above the grain of timers, but below a turn of the scheduler. */
const SAMPLE_MS = 1

type Work = () => unknown

const { handler } = createCountingHandler()

beforeAll(() => handler.refresh())

describe('twice the input takes at most twice the time', { timeout: 30_000 }, () => {
  const linear = entries.filter((entry) => entry.expect.invariants?.includes('linear'))

  test.each(linear)('$id', async (entry) => {
    const scale = CHARACTERS / lengthOf(await toQuestion(handler, entry))
    const [once, twice] = await Promise.all(
      [scale, 2 * scale].map(async (size): Promise<Work> => {
        const { method, target, headers = {} } = await toQuestion(handler, entry, size)
        return () => handler.answer({ method, target, header: (name) => headers[name] })
      }),
    )
    expect(await growth(once, twice)).toBeLessThanOrEqual(LIMIT)
  })
})

describe('the measure', { timeout: 30_000 }, () => {
  test('lets linear work pass', async () => {
    const text = 'a;'.repeat(100_000)
    const ratio = await growth(
      () => scan(text, text.length / 2),
      () => scan(text, text.length),
    )
    expect(ratio).toBeLessThanOrEqual(LIMIT)
  })

  test('finds quadratic work', async () => {
    const text = 'a;'.repeat(500)
    const ratio = await growth(
      () => scanAgainAndAgain(text, text.length / 2),
      () => scanAgainAndAgain(text, text.length),
    )
    expect(ratio).toBeGreaterThan(LIMIT)
  })
})

/**
 * How many times as long `twice` takes as `once`. Of either the shortest of many samples counts, taken in turns: a busy
 * machine only ever adds to them, and what it adds to the longer one more often says nothing about the work.
 */
async function growth(once: Work = () => {}, twice: Work = () => {}): Promise<number> {
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

function lengthOf({ target, headers }: Question): number {
  return target.length + JSON.stringify(headers).length
}

function scan(text: string, end: number): number {
  let found = 0
  for (let index = 0; index < end; index += 1) if (text.charCodeAt(index) === 59) found += 1
  return found
}

function scanAgainAndAgain(text: string, end: number): number {
  let found = 0
  for (let index = 0; index < end; index += 1) found += scan(text, index)
  return found
}
