import { isCode } from './currency-code.ts'
import { isDay, toDay } from './day.ts'
import { carryForward } from './carry-forward.ts'
import type { PreviousRates } from './carry-forward.ts'
import { correctWithdrawn } from './fixed-rates.ts'
import type { RateCorrection } from './fixed-rates.ts'
import { buildMarket } from './market-history.ts'
import type { MarketHistory } from './market-history.ts'
import type { CodedPublications, RateTable } from './rate-table.ts'
import { RejectedError } from './rejected-error.ts'
import { requireObject } from './require-object.ts'
import { runAtOnce } from './slices.ts'
import type { Slices } from './slices.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A next publication further away than this is a slip, such as a time in another unit. */
const MAX_UPDATE_INTERVAL_MS = 8 * DAY_MS

/** How far ahead of the clock a publication may claim to be: clocks differ. */
const MAX_AHEAD_MS = 48 * HOUR_MS

/** The last instant that a `Date` holds, in ms since the Unix epoch. */
const LAST_INSTANT = 8_640_000_000_000_000

const YEAR_MS = 366 * 24 * HOUR_MS

/** Up to this clock (1973), as tests may have one, an instant in seconds cannot be told from one in ms. */
const MAX_INSTANT_IN_SECONDS = 100_000_000_000

/** A larger share of bad rates makes the whole answer bad. */
const MAX_BAD_SHARE = 0.05

/** Five years of a market are checked at once, in some 10 ms. */
const RATES_AT_ONCE = 60_000

/** Of more days, this many rates are checked before each pause. What precedes and follows takes as long: pauses there, too. */
const RATES_PER_SLICE = 20_000
const MANY_DAYS = 2_000

/** A rate beyond these could take the quotient of two rates out of the doubles. */
const MIN_RATE = 1e-100
const MAX_RATE = 1e100

/** Data that were found good. */
export interface Validated<Data> {
  data: Data
  /** Codes and dates that were left behind, as they came. */
  dropped: string[]
}

/** A table that was found good. */
export interface ValidatedTable extends Validated<RateTable> {
  /** Rates that contradicted the law, and what is in the table instead. */
  corrections: RateCorrection[]
  /** Codes whose rates were in hand and are not in the answer. */
  lost: string[]
}

/**
 * Checks latest rates as a provider or a store answered them: `{ base, updatedAt, nextUpdateAt, rates }`, with the
 * clock at `now` (all times in ms since the Unix epoch). Up to 5 % of the codes may have a bad rate and are dropped; a
 * base absent from its own table is inserted as 1; without `nextUpdateAt` the next publication counts as a day later, and one
 * more than eight days later as eight days later. What the answer lacks and is in hand is carried forward. A withdrawn
 * currency's rate that is not what law has fixed is corrected.
 *
 * @throws {RejectedError} naming what makes the answer unusable
 */
export function validateTable(
  answer: unknown,
  now: number,
  inHand: Omit<PreviousRates, 'now'> = NO_PREVIOUS_TABLE,
): ValidatedTable {
  const answered = requireObject(answer, 'the answer is')
  const { base, updatedAt, nextUpdateAt, rates } = answered
  if (!isCode(base)) throw new RejectedError('the base is not a currency code')
  if (!isInstant(updatedAt)) throw new RejectedError('updatedAt is not a time in ms')
  if (updatedAt > now + MAX_AHEAD_MS)
    throw new RejectedError('updatedAt is more than 48 hours ahead')
  if (isInSeconds(updatedAt, now)) throw new RejectedError('updatedAt is in seconds, not in ms')
  const nextUpdate = nextUpdateAt ?? updatedAt + DAY_MS
  if (!isInstant(nextUpdate)) throw new RejectedError('nextUpdateAt is not a time in ms')
  const { codes, quotes, bad, ignored } = sortRates(rates, base)
  const good = new Map(codes.map((code, index) => [code, quotes[index] ?? NaN]))
  assertFewBad(bad, good.size)
  const published = good.has(base) ? good : new Map([[base, 1], ...good])
  if (published.size === 1) {
    const isLower = ignored.some((name) => /^[a-z]{3}$/.test(name))
    const others = `only ${ignored.length} other names${isLower ? ', some in lower case' : ''}`
    const found = ignored.length > 0 ? others : 'nothing'
    throw new RejectedError(`there are no rates by upper-case codes beside the base, ${found}`)
  }
  const accepted: RateTable = {
    base,
    updatedAt,
    nextUpdateAt: Math.min(nextUpdate, updatedAt + MAX_UPDATE_INTERVAL_MS),
    publishedAt: earliest(answered['publishedAt'], updatedAt, now),
    rates: published,
    ...validateUnconfirmed(answered['unconfirmed']),
    ...validateOlder(answered['older'], published, updatedAt),
    ...validateUnavailable(answered['unavailable']),
  }
  const carried = carryForward(accepted, bad, { ...inHand, now })
  const { table, corrections } = correctWithdrawn(carried.table)
  return { data: table, dropped: [...bad, ...ignored], corrections, lost: carried.lost }
}

