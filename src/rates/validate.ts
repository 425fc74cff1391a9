import { runAtOnce } from '../async.ts'
import type { Slices } from '../async.ts'
import { isCode } from './currency-code.ts'
import { DAY_MS, MAX_DAYS_AHEAD, addDays, isDay, toDay } from './dates.ts'
import type { Day } from './dates.ts'
import { buildMarket } from './market-history.ts'
import type { MarketHistory } from './market-history.ts'
import { DERIVATIONS, applyLegalRatios, carryForward, pricesOf } from './rate-table.ts'
import type {
  CodedPublications,
  Derivation,
  Derivations,
  PreviousRates,
  RateCorrection,
  RateTable,
  UnconfirmedRate,
} from './rate-table.ts'

/** A longer interval is a mistake, such as a time in another unit. */
const MAX_UPDATE_INTERVAL_MS = 8 * DAY_MS

/** Limit for a publication ahead of the clock: clocks differ. */
const MAX_AHEAD_MS = 2 * DAY_MS

const LAST_INSTANT = 8_640_000_000_000_000

const YEAR_MS = 366 * DAY_MS

/** Up to this clock (1973), which tests may use, seconds and ms are indistinguishable. */
const MAX_INSTANT_IN_SECONDS = 100_000_000_000

const MAX_BAD_SHARE = 0.05

/** Five years of a market take about 10 ms without a pause. */
const RATES_AT_ONCE = 60_000

/** Longer histories pause after each slice, and before and after all slices, as the other work takes as long as a slice. */
const RATES_PER_SLICE = 20_000
const MANY_DAYS = 2_000

/** The quotient of two rates within these limits is always a double. */
const MIN_RATE = 1e-100
const MAX_RATE = 1e100

export interface Validated<Data> {
  data: Data
  /** Dropped codes and dates, unchanged. */
  dropped: string[]
}

export interface ValidatedTable extends Validated<RateTable> {
  corrections: RateCorrection[]
  /** Codes with a previous rate that the response lacks. */
  lost: string[]
}

interface TableContext extends Omit<PreviousRates, 'now'> {
  /** Whether the feed has sanity checks: then withdrawn currencies have their legally fixed ratios (default false). */
  isChecked?: boolean
}

/**
 * Validates latest rates from a provider or a store, `{ base, updatedAt, nextUpdateAt, rates }`, at `now` (all times in ms
 * since the Unix epoch). Drops invalid rates of up to 5 % of the codes. Inserts a missing base as 1. The default of
 * `nextUpdateAt` is a day after `updatedAt`, the maximum eight days. Carries forward previous rates that the response lacks.
 *
 * @throws {RejectedError} naming the reason why the response is unusable
 */
export function validateTable(
  response: unknown,
  now: number,
  { isChecked, ...previous }: TableContext = NO_PREVIOUS_TABLE,
): ValidatedTable {
  const received = requireObject(response, 'the response is')
  const { base, updatedAt, nextUpdateAt, lateAt, rates } = received
  assertBase(base)
  assertInstant('updatedAt', updatedAt)
  if (updatedAt > now + MAX_AHEAD_MS) {
    const time = new Date(updatedAt).toISOString()
    throw new RejectedError(`updatedAt must be at most 48 hours ahead of the clock, got ${time}`)
  }
  if (isInSeconds(updatedAt, now)) throw new RejectedError('updatedAt is in seconds, not in ms')
  const nextUpdate = nextUpdateAt ?? updatedAt + DAY_MS
  assertInstant('nextUpdateAt', nextUpdate)
  const { codes, quotes, bad: unusable, ignored } = sortRates(rates, base)
  const good = new Map(codes.map((code, index) => [code, quotes[index] ?? NaN]))
  const quarantined = validateUnconfirmed(received['unconfirmed'])
  // Without a good rate, a quarantined one is NaN.
  const bad = unusable.filter((code) => !quarantined.unconfirmed?.[code])
  assertFewBad(bad, good.size)
  const published = good.has(base) ? good : new Map([[base, 1], ...good])
  if (published.size === 1) {
    const isLower = ignored.some((name) => /^[a-z]{3}$/.test(name))
    const others = `, and ${ignored.length} invalid codes${isLower ? ', some in lower case' : ''}`
    const found = ignored.length > 0 ? others : ''
    throw new RejectedError(`expected rates by upper-case codes, got only the base${found}`)
  }
  const accepted: RateTable = {
    base,
    updatedAt,
    nextUpdateAt: Math.min(nextUpdate, updatedAt + MAX_UPDATE_INTERVAL_MS),
    ...(isInstant(lateAt) && { lateAt }),
    publishedAt: earliest(received['publishedAt'], updatedAt, now),
    rates: published,
    ...pricesOf(published, validatePrices(received['prices'])),
    ...validateDerived(received['derived'], (code) => published.has(code)),
    ...validateTableNumber(received['tableNumber']),
    ...quarantined,
    ...validateOlder(received['older'], published, updatedAt),
    ...validateUnavailable(received['unavailable']),
  }
  const carried = carryForward(accepted, unusable, { ...previous, now })
  const { table, corrections } = isChecked
    ? applyLegalRatios(carried.table, unusable)
    : { table: carried.table, corrections: [] }
  return { data: table, dropped: [...bad, ...ignored], corrections, lost: carried.lost }
}

