import type { DataSet, Fault } from '../../faults/fault.ts'
import { DAY, MINUTE, SECOND } from '../../virtual-runtime.ts'
import type { Publication } from '../world/truth.ts'

/** An announced next publication later than this counts as this late, in ms. */
const MAX_UPDATE_INTERVAL = 8 * DAY

const MIN_LIFETIME = 10 * MINUTE

const ROUNDING = 1e-9

/** Fixed units of a withdrawn currency per euro, as old as the euro. Such a currency may leave the feed. */
const WITHDRAWN: Readonly<Record<string, number>> = { BGN: 1.95583 }

/** Codes outside the list of the European Central Bank, with a wider limit for moves. */
const OTHER_CODES = ['AED', 'CLP', 'COP', 'EGP', 'KWD', 'NGN', 'UAH']

const MAX_MOVE = { reference: 1.2, other: 3 }
const MAX_CONFIRMING_MOVE = 1.2
const MAX_AGREEING_MOVE = 1.05

/** Official pegs: the lowest and the highest units for one unit of the anchor. */
const PEGS: Readonly<Record<string, readonly [anchor: string, low: number, high: number]>> = {
  AED: ['USD', 3.6725, 3.6725],
  DKK: ['EUR', 7.29252, 7.62824],
  HKD: ['USD', 7.75, 7.85],
}
const MAX_OFF_PEG = 1.02

/** The lowest and the highest possible rates of major currencies. */
const POSSIBLE = [
  'EUR 0.2067 3.63,JPY 25 495,GBP 0.1567 2.82,CHF 0.24 5.49,AUD 0.3 6.3,CAD 0.3034 4.86,NZD 0.3767 7.68',
  'SEK 1.934 34.5,NOK 1.634 36,DKK 1.534 27.3,CNY 2 24.9,HKD 2.567 23.7,SGD 0.3967 5.61,INR 13 285,KRW 296.7 4800',
].flatMap((line) => line.split(',').map((range) => range.split(' ')))

/** A rate and its publication; times in ms since the Unix epoch. */
type Quote = Record<'rate' | 'updatedAt' | 'nextUpdateAt', number>

/** The latest rates that a process serves; times in ms since the Unix epoch. */
export interface Table {
  updatedAt: number
  nextUpdateAt: number
  /** The earlier of `updatedAt` and the time of acceptance. */
  publishedAt: number
  loadedAt: number
  /** Possible rates of each code, in the order of the feed; usually one. */
  quotes: ReadonlyMap<string, readonly Quote[]>
  doubtful: ReadonlyMap<string, readonly number[]>
  /** Every code of this table and of those before. */
  seen: ReadonlySet<string>
}

/** Codes in the events about an accepted table. */
export type Notes = Record<'dropped' | 'lost' | 'quarantined', readonly string[]>

/** What determines the outcome of accepting a table. */
export interface Taking {
  notes: Notes
  /** The previous table, and whether it is certainly new enough for comparisons. */
  before: Table | undefined
  isWarm: boolean
  clock: number
  maxStale: number
}

export function takeTable(sent: Publication, taking: Taking): Table {
  const { notes, clock } = taking
  const { updatedAt } = sent
  const nextUpdateAt = Math.min(sent.nextUpdateAt, updatedAt + MAX_UPDATE_INTERVAL)
  const quoteOf = (rate: number): Quote[] => [{ rate, updatedAt, nextUpdateAt }]
  const rates = Object.entries(sent.rates).filter(([code]) => /^[A-Z]{3}$/.test(code))
  const good = rates.filter(([code, rate]) => isRate(rate) && !notes.dropped.includes(code))
  const quotes = new Map(good.map(([code, rate]) => [code, quoteOf(rate)]))
  return complete(
    {
      updatedAt,
      nextUpdateAt,
      publishedAt: Math.min(updatedAt, clock),
      loadedAt: clock,
      quotes: quotes.has('USD') ? quotes : new Map([['USD', quoteOf(1)], ...quotes]),
      doubtful: new Map(notes.quarantined.map((code) => [code, [sent.rates[code] ?? NaN]])),
      seen: new Set(rates.map(([code]) => code)),
    },
    taking,
  )
}

/** Returns the table of a process after it read `stored`, the table of another process, from a store. */
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
      doubtful: new Map(notes.quarantined.map((code) => [code, doubtfulOf(code)])),
    },
    taking,
    true,
  )
}

