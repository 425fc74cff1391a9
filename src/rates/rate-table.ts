import { quotient } from './arithmetic.ts'
import { findSuccession, redenominatedBy } from './currency-code.ts'
import { toDay } from './dates.ts'
import type { Day } from './dates.ts'
import type { Publication as BankPublication } from './calendar.ts'

/** @internal Units of one currency per unit of another; positive. */
export type Rate = number

/** @internal An amount of a currency; not negative. */
export type Amount = number

/** Times of a publication, in ms since the Unix epoch. */
interface Publication {
  readonly updatedAt: number
  readonly nextUpdateAt: number
}

export type CodedPublications = Record<string, Publication>

/**
 * Where a rate comes from that is not in the publication of its source: an official `peg`, a ratio `fixed` by the app, or an
 * `overlay` of the app's own rates.
 */
export type Derivation = 'peg' | 'fixed' | 'overlay'

/** Derivations by currency code. */
export type Derivations = Readonly<Record<string, Derivation>>

/** All derivations; the first one of a pair counts. */
export const DERIVATIONS: readonly Derivation[] = ['overlay', 'fixed', 'peg']

export function derivationOf(
  { derived }: { readonly derived?: Derivations | undefined },
  codes: readonly string[],
): Derivation | undefined {
  return derived && DERIVATIONS.find((each) => codes.some((code) => derived[code] === each))
}

/** A publication of rates. All bases are derived from it, so that all pairs are consistent. */
export interface RateTable extends Publication {
  readonly base: string
  /** The earlier of `updatedAt` and the time of acceptance, in ms since the Unix epoch; orders publications. */
  readonly publishedAt: number
  /** From when the next publication is late (default a day after `nextUpdateAt`). */
  readonly lateAt?: number
  /** Units of each currency for one unit of `base`, in the provider's order; the base itself is 1. */
  readonly rates: ReadonlyMap<string, number>
  /** Codes whose `rates` are units of `base` for one unit of the currency; absent if empty. */
  readonly priced?: ReadonlySet<string>
  /** Published units of `base` for one unit of each currency whose `rates` have the inverse; absent if empty. */
  readonly prices?: ReadonlyMap<string, number>
  /** Codes whose rates are not in the publication; absent if empty. */
  readonly derived?: Derivations
  /** Number of the table, such as `041/A/NBP/2026`; absent if the bank gives it none. */
  readonly tableNumber?: string
  /** Published rates that are quarantined until they are confirmed; absent if empty. */
  readonly unconfirmed?: Readonly<Record<string, UnconfirmedRate>>
  /** Publication times of `rates` from earlier publications, by code; absent if empty. */
  readonly older?: Readonly<CodedPublications>
  /** Current or former codes of the provider without a usable rate; absent if empty. */
  readonly unavailable?: readonly string[]
}

/** A published rate that is quarantined because it looks wrong. */
export interface UnconfirmedRate {
  /** As published, against the base of its table. */
  readonly rate: number
  /** How many publications in a row, each on a later day, have had about this rate. */
  readonly publications: number
  /** The last good rate, which may have expired; absent without one. */
  readonly good?: number | undefined
}

const MAX_UNAVAILABLE = 1_000

export interface PreviousRates {
  /** Previous table of the same provider, as long as it may be served. */
  previous: RateTable | undefined
  /** All other codes that were ever served or unavailable. */
  seenCodes: Iterable<string>
  /** How long overdue rates may still be served, in ms. */
  maxStale: number
  now: number
}

/** A table completed with earlier rates, and the codes that its publication is the first to lack. */
export interface CompletedTable {
  table: RateTable
  lost: string[]
}

/**
 * Completes `table` with the rates of `previous` for codes that it lacks or has an older rate of, each with the times of its
 * publication. `unusable` codes were published without a usable rate. A code without a rate in either table becomes
 * unavailable. A withdrawn currency without a published rate is removed.
 */