const NO_PREVIOUS_TABLE = { previous: undefined, seenCodes: [], maxStale: Infinity }

/** The earliest of two times, and of one that may have been accepted before. */
function earliest(before: unknown, updatedAt: number, now: number): number {
  return Math.min(isInstant(before) ? before : Infinity, updatedAt, now)
}

/** The publications of rates that are from an earlier one, as far as they make sense. */
function validateOlder(
  publications: unknown,
  rates: ReadonlyMap<string, number>,
  updatedAt: number,
): Pick<RateTable, 'older'> {
  const older: CodedPublications = {}
  for (const [code, publication] of Object.entries(Object(publications))) {
    const times = Object(publication)
    if (!rates.has(code) || !isInstant(times.updatedAt) || !isInstant(times.nextUpdateAt)) continue
    if (times.updatedAt > updatedAt) continue
    const nextUpdateAt = Math.min(times.nextUpdateAt, times.updatedAt + MAX_UPDATE_INTERVAL_MS)
    older[code] = { updatedAt: times.updatedAt, nextUpdateAt }
  }
  return Object.keys(older).length > 0 ? { older } : {}
}

function validateUnavailable(codes: unknown): Pick<RateTable, 'unavailable'> {
  const unavailable = Array.isArray(codes) ? codes.filter(isCode) : []
  return unavailable.length > 0 ? { unavailable } : {}
}

/** The rates that were held back, as far as they are rates: a property of its own where there are any. */
function validateUnconfirmed(rates: unknown): Pick<RateTable, 'unconfirmed'> {
  if (rates === undefined || rates === null) return {}
  const entries = Object.entries(requireObject(rates, 'the unconfirmed rates are'))
  const good = entries.filter((entry): entry is [string, number] => {
    const [code, rate] = entry
    return isCode(code) && isRate(rate)
  })
  return good.length > 0 ? { unconfirmed: Object.fromEntries(good) } : {}
}

/**
 * Checks reference rates as a provider or a store answered them: `{ base, days: [{ date, rates }] }`, in any order, with
 * the clock at `now` (ms since the Unix epoch). Days without a real date or more than two days ahead are dropped, all but
 * the last of those with the same date, and up to 5 % of all rates where they are bad.
 *
 * @throws {RejectedError} naming what makes the answer unusable
 */
export function validateHistory(answer: unknown, now: number): Validated<MarketHistory> {
  return runAtOnce(validateHistoryInSlices(answer, now))
}