/** Adds the codes that `table` keeps of the previous one, unless they are too old. */
function complete(table: Table, taking: Taking, isRestored = false): Table {
  const { notes, before, isWarm, clock, maxStale } = taking
  const { updatedAt, nextUpdateAt } = table
  const quotes = new Map(table.quotes)
  const keptOf = (code: string): Quote[] =>
    (before?.quotes.get(code) ?? []).map((quote) => {
      // A rate of a publication with a future date is as old as its acceptance.
      const time = quote.updatedAt === before?.updatedAt ? before.publishedAt : quote.updatedAt
      const times = time < updatedAt ? { ...quote, updatedAt: time } : { updatedAt, nextUpdateAt }
      return { ...times, rate: quote.rate }
    })
  for (const [code, own] of table.quotes) {
    const kept = keptOf(code)
    const isQuarantined = notes.quarantined.includes(code)
    const newer = kept.filter((each) => own.every((quote) => quote.updatedAt < each.updatedAt))
    const isOutdated = kept.length > 0 && newer.length === kept.length
    // Another process may have quarantined a code before it stored the table.
    if (isRestored ? isOutdated && isWarm : isQuarantined) quotes.set(code, kept)
    else if (isRestored && (isQuarantined || newer.length > 0)) quotes.set(code, [...own, ...kept])
  }
  for (const code of before?.quotes.keys() ?? []) {
    if (notes.lost.includes(code)) quotes.set(code, keptOf(code))
  }
  const isUsable = (quote: Quote): boolean => !isOld(quote, table, clock - maxStale)
  const euros = (quotes.get('EUR') ?? []).filter(isUsable)
  for (const [code, ratio] of Object.entries(WITHDRAWN)) {
    // A bad rate is replaced, too.
    if (euros.length === 0 || !(quotes.has(code) || notes.dropped.includes(code))) continue
    const lawful = euros.map((quote) => {
      return { ...quote, rate: Number((quote.rate * ratio).toPrecision(15)) }
    })
    quotes.set(code, lawful)
  }
  return {
    ...table,
    quotes: new Map([...quotes].filter(([, found]) => found.some(isUsable))),
    seen: new Set([...table.seen, ...(before?.seen ?? [])]),
  }
}

export function dueAt({ nextUpdateAt, loadedAt }: Table): number {
  return Math.max(nextUpdateAt, loadedAt + MIN_LIFETIME)
}

function isOld({ updatedAt, nextUpdateAt }: Quote, table: Table, instant: number): boolean {
  return updatedAt < table.updatedAt && nextUpdateAt < instant
}

/** The earliest and latest times that a process may assume, minus `maxStale`. */
export type Limits = Record<'from' | 'to', number>

/** Returns whether `table` has a rate of `code` that is served until these limits. */
export function stateOf(table: Table, code: string, { from, to }: Limits) {
  const quotes = table.quotes.get(code) ?? []
  if (quotes.every((quote) => isOld(quote, table, from))) return 'absent'
  return quotes.some((quote) => isOld(quote, table, to)) ? 'doubtful' : 'served'
}

export function hasRates(table: Table, codes: readonly string[], limits: Limits): boolean {
  return codes.every((code) => stateOf(table, code, limits) === 'served')
}

export function isCarried(table: Table, codes: readonly string[]): boolean {
  return codes.every((code) => (isWithdrawn(code) ? table.quotes : table.seen).has(code))
}

export function isWithdrawn(code: string): boolean {
  return code in WITHDRAWN
}

export type Pair = Record<'from' | 'to', string>

/** Returns the possible times of publication of a rate of `pair`, if `rate` is possible by `table`. */
function timesOf(table: Table, { from, to }: Pair, rate: number): number[] {
  const quotesOf = (code: string): readonly Quote[] => table.quotes.get(code) ?? []
  return quotesOf(from).flatMap((one) =>
    quotesOf(to)
      .filter((other) => isQuotient(from === to ? 1 : other.rate / one.rate, rate, from))
      .map((other) => Math.min(one.updatedAt, other.updatedAt)),
  )
}

/** Returns whether `rate` against `base` is `expected`, exactly if it was published in this form. */
function isQuotient(expected: number, rate: number, base: string): boolean {
  if (base === 'USD' || expected === 1) return rate === expected
  return Math.abs(rate - expected) <= ROUNDING * expected
}