export function carryForward(
  table: RateTable,
  unusable: readonly string[],
  { previous, seenCodes, maxStale, now }: PreviousRates,
): CompletedTable {
  const rates = new Map(table.rates)
  const older = new Map(Object.entries(table.older ?? {}))
  const lost: string[] = []
  const day = toDay(table.publishedAt)
  const hasEnded = (code: string): boolean => findSuccession(code, day) !== undefined
  if (previous) {
    for (const [code, quoted] of previous.rates) {
      const rate = rebased(previous, quoted, table.base)
      if (rate === undefined || hasEnded(code)) continue
      const publication = publicationOf(previous, code)
      if (redenominatedBy(code, toDay(publication.updatedAt), day) > 1) continue
      const isQuarantined = table.unconfirmed?.[code] !== undefined && rates.get(code) === rate
      // Another process may have missed or quarantined a rate that this one has.
      const isOutdated = (older.get(code)?.updatedAt ?? Infinity) < publication.updatedAt
      if (rates.has(code) && !isQuarantined && !isOutdated) continue
      if (!rates.has(code)) lost.push(code)
      rates.set(code, rate)
      if (publication.updatedAt < table.updatedAt) older.set(code, publication)
      else older.delete(code)
    }
  }
  const known = [...unusable, ...Object.keys(table.unconfirmed ?? {}), ...seenCodes]
  const unavailable = [...(table.unavailable ?? []), ...known].filter(
    (code) => !rates.has(code) && !hasEnded(code),
  )
  const sameBase = previous?.base === table.base ? previous.prices : undefined
  const prices = pricesOf(rates, table.prices, sameBase)
  const derived = carriedDerivations(table, previous, rates)
  const carried = withOlder(
    { ...table, ...prices, ...derived, rates },
    Object.fromEntries(older),
    unavailable,
  )
  return { table: dropExpired(carried, now, maxStale), lost }
}

function carriedDerivations(
  table: RateTable,
  previous: RateTable | undefined,
  rates: RateTable['rates'],
): Pick<RateTable, 'derived'> {
  if (!previous?.derived) return {}
  const carried = Object.entries(previous.derived).filter(
    ([code]) => rates.has(code) && rates.get(code) !== table.rates.get(code),
  )
  if (carried.length === 0) return {}
  return { derived: { ...table.derived, ...Object.fromEntries(carried) } }
}

export function pricesOf(
  rates: ReadonlyMap<string, number>,
  ...candidates: readonly (ReadonlyMap<string, number> | undefined)[]
): Pick<RateTable, 'prices'> {
  const prices = new Map<string, number>()
  for (const candidate of candidates) {
    for (const [code, price] of candidate ?? []) {
      if (rates.get(code) === 1 / price) prices.set(code, price)
    }
  }
  return prices.size > 0 ? { prices } : {}
}

export function dropExpired(table: RateTable, now: number, maxStale: number): RateTable {
  const older = Object.entries(table.older ?? {})
  const expired = older.filter(([, { nextUpdateAt }]) => nextUpdateAt + maxStale < now)
  if (expired.length === 0) return table
  const codes = new Set(expired.map(([code]) => code))
  const left = older.filter(([code]) => !codes.has(code))
  const rates = new Map([...table.rates].filter(([code]) => !codes.has(code)))
  return withOlder({ ...table, rates }, Object.fromEntries(left), [
    ...codes,
    ...(table.unavailable ?? []),
  ])
}

/** Returns `table` with the `updatedAt` of the oldest of its rates of `codes`. */
export function oldestPublication(table: RateTable, codes: readonly string[]): RateTable {
  const { older } = table
  if (!older) return table
  const times = codes.map((code) => older[code]?.updatedAt ?? table.updatedAt)
  const updatedAt = Math.min(table.updatedAt, ...times)
  if (updatedAt === table.updatedAt) return table
  return { ...table, updatedAt, publishedAt: Math.min(updatedAt, table.publishedAt) }
}

function withOlder(
  { older: _older, unavailable: _unavailable, ...table }: RateTable,
  older: CodedPublications,
  unavailable: readonly string[],
): RateTable {
  return {
    ...table,
    ...(Object.keys(older).length > 0 && { older }),
    ...(unavailable.length > 0 && {
      unavailable: [...new Set(unavailable)].slice(0, MAX_UNAVAILABLE),
    }),
  }
}

/** A publication that was dated ahead counts from its acceptance. */
function publicationOf({ older, publishedAt, nextUpdateAt }: RateTable, code: string): Publication {
  return older?.[code] ?? { updatedAt: publishedAt, nextUpdateAt }
}

function rebased(table: RateTable, quoted: number, base: string): number | undefined {
  if (table.base === base) return quoted
  const baseRate = table.rates.get(base)
  return baseRate === undefined ? undefined : quotient(quoted, baseRate)
}

/** Currencies with a reference rate of the European Central Bank. */
export const REFERENCE_CODES: ReadonlySet<string> = /* @__PURE__ */ new Set(
  /* @__PURE__ */ (
    'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF IDR ILS INR ISK JPY KRW MXN MYR NOK NZD PHP PLN RON SEK SGD THB ' +
    'TRY USD ZAR'
  ).split(' '),
)

/**
 * A larger factor between two publications is doubtful. The largest daily move since 1999 of a currency with a reference rate
 * of the European Central Bank was below 1.2; other currencies are sometimes devalued.
 */
const MAX_REFERENCE_MOVE = 1.2
const MAX_OTHER_MOVE = 3

/** Publications in a row that confirm a move which a wrong unit makes, and another one of more than threefold. */
const PUBLICATIONS = { daily: [14, 7], rarer: [4, 2] } as const