/** Does the same in slices, with pauses between them. */
export function* validateHistoryInSlices(
  answer: unknown,
  now: number,
): Slices<Validated<MarketHistory>> {
  const { base, days } = requireObject(answer, 'the answer is')
  if (!isCode(base)) throw new RejectedError('the base is not a currency code')
  if (!Array.isArray(days)) throw new RejectedError('the days are not a list')
  const lastDay = toDay(now + MAX_AHEAD_MS)
  const market = buildMarket(base, days.length)
  const dropped: string[] = []
  const bad: string[] = []
  let goodCount = 0
  let known: readonly string[] = []
  const isLong = days.length > MANY_DAYS
  let left = isLong ? 0 : RATES_AT_ONCE
  for (const day of days) {
    if (left <= 0) {
      yield
      left = RATES_PER_SLICE
    }
    left -= 1
    const { date, rates } = requireObject(day, 'a day is')
    if (typeof date !== 'string' || !isDay(date) || date > lastDay) {
      dropped.push(String(date))
      continue
    }
    const sorted = sortRates(rates, base, known)
    const { codes, quotes } = sorted.hasBase ? withoutBase(sorted, base) : sorted
    known = codes
    left -= codes.length + sorted.bad.length + sorted.ignored.length
    if (codes.length > 0) {
      if (market.has(date)) dropped.push(date)
      market.addDay(date, codes, quotes)
      goodCount += codes.length
    }
    for (const code of sorted.bad) bad.push(`${date} ${code}`)
    for (const key of sorted.ignored) dropped.push(`${date} ${key}`)
  }
  assertFewBad(bad, goodCount)
  if (isLong) yield
  const data = market.build()
  if (days.length > 0 && data.dates.length === 0) throw new RejectedError('there is no usable day')
  return { data, dropped: [...bad, ...dropped] }
}

/** Rates, in step with their codes: beside each other, because to look up a quarter of a million takes longer. */
interface Rates {
  codes: readonly string[]
  quotes: readonly number[]
}

/** Rates by codes, and what else there was. */
interface Sorted extends Rates {
  /** Codes whose rate is no rate. */
  bad: readonly string[]
  /** Keys that are no codes. */
  ignored: readonly string[]
  /** Whether the base is among the codes. */
  hasBase: boolean
}

/** The rates of `answered`; `known` are codes, in the order in which they mostly are. */
function sortRates(answered: unknown, base: string, known: readonly string[] = []): Sorted {
  const rates = requireObject(answered, 'the rates are')
  const codes = Object.keys(rates)
  const quotes = Object.values(rates)
  const hasBase = Object.hasOwn(rates, base)
  if (hasBase && rates[base] !== 1) {
    throw new RejectedError('the base is not quoted at 1 against itself')
  }
  // Most days have nothing else.
  if (areCodes(codes, known) && areRates(quotes)) {
    return { codes, quotes, bad: [], ignored: [], hasBase }
  }
  const good = new Map<string, number>()
  const bad: string[] = []
  for (const [index, code] of codes.entries()) {
    const quote = quotes[index]
    if (!isCode(code)) continue
    if (isRate(quote)) good.set(code, quote)
    else bad.push(code)
  }
  const ignored = codes.filter((code) => !isCode(code))
  return { codes: [...good.keys()], quotes: [...good.values()], bad, ignored, hasBase }
}

/** In a plain loop, as the one below: over a quarter of a million, a function for each is felt. */
function areCodes(keys: readonly string[], known: readonly string[]): boolean {
  for (let index = 0; index < keys.length; index += 1) {
    if (keys[index] !== known[index] && !isCode(keys[index])) return false
  }
  return true
}

function areRates(values: unknown[]): values is number[] {
  for (let index = 0; index < values.length; index += 1) {
    if (!isRate(values[index])) return false
  }
  return true
}

/** `rates` without that of `base`. */
function withoutBase({ codes, quotes }: Rates, base: string): Rates {
  const isOther = (_each: unknown, index: number): boolean => codes[index] !== base
  return { codes: codes.filter(isOther), quotes: quotes.filter(isOther) }
}

function isRate(value: unknown): value is number {
  return typeof value === 'number' && value >= MIN_RATE && value <= MAX_RATE
}

function isInstant(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= LAST_INSTANT
}

/** Whether `instant` would be near the clock, were it given in seconds: the likeliest slip of a provider. */
function isInSeconds(instant: number, now: number): boolean {
  return now > MAX_INSTANT_IN_SECONDS && Math.abs(instant * 1_000 - now) < YEAR_MS
}

function assertFewBad(bad: readonly string[], good: number): void {
  const all = bad.length + good
  if (bad.length <= MAX_BAD_SHARE * all) return
  throw new RejectedError(
    `${bad.length} of ${all} rates are not numbers from ${MIN_RATE} to ${MAX_RATE}: ${sample(bad)}`,
  )
}

/** The first few of `names`, for a message. */
function sample(names: readonly string[]): string {
  return names.slice(0, 5).join(', ')
}