const NO_PREVIOUS_TABLE = { previous: undefined, seenCodes: [], maxStale: Infinity }

function assertBase(base: unknown): asserts base is string {
  if (!isCode(base)) throw new RejectedError('base must be three capital letters')
}

function assertInstant(name: string, value: unknown): asserts value is number {
  if (isInstant(value)) return
  const found = typeof value === 'number' ? value : typeof value
  throw new RejectedError(`${name} must be an integer, ms since 1970, got ${found}`)
}

function earliest(before: unknown, updatedAt: number, now: number): number {
  return Math.min(isInstant(before) ? before : Infinity, updatedAt, now)
}

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

function validatePrices(prices: unknown): ReadonlyMap<string, number> | undefined {
  if (prices === undefined || prices === null) return undefined
  return new Map(Object.entries(requireObject(prices, 'the prices are')).filter(isCodedRate))
}

/** Another value is rejected: such rates must not be served as if they were published. */
function validateDerived(
  received: unknown,
  isQuoted: (code: string) => boolean,
): Pick<RateTable, 'derived'> {
  if (received === undefined || received === null) return {}
  const derived: Record<string, Derivation> = {}
  for (const [code, value] of Object.entries(requireObject(received, 'the derived codes are'))) {
    const found = DERIVATIONS.find((each) => each === value)
    if (!found) throw new RejectedError(`derived must be ${DERIVATIONS.join(', ')} for each code`)
    if (isQuoted(code)) derived[code] = found
  }
  return Object.keys(derived).length > 0 ? { derived } : {}
}

/** Days with the same derivations share an object. Earlier versions stored those of all days together. */
function createDerivations() {
  const byDay = new Map<Day, Derivations>()
  let last: Derivations = {}
  return {
    add(date: Day, received: unknown): void {
      byDay.delete(date)
      if (received === undefined || received === null) return
      const codes = Object.keys(received)
      const isSame = codes.every((code) => Object(received)[code] === last[code])
      if (!isSame || codes.length !== Object.keys(last).length) {
        last = validateDerived(received, () => true).derived ?? {}
      }
      if (codes.length > 0) byDay.set(date, last)
    },
    all: (): Pick<MarketHistory, 'derived'> => (byDay.size > 0 ? { derived: byDay } : {}),
  }
}

/** Numbers of tables are for people; anything that could be markup is ignored. */
const TABLE_NUMBER = /^[\w./ -]{1,40}$/

function validateTableNumber(value: unknown): Pick<RateTable, 'tableNumber'> {
  return typeof value === 'string' && TABLE_NUMBER.test(value) ? { tableNumber: value } : {}
}

function isCodedRate(entry: [string, unknown]): entry is [string, number] {
  return isCode(entry[0]) && isRate(entry[1])
}

function validateUnavailable(codes: unknown): Pick<RateTable, 'unavailable'> {
  const unavailable = Array.isArray(codes) ? codes.filter(isCode) : []
  return unavailable.length > 0 ? { unavailable } : {}
}

function validateUnconfirmed(rates: unknown): Pick<RateTable, 'unconfirmed'> {
  if (rates === undefined || rates === null) return {}
  const entries = Object.entries(requireObject(rates, 'the unconfirmed rates are'))
  const valid = entries.filter((entry): entry is [string, UnconfirmedRate] => {
    const [code, { rate, publications, good = rate }] = [entry[0], Object(entry[1])]
    const isCounted = Number.isSafeInteger(publications) && publications > 0
    return isCounted && isCodedRate([code, rate]) && isCodedRate([code, good])
  })
  return valid.length > 0 ? { unconfirmed: Object.fromEntries(valid) } : {}
}

/**
 * Validates reference rates from a provider or a store, `{ base, days: [{ date, rates, prices?, tableNumber?, derived? }] }` in
 * any order, at `now` (ms since the Unix epoch). Drops days with an invalid date or more than a week ahead, all but the last
 * of duplicate days, and invalid rates, up to 5 % of all.
 *
 * @throws {RejectedError} naming the reason why the response is unusable
 */
export function validateHistory(response: unknown, now: number): Validated<MarketHistory> {
  return runAtOnce(validateHistoryInSlices(response, now))
}