/** A later publication within this factor has about the same rate. */
export const MAX_CONFIRMING_MOVE = 1.2

/** Another source within this factor confirms a doubtful rate; one beyond a doubtful move contradicts it. */
export const MAX_AGREEING_MOVE = 1.05

/** Rates of another source, for comparison. */
export interface ReferenceTable {
  /** ISO 4217 code against which `rates` are quoted. */
  readonly base: string
  /** Units of each currency for one unit of `base`, by upper-case code. */
  readonly rates: ReadonlyMap<string, number>
  /** Rates that are quarantined, by code: they can confirm a move, but not contradict it (default none). */
  readonly unconfirmed?: Readonly<Record<string, number>> | undefined
}

/** On no day has more than a tenth of all rates moved by more than 20 %. Three may, even in a small table. */
const MARKET_MOVE = 1.2
const MAX_SHARE_MOVED = 0.1
const MIN_MANY_MOVED = 4

/** Lowest and highest units of major currencies and of metals for one US dollar since 1999. */
const MAJOR_RANGES: Readonly<Record<string, readonly [low: number, high: number]>> = {
  EUR: [0.62, 1.21],
  JPY: [75, 165],
  GBP: [0.47, 0.94],
  CHF: [0.72, 1.83],
  AUD: [0.9, 2.1],
  CAD: [0.91, 1.62],
  NZD: [1.13, 2.56],
  SEK: [5.8, 11.5],
  NOK: [4.9, 12],
  DKK: [4.6, 9.1],
  CNY: [6, 8.3],
  HKD: [7.7, 7.9],
  SGD: [1.19, 1.87],
  INR: [39, 95],
  KRW: [890, 1_600],
  // Troy ounces. A price instead of a rate is far outside.
  XAG: [0.008, 0.25],
  XAU: [0.00018, 0.004],
  XPD: [0.00029, 0.007],
  XPT: [0.00034, 0.003],
}

const MAX_BEYOND_RANGE = 3

const MIN_IMPLAUSIBLE_MAJORS = 3

export interface QuotedRates {
  base: string
  /** Returns the units of a currency for one unit of `base`; not a number if unknown. */
  rateOf(code: string): unknown
}

/** Returns the factor between two rates: 1 for equal rates, NaN if one is not a number. */
export function moveBetween(rate: unknown, other: unknown): number {
  if (typeof rate !== 'number' || typeof other !== 'number') return NaN
  return Math.max(rate / other, other / rate)
}

/**
 * Returns the factor between the `rate` of `code` for one unit of `base` and that of the nearest of `references`, if that
 * confirms it, else of the farthest; NaN if none has both currencies.
 */
export function moveFromOthers(
  references: readonly ReferenceTable[],
  { base, code, rate }: { base: string; code: string; rate: unknown },
): number {
  const moves = references
    .map((reference) => moveFromReference(reference, { base, code, rate }))
    .filter((move) => !Number.isNaN(move))
    .toSorted((one, other) => one - other)
  const [nearest = NaN] = moves
  return nearest <= MAX_AGREEING_MOVE ? nearest : (moves.at(-1) ?? NaN)
}

function moveFromReference(
  { base: quotedBase, rates, unconfirmed }: ReferenceTable,
  { base, code, rate }: { base: string; code: string; rate: unknown },
): number {
  const quotesOf = (each: string): number[] =>
    each === quotedBase ? [1] : [rates.get(each) ?? NaN, unconfirmed?.[each] ?? NaN]
  const [move = NaN, ...others] = quotesOf(code).flatMap((quote) =>
    quotesOf(base).map((baseQuote) => moveBetween(rate, quote / baseQuote)),
  )
  const nearest = Math.min(...[move, ...others].filter((each) => !Number.isNaN(each)))
  // Without an accepted rate, the quarantined one of the other source contradicts nothing.
  return Number.isNaN(move) && nearest > MAX_AGREEING_MOVE ? NaN : nearest
}

/** From month to month, rates move further than from day to day. */
export function isDoubtfulMove(
  code: string,
  move: number,
  frequency: BankPublication['frequency'] = 'daily',
): boolean {
  const isOften = frequency === 'daily' || frequency === 'weekly'
  return move > (isOften && REFERENCE_CODES.has(code) ? MAX_REFERENCE_MOVE : MAX_OTHER_MOVE)
}

/** Returns how many publications in a row with about the same rate confirm a move without another source: 1 if it is not doubtful. */
export function publicationsToConfirm(
  code: string,
  move: number,
  frequency: BankPublication['frequency'] = 'daily',
): number {
  if (!isDoubtfulMove(code, move, frequency)) return 1
  const [ofUnits, ofOthers] = PUBLICATIONS[frequency === 'daily' ? 'daily' : 'rarer']
  if (isPowerOfTen(move)) return ofUnits
  return move > MAX_OTHER_MOVE ? ofOthers : 2
}