export interface ResponseTable {
  base: string
  symbols: readonly string[] | undefined
  rates: Readonly<Record<string, number>>
  updatedAt: number
  nextUpdateAt: number
  older: Readonly<Record<string, unknown>>
}

export function checkTable(table: Table, response: ResponseTable, limits: Limits) {
  const { base, symbols, rates, updatedAt, nextUpdateAt, older } = response
  const wanted = [...table.quotes.keys()].filter((code) => !symbols || symbols.includes(code))
  const codes = wanted.filter((code) => {
    const state = stateOf(table, code, limits)
    return state === 'served' || (state === 'doubtful' && code in rates)
  })
  if (Object.keys(rates).join() !== codes.join()) {
    return `${Object.keys(rates).join()} are response, not ${codes.join()}`
  }
  const isRight = (to: string) => timesOf(table, { from: base, to }, rates[to] ?? NaN).length > 0
  const wrong = codes.find((code) => !isRight(code))
  if (wrong) return `${rates[wrong]} is not the rate of ${base} in ${wrong}`
  if (!timesOfOldest(table, symbols ? [base, ...codes] : [base]).includes(updatedAt)) {
    return `updatedAt ${updatedAt} is not that of the oldest rate`
  }
  if (nextUpdateAt !== table.nextUpdateAt) return `nextUpdateAt is ${nextUpdateAt}`
  const isDated = (code: string) =>
    timesOfOldest(table, [code]).includes(Number(older[code] ?? table.updatedAt))
  const misdated = codes.find((code) => !isDated(code))
  return misdated && `older has ${String(older[misdated])} for ${misdated}`
}

export function checkRate(table: Table, pair: Pair, rate: number, updatedAt: number) {
  const times = timesOf(table, pair, rate)
  if (times.includes(updatedAt)) return undefined
  if (times.length === 0) return `${rate} is not the rate of ${pair.from} in ${pair.to}`
  return `a rate published at ${times.join()} has updatedAt ${updatedAt}`
}

export function timesOfOldest(table: Table, codes: readonly string[]): number[] {
  const times = codes.map((code) => (table.quotes.get(code) ?? []).map((each) => each.updatedAt))
  const newest = Math.min(...times.map((each) => Math.max(...each)))
  return times.flat().filter((time) => time <= newest)
}

/** Returns whether rates of `table` with this `updatedAt` have this `Last-Modified`, in whole seconds. */
export function isModified(table: Table, updatedAt: number, lastModified: number): boolean {
  return lastModified === Math.floor(Math.min(updatedAt, table.publishedAt) / SECOND) * SECOND
}

/** Returns the codes whose rates in `table` moved too far from those in `before` without confirmation. */
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

/** Returns the codes that `table` quarantines although they are on their peg and have hardly moved since `before`. */
export function needlessQuarantines(table: Table, before: Table): string[] {
  return [...table.doubtful].flatMap(([code, rates]) => {
    const last = before.quotes.get(code)?.map(({ rate }) => rate) ?? []
    // Whichever of these rates the process serves.
    const isNear = (rate: number): boolean =>
      last.every((each) => isAnyNear(rate, [each], maxMoveOf(code)))
    const isNeedless = rates.every((rate) => isNear(rate) && !isOffPeg(table, code, rate))
    return last.length > 0 && isNeedless ? [code] : []
  })
}

function isOffPeg({ quotes }: Table, code: string, rate: number): boolean {
  const [anchor = '', low = 0, high = Infinity] = PEGS[code] ?? []
  const anchors = anchor === 'USD' ? [1] : (quotes.get(anchor) ?? []).map((quote) => quote.rate)
  return anchors.some((each) => rate / each < low / MAX_OFF_PEG || rate / each > high * MAX_OFF_PEG)
}

/** Returns the codes that the next table serves no rate of, except quarantined ones. */
export function lostCodes(sent: Publication, { before, notes }: Taking): string[] {
  const isServed = (code: string): boolean =>
    notes.quarantined.includes(code) || (isRate(sent.rates[code]) && !notes.dropped.includes(code))
  return [...(before?.quotes.keys() ?? [])].filter(
    (code) => code !== 'USD' && !isServed(code) && !isWithdrawn(code),
  )
}