export function* validateHistoryInSlices(
  response: unknown,
  now: number,
): Slices<Validated<MarketHistory>> {
  const { base, days, derived: onAllDays } = requireObject(response, 'the response is')
  assertBase(base)
  if (!Array.isArray(days)) throw new RejectedError('days must be an array')
  const lastDay = addDays(toDay(now), MAX_DAYS_AHEAD)
  const market = buildMarket(base, days.length)
  const dropped: string[] = []
  const bad: string[] = []
  let goodCount = 0
  const quotesOf = createDaySorter(base)
  const derivations = createDerivations()
  const isLong = days.length > MANY_DAYS
  let left = isLong ? 0 : RATES_AT_ONCE
  for (const day of days) {
    if (left <= 0) {
      yield
      left = RATES_PER_SLICE
    }
    left -= 1
    const { date, ...quoted } = requireObject(day, 'a day is')
    if (typeof date !== 'string' || !isDay(date) || date > lastDay) {
      dropped.push(String(date))
      continue
    }
    const { codes, quotes, ...others } = quotesOf.sort(quoted)
    left -= codes.length + others.bad.length + others.ignored.length
    if (codes.length > 0) {
      if (market.has(date)) dropped.push(date)
      market.addDay(date, codes, quotes)
      derivations.add(date, quoted['derived'] ?? onAllDays)
      goodCount += codes.length
    }
    for (const code of others.bad) bad.push(`${date} ${code}`)
    for (const key of others.ignored) dropped.push(`${date} ${key}`)
  }
  assertFewBad(bad, goodCount)
  if (isLong) yield
  const about = { ...quotesOf.priced(), ...derivations.all(), ...tableNumbersOf(days) }
  const data: MarketHistory = { ...market.build(), ...about }
  if (days.length > 0 && data.dates.length === 0) {
    throw new RejectedError(`0 of ${days.length} days are valid`)
  }
  return { data, dropped: [...bad, ...dropped] }
}

function tableNumbersOf(days: readonly unknown[]): Pick<MarketHistory, 'tableNumbers'> {
  const tableNumbers = new Map<Day, string>()
  for (const day of days) {
    const { date, tableNumber: received } = Object(day)
    const { tableNumber } = validateTableNumber(received)
    if (tableNumber !== undefined) tableNumbers.set(String(date), tableNumber)
  }
  return tableNumbers.size > 0 ? { tableNumbers } : {}
}

/** Parallel arrays, because looking up a quarter of a million rates in a map takes longer. */
interface Rates {
  codes: readonly string[]
  quotes: readonly number[]
}

interface Sorted extends Rates {
  bad: readonly string[]
  ignored: readonly string[]
  hasBase: boolean
}

/** `known` are valid codes in their usual order, which are not checked again. */
function sortRates(received: unknown, base: string, known: readonly string[] = []): Sorted {
  const rates = requireObject(received, 'the rates are')
  const codes = Object.keys(rates)
  const quotes = Object.values(rates)
  const hasBase = Object.hasOwn(rates, base)
  if (hasBase && rates[base] !== 1) {
    throw new RejectedError('the rate of the base must be 1')
  }
  // Most days have only valid rates.
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

/** Sorts the quotes of each day, without the base. */
interface DaySorter {
  sort(day: { rates?: unknown; prices?: unknown }): Sorted
  priced(): Pick<MarketHistory, 'priced'>
}

function createDaySorter(base: string): DaySorter {
  let known: readonly string[] = []
  let directions: Directions | undefined
  return {
    sort({ rates, prices }) {
      if (prices !== undefined && !directions) {
        if (known.length > 0) throw new RejectedError('prices must be on all days or on none')
        directions = { rated: new Set(), priced: new Set() }
      }
      const all = directions
        ? sortQuotes({ rates, prices }, base, directions)
        : sortRates(rates, base, known)
      const sorted = all.hasBase ? { ...all, ...withoutBase(all, base) } : all
      known = sorted.codes
      return sorted
    },
    priced: () => (directions && directions.priced.size > 0 ? { priced: directions.priced } : {}),
  }
}

interface Directions {
  rated: Set<string>
  priced: Set<string>
}

/** Sorts the rates and prices of a day. A code is bad in the other direction than on earlier days. */
function sortQuotes(
  { rates, prices }: { rates: unknown; prices: unknown },
  base: string,
  { rated, priced }: Directions,
): Sorted {
  const sides = [
    { sorted: sortRates(rates ?? {}, base), own: rated, other: priced },
    { sorted: sortRates(prices ?? {}, base), own: priced, other: rated },
  ]
  const codes: string[] = []
  const quotes: number[] = []
  const bad: string[] = []
  for (const { sorted, own, other } of sides) {
    bad.push(...sorted.bad)
    for (const [index, code] of sorted.codes.entries()) {
      if (other.has(code)) bad.push(code)
      else {
        own.add(code)
        codes.push(code)
        quotes.push(sorted.quotes[index] ?? NaN)
      }
    }
  }
  const ignored = sides.flatMap(({ sorted }) => sorted.ignored)
  return { codes, quotes, bad, ignored, hasBase: sides.some(({ sorted }) => sorted.hasBase) }
}

/** A plain loop, as in `areRates`: a callback for each of a quarter of a million rates is measurably slower. */
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

/** Whether `instant`, read as seconds, is within a year of the clock: the most likely mistake of a provider. */
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

function sample(names: readonly string[]): string {
  return names.slice(0, 5).join(', ')
}

/** A response that was received, but is unusable. */
export class RejectedError extends Error {
  override readonly name = 'RejectedError'
}

/** @throws {RejectedError} beginning with `subject` (“the rates are”), if `value` is not an object */
export function requireObject(value: unknown, subject: string): Record<string, unknown> {
  if (!isRecord(value)) throw new RejectedError(`${subject} not an object`)
  return value
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether `value` is an object or an array. */
export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
