import { DAY, MINUTE, SECOND } from '../../virtual-runtime.ts'
import type { Publication } from '../world/truth.ts'

/** A next publication that is announced for later counts as announced for then. */
const MAX_UPDATE_INTERVAL = 8 * DAY

const SHORTEST_LIFE = 10 * MINUTE

/** Derived rates are rounded to ten digits. */
const ROUNDING = 1e-9

/** Units of a withdrawn currency for one euro, by law: it may leave the feed, and is corrected where it is wrong. */
const WITHDRAWN: Readonly<Record<string, number>> = { BGN: 1.95583 }

/** Codes outside the list of the European Central Bank, whose rates may move further. */
const OTHER_CODES = ['AED', 'CLP', 'COP', 'EGP', 'KWD', 'NGN', 'UAH']

/** By which factor a rate may move between two publications, and differ from what confirms it. */
const MAX_MOVE = { reference: 1.2, other: 3 }
const MAX_CONFIRMING_MOVE = 1.2
const MAX_AGREEING_MOVE = 1.05

/** The lowest and the highest units of major currencies for a dollar that are possible at all. */
const POSSIBLE: Readonly<Record<string, readonly [number, number]>> = {
  EUR: [0.2067, 3.63],
  JPY: [25, 495],
  GBP: [0.1567, 2.82],
  CHF: [0.24, 5.49],
  AUD: [0.3, 6.3],
  CAD: [0.3034, 4.86],
  NZD: [0.3767, 7.68],
  SEK: [1.934, 34.5],
  NOK: [1.634, 36],
  DKK: [1.534, 27.3],
  CNY: [2, 24.9],
  HKD: [2.567, 23.7],
  SGD: [0.3967, 5.61],
  INR: [13, 285],
  KRW: [296.7, 4_800],
}

/** A rate, and the publication that it is from; times in ms since the Unix epoch. */
interface Quote {
  rate: number
  updatedAt: number
  nextUpdateAt: number
}

/** What a process answers questions of latest rates with; times in ms since the Unix epoch. */
export interface Table {
  updatedAt: number
  nextUpdateAt: number
  /** The earlier of `updatedAt` and the time of acceptance. */
  publishedAt: number
  loadedAt: number
  /** What may be served as the rate of each code, in the order of the feed: mostly one quote. */
  quotes: ReadonlyMap<string, readonly Quote[]>
  /** What was published of the codes that are held back. */
  doubtful: ReadonlyMap<string, readonly number[]>
  /** Every code that this table or one before it was published with. */
  seen: ReadonlySet<string>
}

/** Codes that events named when a table was taken. */
export type Notes = Record<'dropped' | 'lost' | 'heldBack', readonly string[]>

/** What it takes to know what becomes of a table. */
export interface Taking {
  notes: Notes
  /** The table that was held before, and whether that is certainly not too old to be compared with. */
  before: Table | undefined
  isWarm: boolean
  /** The clock of the process, ms since the Unix epoch. */
  clock: number
  maxStale: number
}

/** What a process holds after it took `sent` from the upstream. */
export function takeTable(sent: Publication, taking: Taking): Table {
  const { notes, clock } = taking
  const { updatedAt } = sent
  const nextUpdateAt = Math.min(sent.nextUpdateAt, updatedAt + MAX_UPDATE_INTERVAL)
  const quoteOf = (rate: number): Quote[] => [{ rate, updatedAt, nextUpdateAt }]
  const rates = Object.entries(sent.rates).filter(([code]) => isCode(code))
  const good = rates.filter(([code, rate]) => isRate(rate) && !notes.dropped.includes(code))
  const quotes = new Map(good.map(([code, rate]) => [code, quoteOf(rate)]))
  return complete(
    {
      updatedAt,
      nextUpdateAt,
      publishedAt: Math.min(updatedAt, clock),
      loadedAt: clock,
      quotes: quotes.has('USD') ? quotes : new Map([['USD', quoteOf(1)], ...quotes]),
      doubtful: new Map(notes.heldBack.map((code) => [code, [sent.rates[code] ?? NaN]])),
      seen: new Set(rates.map(([code]) => code)),
    },
    taking,
  )
}