/** Within a fifth. */
export function isPowerOfTen(factor: number): boolean {
  const power = 10 ** Math.round(Math.log10(factor))
  return power > 1 && moveBetween(factor, power) <= 1.2
}

/** Returns the number of large `moves` (factors since the previous publication) if it is implausible for one day, else undefined. */
export function countManyMoved(moves: readonly number[]): number | undefined {
  const moved = moves.filter((move) => move > MARKET_MOVE).length
  return moved >= MIN_MANY_MOVED && moved > MAX_SHARE_MOVED * moves.length ? moved : undefined
}

/**
 * Finds major currencies and metals whose US dollar rate is more than three times outside its range since 1999. `isMany` is
 * true if the whole table is implausible: three or more currencies, or the base. Finds none if the dollar is not quoted.
 */
export function findImplausibleMajors({ base, rateOf }: QuotedRates): {
  codes: string[]
  isMany: boolean
} {
  const quote = (code: string): number => (code === base ? 1 : Number(rateOf(code) ?? NaN))
  const dollar = quote('USD')
  const codes = Object.entries(MAJOR_RANGES)
    .filter(([code, [low, high]]) => {
      const rate = quote(code) / dollar
      return rate < low / MAX_BEYOND_RANGE || rate > high * MAX_BEYOND_RANGE
    })
    .map(([code]) => code)
  const majors = codes.filter((code) => !code.startsWith('X'))
  return { codes, isMany: majors.length >= MIN_IMPLAUSIBLE_MAJORS || codes.includes(base) }
}

/** A published rate that contradicts a legally fixed ratio. */
export interface RateCorrection {
  code: string
  /** Published units for one unit of the base. */
  published: number
  /** Units for one unit of the base, from the successor's rate and the fixed ratio. */
  corrected: number
}

/** Correct feeds are within 0.006 %, and rounding the successor's rate explains most of a smaller deviation. */
const MAX_DEVIATION = 1.005

/** Rates that a law fixes have 15 significant digits: with 10, the quotient of two would not always be the ratio. */
export function toFixedRate(rate: number): number {
  return Number(rate.toPrecision(15))
}

/**
 * Sets the rates of currencies that were withdrawn by the `updatedAt` of `table`, and of `unusable` codes among them: the rate
 * of the successor times the legally fixed ratio. Against a withdrawn base, all rates are those against its successor divided
 * by the ratio. Unchanged are derived rates, and currencies without a fixed ratio or without a rate of the successor.
 */
export function applyLegalRatios(
  table: RateTable,
  unusable: readonly string[] = [],
): { table: RateTable; corrections: RateCorrection[] } {
  const { base } = table
  const day = toDay(table.updatedAt)
  const rates = new Map(table.rates)
  const [derived, older] = [{ ...table.derived }, { ...table.older }]
  const corrections: RateCorrection[] = []
  const ofBase = findSuccession(base, day)
  const lawful = ofBase?.ratio ? toFixedRate(1 / ofBase.ratio) : NaN
  const scale = lawful / (rates.get(ofBase?.successor ?? '') ?? NaN)
  for (const [code, rate] of scale === 1 || Number.isNaN(scale) ? [] : rates) {
    if (code !== base) rates.set(code, toFixedRate(rate * scale))
  }
  for (const code of [...rates.keys(), ...unusable]) {
    const isOpen = code !== base && !table.derived?.[code]
    const fixed = isOpen ? findFixedRate(code, day, (each) => rates.get(each)) : undefined
    if (!fixed) continue
    const { successor, rate: corrected } = fixed
    const { [successor]: publication } = older
    const { [successor]: derivation } = derived
    const published = rates.get(code)
    rates.set(code, corrected)
    if (publication) older[code] = publication
    if (derivation) derived[code] = derivation
    if (published !== undefined && moveBetween(published, corrected) > MAX_DEVIATION)
      corrections.push({ code, published, corrected })
  }
  const marks = { ...(table.derived && { derived }), ...(table.older && { older }) }
  return { table: { ...table, rates, ...marks }, corrections }
}

/** Returns the legally fixed rate of `code` on `day`; undefined if the currency is not withdrawn or its successor has no rate. */
export function findFixedRate(
  code: string,
  day: Day,
  rateOf: (code: string) => unknown,
): { successor: string; rate: number } | undefined {
  const { successor = '', ratio = null } = findSuccession(code, day) ?? {}
  const rate = ratio && rateOf(successor)
  if (ratio === null || typeof rate !== 'number' || !(rate > 0)) return undefined
  return { successor, rate: toFixedRate(rate * ratio) }
}
