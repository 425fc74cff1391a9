import { runAtOnce } from '../async.ts'
import type { Slices } from '../async.ts'
import {
  DAY_MS,
  addDays,
  isTargetDay,
  newestPublishedDay,
  publicationInstant,
  toDay,
  toInstant,
} from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import type { HistoryDays, LatestTable } from '../upstream/provider.ts'
import { HISTORY_ANCHORS, OTHER_ANCHORS } from './market-anchors.ts'
import type { Anchor } from './market-anchors.ts'

// Uses only operations that IEEE 754 and ECMAScript define to the last bit: Math.exp, log, pow and sin differ between engines.

const FIRST_DAY = '1999-01-04'

/** Share of its distance from the anchor that a rate recovers per weekday (half of it in 170 weekdays). */
const REVERSION = 0.004

/** After this many weekdays, a rate has recovered from 86 % of a move. */
const RELEVANT_DAYS = 500

const WORKING_DAYS = 252
const WORKING_DAYS_ROOT = 15.8745

/** Five years are computed at once, a longer history in slices of this many calendar days, a few ms each. */
const DAYS_AT_ONCE = 2_000
const DAYS_PER_SLICE = 366

/** A market whose rates depend only on seed, code and date. */
export interface SyntheticMarket {
  latest(instant: number): LatestTable
  history(start: Day, end: Day, instant: number): HistoryDays
  historyInSlices(start: Day, end: Day, instant: number): Slices<HistoryDays>
}

export function createSyntheticMarket(seed: number): SyntheticMarket {
  const anchors = { ...HISTORY_ANCHORS, ...OTHER_ANCHORS }
  const historyCodes = Object.keys(HISTORY_ANCHORS).toSorted()
  const latestCodes = ['EUR', ...Object.keys(anchors)].filter((code) => code !== 'USD').toSorted()
  const euroRate = createEuroRates(seed, anchors)

  function latest(instant: number): LatestTable {
    const day = newestPublishedDay(instant)
    if (day < FIRST_DAY)
      throw new RangeError(`the synthetic market starts on ${FIRST_DAY}, got ${day}`)
    const step = toStep(day)
    const dollars = euroRate('USD', step)
    const rates: Record<string, number> = { USD: 1 }
    for (const code of latestCodes) {
      rates[code] = Number((euroRate(code, step) / dollars).toPrecision(8))
    }
    return { base: 'USD', ...publicationTimes(seed, instant), rates }
  }

  function* historyInSlices(start: Day, end: Day, instant: number): Slices<HistoryDays> {
    const newestDay = newestPublishedDay(instant)
    const firstDay = start > FIRST_DAY ? start : FIRST_DAY
    const lastDay = end < newestDay ? end : newestDay
    const days: HistoryDays['days'] = []
    const isLong = lastDay > addDays(firstDay, DAYS_AT_ONCE)
    let passed = 0
    for (let date = firstDay; date <= lastDay; date = addDays(date, 1)) {
      passed += 1
      if (isLong && passed % DAYS_PER_SLICE === 0) yield
      if (!isTargetDay(date)) continue
      const step = toStep(date)
      const rates: Record<string, number> = {}
      for (const code of historyCodes) rates[code] = euroRate(code, step)
      days.push({ date, rates })
    }
    return { base: 'EUR', days }
  }

  return {
    latest,
    history: (start, end, instant) => runAtOnce(historyInSlices(start, end, instant)),
    historyInSlices,
  }
}

function createEuroRates(
  seed: number,
  anchors: Readonly<Record<string, Anchor>>,
): (code: string, step: number) => number {
  const walks = new Map<string, Walk>()
  return function euroRate(code: string, step: number): number {
    const anchor = anchors[code]
    if (!anchor) return 1
    const [reference, rate, volatility] = anchor
    if (volatility === 0) return euroRate(reference, step) * rate
    let walk = walks.get(code)
    if (!walk) {
      const create = code in HISTORY_ANCHORS ? createWalk : createShortWalk
      walk = create(seed, code, volatility)
      walks.set(code, walk)
    }
    const value = euroRate(reference, step) * rate * walk(step)
    return code in HISTORY_ANCHORS ? toPublishedDigits(value) : value
  }
}