/** What a process holds after it took `stored`, the table of another process, from a store. */
export function restoreTable(stored: Table, taking: Taking): Table {
  const { notes, clock } = taking
  const doubtfulOf = (code: string): number[] => [
    ...(stored.doubtful.get(code) ?? []),
    ...(stored.quotes.get(code) ?? []).map(({ rate }) => rate),
  ]
  return complete(
    {
      ...stored,
      publishedAt: Math.min(stored.publishedAt, clock),
      loadedAt: Math.min(stored.loadedAt, clock),
      quotes: new Map([...stored.quotes].filter(([code]) => !notes.dropped.includes(code))),
      doubtful: new Map(notes.heldBack.map((code) => [code, doubtfulOf(code)])),
    },
    taking,
    true,
  )
}

/** `table` with what it keeps of the one before, as far as that is not too old. */
function complete(table: Table, taking: Taking, isRestored = false): Table {
  const { notes, before, isWarm, clock, maxStale } = taking
  const { updatedAt, nextUpdateAt } = table
  const quotes = new Map(table.quotes)
  const keptOf = (code: string): Quote[] =>
    (before?.quotes.get(code) ?? []).map((quote) => {
      // A rate of a publication that was dated ahead is as old as its acceptance.
      const time = quote.updatedAt === before?.updatedAt ? before.publishedAt : quote.updatedAt
      const times = time < updatedAt ? { ...quote, updatedAt: time } : { updatedAt, nextUpdateAt }
      return { ...times, rate: quote.rate }
    })
  for (const [code, own] of table.quotes) {
    const kept = keptOf(code)
    const isHeldBack = notes.heldBack.includes(code)
    const newer = kept.filter((each) => own.every((quote) => quote.updatedAt < each.updatedAt))
    const isOutdated = kept.length > 0 && newer.length === kept.length
    // What comes from a store may have been held back by another process already.
    if (isRestored ? isOutdated && isWarm : isHeldBack) quotes.set(code, kept)
    else if (isRestored && (isHeldBack || newer.length > 0)) quotes.set(code, [...own, ...kept])
  }
  for (const code of before?.quotes.keys() ?? []) {
    if (notes.lost.includes(code)) quotes.set(code, keptOf(code))
  }
  const isUsable = (quote: Quote): boolean => !isOld(quote, table, clock - maxStale)
  for (const [code, ratio] of Object.entries(WITHDRAWN)) {
    const own = quotes.get(code) ?? []
    const euros = (quotes.get('EUR') ?? []).filter(isUsable)
    const corrected = euros.map(({ rate }) => Number((rate * ratio).toPrecision(15)))
    quotes.set(
      code,
      own.flatMap((quote) => [quote, ...corrected.map((rate) => ({ ...quote, rate }))]),
    )
  }
  return {
    ...table,
    quotes: new Map([...quotes].filter(([, found]) => found.some(isUsable))),
    seen: new Set([...table.seen, ...(before?.seen ?? [])]),
  }
}

/** When the refresh of a table was due, from which on it is too old some time: ms since the Unix epoch. */
export function dueAt({ nextUpdateAt, loadedAt }: Table): number {
  return Math.max(nextUpdateAt, loadedAt + SHORTEST_LIFE)
}

/** Whether `quote` of an earlier publication than `table` was due to be replaced before `instant`. */
function isOld({ updatedAt, nextUpdateAt }: Quote, table: Table, instant: number): boolean {
  return updatedAt < table.updatedAt && nextUpdateAt < instant
}

/** The earliest and the latest that a process may take it to be, less the age at which its rates are too old. */
export interface Limits {
  from: number
  to: number
}

