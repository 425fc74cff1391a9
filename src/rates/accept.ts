import { isCode } from './currency-code.ts'
import { isDay, toDay } from './day.ts'
import { correctWithdrawn } from './fixed-rates.ts'
import type { RateCorrection } from './fixed-rates.ts'
import { buildMarket } from './market-history.ts'
import type { MarketHistory } from './market-history.ts'
import type { RateTable } from './rate-table.ts'
import { RejectedError } from './rejected-error.ts'
import { requireObject } from './require-object.ts'

const HOUR_MS = 3_600_000

/** How far ahead of the clock a publication may claim to be: clocks differ. */
const MOST_AHEAD_MS = 48 * HOUR_MS

/** The last instant that a `Date` holds, in ms since the Unix epoch. */
const LAST_INSTANT = 8_640_000_000_000_000

const YEAR_MS = 366 * 24 * HOUR_MS

/** Up to this clock (1973), as tests may have one, an instant in seconds cannot be told from one in ms. */
const SECONDS_TELL_APART = 100_000_000_000

/** A larger share of bad rates makes the whole answer bad. */
const BAD_SHARE_TOLERATED = 0.05

/** A rate beyond these could take the quotient of two rates out of the doubles. */
const LEAST_RATE = 1e-100
const MOST_RATE = 1e100

/** Data that were found good. */
export interface Accepted<Data> {
  data: Data
  /** Codes and dates that were left behind, as they came. */
  dropped: string[]
}

/** A table that was found good. */
export interface AcceptedTable extends Accepted<RateTable> {
  /** Rates that contradicted the law, and what is in the table instead. */
  corrections: RateCorrection[]
}

/**
 * Checks latest rates as a provider or a store answered them: `{ base, updatedAt, nextUpdateAt, rates }`, with the
 * clock at `now` (all times in ms since the Unix epoch). Up to 5 % of the codes may have a bad rate and are dropped; a
 * base absent from its own table is inserted as 1; without `nextUpdateAt` the next publication counts as a day later. A
 * withdrawn currency's rate that is not what law has fixed is corrected.
 *
 * @throws {RejectedError} naming what makes the answer unusable
 */
export function acceptTable(answer: unknown, now: number): AcceptedTable {
  const answered = requireObject(answer, 'the answer is')
  const { base, updatedAt, nextUpdateAt, rates } = answered
  if (!isCode(base)) throw new RejectedError('the base is not a currency code')
  if (!isInstant(updatedAt)) throw new RejectedError('updatedAt is not a time in ms')
  if (updatedAt > now + MOST_AHEAD_MS)
    throw new RejectedError('updatedAt is more than 48 hours ahead')
  if (isInSeconds(updatedAt, now)) throw new RejectedError('updatedAt is in seconds, not in ms')
  const nextUpdate = nextUpdateAt ?? updatedAt + 24 * HOUR_MS
  if (!isInstant(nextUpdate)) throw new RejectedError('nextUpdateAt is not a time in ms')
  const good = new Map<string, number>()
  const { bad, ignored } = sortRates(rates, base, (code, rate) => good.set(code, rate))
  refuseManyBad(bad, good.size)
  const published = good.has(base) ? good : new Map([[base, 1], ...good])
  if (published.size === 1) {
    const found = ignored.length > 0 ? `only ${sample(ignored)}` : 'nothing'
    throw new RejectedError(`there are no rates by upper-case codes beside the base, ${found}`)
  }
  const unconfirmed = acceptUnconfirmed(answered['unconfirmed'])
  const { table, corrections } = correctWithdrawn({
    base,
    updatedAt,
    nextUpdateAt: nextUpdate,
    rates: published,
    ...unconfirmed,
  })
  return { data: table, dropped: [...bad, ...ignored], corrections }
}

/** The rates that were held back, as far as they are rates: a property of its own where there are any. */
function acceptUnconfirmed(rates: unknown): Pick<RateTable, 'unconfirmed'> {
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
export function acceptHistory(answer: unknown, now: number): Accepted<MarketHistory> {
  const { base, days } = requireObject(answer, 'the answer is')
  if (!isCode(base)) throw new RejectedError('the base is not a currency code')
  if (!Array.isArray(days)) throw new RejectedError('the days are not a list')
  const lastDay = toDay(now + MOST_AHEAD_MS)
  const market = buildMarket(base, days.length)
  const dropped: string[] = []
  const bad: string[] = []
  let goodCount = 0
  for (const day of days) {
    const { date, rates } = requireObject(day, 'a day is')
    if (typeof date !== 'string' || !isDay(date) || date > lastDay) {
      dropped.push(String(date))
      continue
    }
    let row: number | undefined
    const left = sortRates(rates, base, (code, rate) => {
      if (code === base) return
      if (row === undefined && market.has(date)) dropped.push(date)
      row ??= market.addDay(date)
      market.setRate(row, code, rate)
      goodCount += 1
    })
    for (const code of left.bad) bad.push(`${date} ${code}`)
    for (const key of left.ignored) dropped.push(`${date} ${key}`)
  }
  refuseManyBad(bad, goodCount)
  const data = market.build()
  if (days.length > 0 && data.dates.length === 0) throw new RejectedError('there is no usable day')
  return { data, dropped: [...bad, ...dropped] }
}

/** What is no rate of a currency. */
interface LeftOut {
  /** Codes whose rate is no rate. */
  bad: string[]
  /** Keys that are no codes. */
  ignored: string[]
}

/** Gives every rate by a code to `keep`. */
function sortRates(
  answered: unknown,
  base: string,
  keep: (code: string, rate: number) => void,
): LeftOut {
  const left: LeftOut = { bad: [], ignored: [] }
  const rates = requireObject(answered, 'the rates are')
  // Beside each other, because to look up forty thousand rates by their codes takes longer.
  const codes = Object.keys(rates)
  const quotes = Object.values(rates)
  for (let index = 0; index < codes.length; index += 1) {
    const code = codes[index] ?? ''
    const rate = quotes[index]
    if (!isCode(code)) left.ignored.push(code)
    else if (!isRate(rate) || (code === base && rate !== 1)) left.bad.push(code)
    else keep(code, rate)
  }
  if (left.bad.includes(base)) {
    throw new RejectedError('the base is not quoted at 1 against itself')
  }
  return left
}

function isRate(value: unknown): value is number {
  return typeof value === 'number' && value >= LEAST_RATE && value <= MOST_RATE
}

function isInstant(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= LAST_INSTANT
}

/** Whether `instant` would be near the clock, were it given in seconds: the likeliest slip of a provider. */
function isInSeconds(instant: number, now: number): boolean {
  return now > SECONDS_TELL_APART && Math.abs(instant * 1_000 - now) < YEAR_MS
}

function refuseManyBad(bad: readonly string[], good: number): void {
  const all = bad.length + good
  if (bad.length <= BAD_SHARE_TOLERATED * all) return
  throw new RejectedError(
    `${bad.length} of ${all} rates are not numbers from ${LEAST_RATE} to ${MOST_RATE}: ${sample(bad)}`,
  )
}

/** The first few of `names`, for a message. */
function sample(names: readonly string[]): string {
  return names.slice(0, 5).join(', ')
}