/** Returns the codes whose rates are from an earlier publication than `table`. */
export function keptCodes({ quotes, updatedAt }: Table): string[] {
  return [...quotes].flatMap(([code, found]) =>
    found.some((quote) => quote.updatedAt < updatedAt) ? [code] : [],
  )
}

/** Returns the codes of major currencies whose rates in `table` are impossible. */
export function impossibleRates(table: Table): string[] {
  return POSSIBLE.flatMap(([code = '', low, high]) => {
    const rates = (table.quotes.get(code) ?? []).map(({ rate }) => rate)
    const isImpossible = (rate: number) => rate < Number(low) || rate > Number(high)
    return rates.length > 0 && rates.every(isImpossible) ? [code] : []
  })
}

function maxMoveOf(code: string): number {
  return OTHER_CODES.includes(code) ? MAX_MOVE.other : MAX_MOVE.reference
}

function isAnyNear(rate: number, others: readonly number[], most: number): boolean {
  // Floating-point sums are not exact.
  return others.some((other) => Math.max(rate / other, other / rate) <= most * (1 + ROUNDING))
}

function isRate(rate: unknown): boolean {
  return typeof rate === 'number' && rate >= 1e-9 && rate <= 1e9
}

export type Call = ReturnType<typeof newCall>

export function newCall(requestedAt: number) {
  return {
    requestedAt,
    signal: undefined as AbortSignal | undefined,
    fault: undefined as Fault | undefined,
    isFaultChosen: false,
    verdict: 'take' as 'refuse' | 'refuse when warm' | 'take',
    sent: undefined as Publication | undefined,
    before: undefined as Table | undefined,
    /** Whether a late reply of the store has overtaken it: an older response is then not taken. */
    isOvertaken: false,
  }
}

/** What can be observed of one data set in one process. Times in ms of virtual time unless noted. */
export type DataSetKnowledge = ReturnType<typeof nothingKnown>

export type Knowledge = Record<DataSet, DataSetKnowledge>

export function createKnowledge(): Knowledge {
  return { latest: nothingKnown(), history: nothingKnown() }
}

function nothingKnown() {
  const never = -Infinity
  return {
    call: undefined as Call | undefined,
    failures: 0,
    /** End of the backoff, unless the clock is set. */
    backoffUntil: never,
    /** End of the delay that the upstream requested. */
    retryAfterUntil: never,
    backoffJumps: 0,
    /** Since when every lease has been denied for the current data, and the time of the last denial. */
    refusedSince: undefined as number | undefined,
    refusedAt: never,
    /** Number and time of possible changes of the current data. A response at that moment may have either. */
    news: 0,
    newsAt: never,
    /** Value of `news` at the last comparison of a response with the truth. */
    comparedNews: -1,
    /** The current latest rates, and those before the last change. */
    table: undefined as Table | undefined,
    tableBefore: undefined as Table | undefined,
    /** Codes in the last events, and the time of these: they concern a table that is accepted at the same moment. */
    notes: NO_NOTES,
    notedAt: never,
    /** Days of history, or rates of a day, that are quarantined or were not published: `2026-11-19 USD`. */
    missing: new Set<string>() as ReadonlySet<string>,
    missingBefore: new Set<string>() as ReadonlySet<string>,
    delivered: undefined as unknown,
    deliveredAt: never,
    /** The newest `Last-Modified` of a response that needed a code, by code, in ms since the Unix epoch. */
    modified: new Map<string, number>(),
    /** Until this time of a clock that never goes back (ms since the Unix epoch), the current data are certainly served. */
    usableUntil: never,
    /** The newest day served, and the publication of the latest rates served last (ms since the Unix epoch). */
    served: '',
    publishedAt: never,
    /** Time of the next refresh according to the last response, and the value of `news` then. */
    refreshAt: never,
    refreshNews: -1,
    refreshJumps: 0,
    /** Times of overdue responses in a row without a change in between. Each may have started a refresh. */
    staleResponses: Array<number>(),
  }
}

/** Records that the current data changed at `now`, in ms of virtual time. */
export function noteNews(knowledge: DataSetKnowledge, now: number): void {
  knowledge.news += 1
  knowledge.newsAt = now
  knowledge.staleResponses = []
  knowledge.refusedSince = undefined
  knowledge.usableUntil = -Infinity
}

export const NO_NOTES: Notes = { dropped: [], lost: [], quarantined: [] }