/** Whether `table` has a usable rate of `code`: certainly, possibly or certainly not. */
function stateOf(
  table: Table,
  code: string,
  { from, to }: Limits,
): 'served' | 'doubtful' | 'absent' {
  const quotes = table.quotes.get(code) ?? []
  if (quotes.every((quote) => isOld(quote, table, from))) return 'absent'
  return quotes.some((quote) => isOld(quote, table, to)) ? 'doubtful' : 'served'
}

/** Whether rates of all `codes` are certainly served. */
export function hasRates(table: Table, codes: readonly string[], limits: Limits): boolean {
  return codes.every((code) => stateOf(table, code, limits) === 'served')
}

/** Whether every one of `codes` has been published, so that it is not a client's mistake to ask for it. */
export function isCarried(table: Table, codes: readonly string[]): boolean {
  return codes.every((code) => (isWithdrawn(code) ? table.quotes : table.seen).has(code))
}

export function isWithdrawn(code: string): boolean {
  return code in WITHDRAWN
}

interface Pair {
  from: string
  to: string
}

/** When a rate of `pair` would say that it was published, if `rate` may be one by `table`. */
function timesOf(table: Table, { from, to }: Pair, rate: number): number[] {
  const quotesOf = (code: string): readonly Quote[] => table.quotes.get(code) ?? []
  return quotesOf(from).flatMap((one) =>
    quotesOf(to)
      .filter((other) => isQuotient(from === to ? 1 : other.rate / one.rate, rate, from))
      .map((other) => Math.min(one.updatedAt, other.updatedAt)),
  )
}

/** Whether `rate` against `base` is `expected`: to the digit where it was published so. */
function isQuotient(expected: number, rate: number, base: string): boolean {
  if (base === 'USD' || expected === 1) return rate === expected
  return Math.abs(rate - expected) <= ROUNDING * expected
}

/** Latest rates against a base, as they were answered. */
export interface AnsweredTable {
  base: string
  symbols: readonly string[] | undefined
  rates: Readonly<Record<string, number>>
  updatedAt: number
  nextUpdateAt: number
  /** Absent where it may not be answered. */
  older: Readonly<Record<string, unknown>> | undefined
}

/** What is wrong with an answer that a process gave while it held `table`. */
export function objectToTable(
  table: Table,
  answered: AnsweredTable,
  limits: Limits,
): string | undefined {
  const { base, symbols, rates, updatedAt, nextUpdateAt, older } = answered
  const wanted = [...table.quotes.keys()].filter((code) => !symbols || symbols.includes(code))
  const codes = wanted.filter((code) => {
    const state = stateOf(table, code, limits)
    return state === 'served' || (state === 'doubtful' && code in rates)
  })
  if (Object.keys(rates).join() !== codes.join()) {
    return `${Object.keys(rates).join()} are answered, not ${codes.join()}`
  }
  const wrong = codes.find(
    (to) => timesOf(table, { from: base, to }, rates[to] ?? NaN).length === 0,
  )
  if (wrong) return `${rates[wrong]} is not the rate of ${base} in ${wrong}`
  if (!timesOfOldest(table, symbols ? [base, ...codes] : [base]).includes(updatedAt)) {
    return `updatedAt ${updatedAt} is not that of the oldest rate`
  }
  if (nextUpdateAt !== table.nextUpdateAt) return `nextUpdateAt is ${nextUpdateAt}`
  const misdated = codes.find(
    (code) =>
      older && !timesOfOldest(table, [code]).includes(Number(older[code] ?? table.updatedAt)),
  )
  return misdated && `${misdated} is said to be of ${String(older?.[misdated])}`
}

/** What is wrong with a rate of `pair` that a process gave while it held `table`. */
export function objectToRate(
  table: Table,
  pair: Pair,
  { rate, updatedAt }: { rate: number; updatedAt: number },
): string | undefined {
  const times = timesOf(table, pair, rate)
  if (times.length === 0) return `${rate} is not the rate of ${pair.from} in ${pair.to}`
  return times.includes(updatedAt)
    ? undefined
    : `a rate of ${times.join()} is said to be of ${updatedAt}`
}

