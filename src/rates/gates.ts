import { isCode } from './currency-code.ts'
import { isDay } from './day.ts'
import { toMarketHistory } from './market-history.ts'
import type { MarketDay, MarketHistory } from './market-history.ts'
import type { RateTable } from './rate-table.ts'

const HOUR_MS = 3_600_000

/** How far ahead of the clock a publication may claim to be: clocks differ. */
const MOST_AHEAD_MS = 48 * HOUR_MS

/** The last instant that a `Date` holds, in ms since the Unix epoch. */
const LAST_INSTANT = 8_640_000_000_000_000

/** A larger share of bad rates makes the whole answer bad. */
const BAD_SHARE_TOLERATED = 0.05

/** A rate beyond these could take the quotient of two rates out of the doubles. */
const LEAST_RATE = 1e-12
const MOST_RATE = 1e12

/** Data that passed the gates. */
export interface Accepted<Data> {
  data: Data
  /** Codes and dates that were left behind, as they came. */
  dropped: string[]
}

/**
 * Checks latest rates as a provider or a store answered them: `{ base, updatedAt, nextUpdateAt, rates }`, with the
 * clock at `now` (all times in ms since the Unix epoch). Up to 5 % of the codes may have a bad rate and are dropped; a
 * base absent from its own table is inserted as 1; without `nextUpdateAt` the next publication counts as a day later.
 *
 * @throws {Error} naming what makes the answer unusable
 */
export function acceptTable(answer: unknown, now: number): Accepted<RateTable> {
  const { base, updatedAt, nextUpdateAt, rates } = requireObject(answer, 'the answer')
  if (!isCode(base)) throw new Error('the base is not a currency code')
  if (!isInstant(updatedAt)) throw new Error('updatedAt is not a time in ms')
  if (updatedAt > now + MOST_AHEAD_MS) throw new Error('updatedAt is more than 48 hours ahead')
  const nextUpdate = nextUpdateAt ?? updatedAt + 24 * HOUR_MS
  if (!isInstant(nextUpdate)) throw new Error('nextUpdateAt is not a time in ms')
  const { good, bad, ignored } = sortRates(rates, base)
  if (good.size === 0) throw new Error('there are no rates')
  refuseManyBad(bad.length, good.size)
  const published = good.has(base) ? good : new Map([[base, 1], ...good])
  if (published.size === 1) throw new Error('there are no rates but the base')
  return {
    data: { base, updatedAt, nextUpdateAt: nextUpdate, rates: published },
    dropped: [...bad, ...ignored],
  }
}

/**
 * Checks reference rates as a provider or a store answered them: `{ base, days: [{ date, rates }] }`, in any order. Days
 * without a real date are dropped, and up to 5 % of all rates where they are bad.
 *
 * @throws {Error} naming what makes the answer unusable
 */
export function acceptHistory(answer: unknown): Accepted<MarketHistory> {
  const { base, days } = requireObject(answer, 'the answer')
  if (!isCode(base)) throw new Error('the base is not a currency code')
  if (!Array.isArray(days)) throw new Error('the days are not a list')
  const accepted: MarketDay[] = []
  const dropped: string[] = []
  let [goodCount, badCount] = [0, 0]
  for (const day of days) {
    const { date, rates } = requireObject(day, 'a day')
    if (typeof date !== 'string' || !isDay(date)) {
      dropped.push(String(date))
      continue
    }
    const { good, bad, ignored } = sortRates(rates, base)
    good.delete(base)
    goodCount += good.size
    badCount += bad.length
    dropped.push(...[...bad, ...ignored].map((code) => `${date} ${code}`))
    if (good.size > 0) accepted.push({ date, rates: good })
  }
  if (days.length > 0 && accepted.length === 0) throw new Error('there is no usable day')
  refuseManyBad(badCount, goodCount)
  return { data: toMarketHistory(base, accepted), dropped }
}

interface SortedRates {
  good: Map<string, number>
  /** Codes whose rate is no rate. */
  bad: string[]
  /** Keys that are no codes. */
  ignored: string[]
}

function sortRates(rates: unknown, base: string): SortedRates {
  const sorted: SortedRates = { good: new Map(), bad: [], ignored: [] }
  for (const [code, rate] of Object.entries(requireObject(rates, 'the rates'))) {
    if (!isCode(code)) sorted.ignored.push(code)
    else if (isRate(rate)) sorted.good.set(code, rate)
    else sorted.bad.push(code)
  }
  const baseIsBad = sorted.bad.includes(base) || (sorted.good.get(base) ?? 1) !== 1
  if (baseIsBad) throw new Error('the base is not quoted at 1 against itself')
  return sorted
}

function isRate(value: unknown): value is number {
  return typeof value === 'number' && value >= LEAST_RATE && value <= MOST_RATE
}

function isInstant(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= LAST_INSTANT
}

function refuseManyBad(bad: number, good: number): void {
  if (bad > BAD_SHARE_TOLERATED * (bad + good)) {
    throw new Error(`${bad} of ${bad + good} rates are not positive finite numbers`)
  }
}

/** `value` with properties of unknown types; throws, naming `what` it was to be, where it has none. */
export function requireObject(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`${what} is not an object`)
  }
  return { ...value }
}
