import { quotient } from './arithmetic.ts'
import { findSuccession, redenominatedBy } from './currency-code.ts'
import { toDay } from './dates.ts'
import type { Day } from './dates.ts'

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

/** Rates of another source, for comparison. */
export interface ReferenceTable {
  /** ISO 4217 code against which `rates` are quoted. */
  readonly base: string
  /** Units of each currency for one unit of `base`, by upper-case code. */
  readonly rates: ReadonlyMap<string, number>
  /** Rates that are quarantined, by code: they can confirm a move, but not contradict it (default none). */
  readonly unconfirmed?: Readonly<Record<string, number>> | undefined
}

/** Returns the factor between two rates: 1 for equal rates, NaN if one is not a number. */
export function moveBetween(rate: unknown, other: unknown): number {
  if (typeof rate !== 'number' || typeof other !== 'number') return NaN
  return Math.max(rate / other, other / rate)
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