/** Counts weekdays from `FIRST_DAY`, a Monday, to `day`; rates also move on TARGET holidays. */
function toStep(day: Day): number {
  const days = (toInstant(day) - toInstant(FIRST_DAY)) / DAY_MS
  const weeks = Math.floor(days / 7)
  return weeks * 5 + (days - weeks * 7)
}

/** There is a publication every day; the next one is announced 230 to 1990 s late, like that of the open feed. */
function publicationTimes(seed: number, instant: number) {
  const today = toDay(instant)
  const day = publicationInstant(today) > instant ? addDays(today, -1) : today
  const lateness = 230 + (((randomBits(seed, day, 1)[0] ?? 0) >>> 0) % 1761)
  return {
    updatedAt: publicationInstant(day),
    nextUpdateAt: publicationInstant(addDays(day, 1)) + lateness * 1000,
  }
}

/** Rounds to five or six significant digits, like the reference rates of the European Central Bank. */
function toPublishedDigits(value: number): number {
  const scale = value < 1 ? 100_000 : value < 100 ? 10_000 : value < 10_000 ? 100 : 10
  return Math.floor(value * scale + 0.5) / scale
}

type Walk = (step: number) => number

/** Creates the walk of a currency with a history, which is read on all its days. */
function createWalk(seed: number, code: string, volatility: number): Walk {
  let factors: Float64Array = new Float64Array()
  return (step) => {
    if (step >= factors.length) factors = walkSinceFirstDay(seed, code, volatility, step)
    return factors[step] ?? NaN
  }
}

function walkSinceFirstDay(
  seed: number,
  code: string,
  volatility: number,
  step: number,
): Float64Array {
  const factors = new Float64Array(step + WORKING_DAYS)
  const bits = randomBits(seed, code, factors.length)
  const deviation = volatility / 100 / WORKING_DAYS_ROOT
  // Starts with about the long-term spread of the walk, so that the first years look like the last.
  let factor = 1 + 10 * deviation * toNormal(bits[0] ?? NaN)
  factors[0] = factor
  for (let next = 1; next < factors.length; next += 1) {
    factor = move(factor, deviation * toNormal(bits[next] ?? NaN))
    factors[next] = factor
  }
  return factors
}

/**
 * Creates the walk of a currency that has only latest rates, which is read on few days. A day is computed from its last moves
 * alone: from `FIRST_DAY`, the first table of a market would take a million steps.
 */
function createShortWalk(seed: number, code: string, volatility: number): Walk {
  const [stream = NaN] = randomBits(seed, code, 1)
  const deviation = volatility / 100 / WORKING_DAYS_ROOT
  return (step) => {
    let factor = 1
    for (let day = step - RELEVANT_DAYS; day <= step; day += 1) {
      factor = move(factor, deviation * toNormal(scramble(stream, day)))
    }
    return factor
  }
}

function move(factor: number, change: number): number {
  return factor * (1 + REVERSION * (1 - factor) + change)
}

/** Converts 32 random bits to a nearly normal number: mean 0, deviation 1, at most 3.46; a sum of four bytes (Irwin–Hall). */
function toNormal(bits: number): number {
  const sum = (bits & 255) + ((bits >>> 8) & 255) + ((bits >>> 16) & 255) + (bits >>> 24)
  return (sum - 510) / 147.8
}

/**
 * Returns the first `count` random 32-bit integers of a stream, which is independent for every seed and name.
 *
 * @see https://pracrand.sourceforge.net (Doty-Humphrey's sfc32)
 */
function randomBits(seed: number, name: string, count: number): Int32Array {
  let a = seed | 0
  let b = Math.floor(seed / 0x1_0000_0000) | 0
  let c = 0
  for (let i = 0; i < name.length; i++) c = Math.imul(c ^ name.charCodeAt(i), 0x0100_0193)
  const bits = new Int32Array(count)
  // The first 15 outputs still resemble the seed.
  for (let counter = 1; counter <= 15 + count; counter += 1) {
    const sum = (a + b + counter) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    if (counter > 15) bits[counter - 16] = sum
  }
  return bits
}

/** Returns 32 random bits for any number of a stream (the finalizer of Appleby's MurmurHash3). */
function scramble(stream: number, number: number): number {
  let bits = stream + Math.imul(number, 0x9e37_79b9)
  bits = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35)
  return bits ^ (bits >>> 16)
}