/** When the oldest rate of `codes` may have been published. */
export function timesOfOldest(table: Table, codes: readonly string[]): number[] {
  const times = codes.map((code) => (table.quotes.get(code) ?? []).map((each) => each.updatedAt))
  const newest = Math.min(...times.map((each) => Math.max(...each)))
  return times.flat().filter((time) => time <= newest)
}

/** Whether rates of `table` that say that they are of `updatedAt` have this `Last-Modified`, in whole seconds. */
export function isModified(table: Table, updatedAt: number, lastModified: number): boolean {
  return lastModified === Math.floor(Math.min(updatedAt, table.publishedAt) / SECOND) * SECOND
}

/** Codes whose rates in `table` are too far from those in `before`, and not confirmed. */
export function unconfirmedMoves(
  table: Table,
  before: Table,
  references: (code: string) => readonly number[],
): string[] {
  const isLater = table.updatedAt !== before.updatedAt && table.updatedAt > before.publishedAt
  const isConfirmed = (code: string, { rate }: Quote): boolean =>
    (isLater && isAnyNear(rate, before.doubtful.get(code) ?? [], MAX_CONFIRMING_MOVE)) ||
    isAnyNear(rate, references(code), MAX_AGREEING_MOVE)
  return [...table.quotes.keys()].filter((code) => {
    const last = before.quotes.get(code)?.map(({ rate }) => rate)
    if (!last || isWithdrawn(code)) return false
    const quotes = table.quotes.get(code) ?? []
    return quotes.every(
      (quote) => !isAnyNear(quote.rate, last, maxMoveOf(code)) && !isConfirmed(code, quote),
    )
  })
}

/** Codes that `table` holds back although they have hardly moved since `before`. */
export function needlessHoldBacks({ doubtful }: Table, before: Table): string[] {
  return [...doubtful].flatMap(([code, rates]) => {
    const last = before.quotes.get(code)?.map(({ rate }) => rate) ?? []
    // Whichever of them the process holds.
    const isNear = (rate: number): boolean =>
      last.every((each) => isAnyNear(rate, [each], maxMoveOf(code)))
    return last.length > 0 && rates.every(isNear) ? [code] : []
  })
}

/** Codes of which the next table has no rate that is served, but for those that it held back. */
export function lostCodes(sent: Publication, { before, notes }: Taking): string[] {
  const isServed = (code: string): boolean =>
    notes.heldBack.includes(code) || (isRate(sent.rates[code]) && !notes.dropped.includes(code))
  return [...(before?.quotes.keys() ?? [])].filter(
    (code) =>
      code !== 'USD' && !isServed(code) && (!isWithdrawn(code) || sent.rates[code] !== undefined),
  )
}

/** Codes whose rates are from an earlier publication than the others of `table`. */
export function keptCodes({ quotes, updatedAt }: Table): string[] {
  return [...quotes].flatMap(([code, found]) =>
    found.some((quote) => quote.updatedAt < updatedAt) ? [code] : [],
  )
}

/** Codes of major currencies whose rates in `table` are impossible. */
export function impossibleRates(table: Table): string[] {
  return Object.entries(POSSIBLE).flatMap(([code, [low, high]]) => {
    const quotes = table.quotes.get(code) ?? []
    return quotes.length > 0 && quotes.every(({ rate }) => rate < low || rate > high) ? [code] : []
  })
}

function maxMoveOf(code: string): number {
  return OTHER_CODES.includes(code) ? MAX_MOVE.other : MAX_MOVE.reference
}

/** Whether `rate` differs from one of `others` by a factor of `most` or less. */
function isAnyNear(rate: number, others: readonly number[], most: number): boolean {
  // Sums of real numbers are not exact.
  return others.some((other) => Math.max(rate / other, other / rate) <= most * (1 + ROUNDING))
}

function isCode(text: string): boolean {
  return /^[A-Z]{3}$/.test(text)
}

function isRate(rate: unknown): boolean {
  return typeof rate === 'number' && rate >= 1e-9 && rate <= 1e9
}
