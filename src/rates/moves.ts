import type { Publication } from './calendar.ts'
import { redenominatedBy } from './currency-code.ts'
import type { Day } from './dates.ts'
import { REFERENCE_CODES, moveBetween } from './rate-table.ts'
import type { Derivations, ReferenceTable } from './rate-table.ts'

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
  frequency: Publication['frequency'] = 'daily',
): boolean {
  const isOften = frequency === 'daily' || frequency === 'weekly'
  return move > (isOften && REFERENCE_CODES.has(code) ? MAX_REFERENCE_MOVE : MAX_OTHER_MOVE)
}

/** Returns how many publications in a row with about the same rate confirm a move without another source: 1 if it is not doubtful. */
export function publicationsToConfirm(
  code: string,
  move: number,
  frequency: Publication['frequency'] = 'daily',
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

const AS_OF: Day = '2026-11-25'

/**
 * Units for one US dollar on that day, as powers of √10 and the codes near each: enough to notice another currency or a wrong
 * unit where nothing else is known. `scripts/usual-rates.ts` renews them.
 */
const rows = [
  '-3: CLF',
  '-1: BHD KWD OMR',
  '0: USD AUD AZN BAM BMD BND BSD CAD CHF EUR FKP GBP GGP GIP IMP JEP JOD KID KYD NZD PAB SGD SHP TVD XDR',
  '1: AED AWG BBD BRL BYN BZD FJD GEL ILS LYD MYR PEN PGK PLN QAR RON SAR TMT TND TOP WST XCD XCG',
  '2: BOB BWP CNH CNY DKK ERN FOK GHS GTQ HKD LSL MAD MDL MOP MVR NAD NOK SBD SCR SEK SZL TJS TTD ZAR',
  '3: CUP CZK EGP HNL MKD MRU MUR MXN NIO SLE SRD STN THB TRY TWD UAH UYU ZMW ZWG',
  '4: AFN ALL BDT BTN CVE DOP DZD ETB GMD HTG INR ISK JMD JPY KES KGS MZN NPR PHP RSD RUB SYP VUV XPF',
  '5: AMD CRC DJF GYD HUF KMF KZT LKR LRD PKR SDG VES XAF XOF YER',
  '6: AOA ARS CLP IQD KRW MWK NGN RWF SOS',
  '7: BIF CDF COP KHR MGA MMK MNT SSP TZS UGX',
  '8: GNF IDR PYG UZS',
  '9: LAK VND',
  '10: LBP',
  '12: IRR',
]

/** A first rate that is further off is not believed without another source. */
export const MAX_UNUSUAL_MOVE = 100

export const MIN_COMPARED_MOVE = 10

const stepByCode: ReadonlyMap<string, number> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ rows.flatMap((row) => {
    const [step, codes = ''] = row.split(': ')
    return codes.split(' ').map((code) => [code, Number(step)] as const)
  }),
)

/** Returns the factor between `rate` (units of `code` for one unit of `base`) and the usual one of a day; NaN if that is unknown. */
export function moveFromUsual(
  { base, code, rate }: { base: string; code: string; rate: unknown },
  day: Day,
): number {
  const [step = NaN, baseStep = NaN] = [code, base].map((each) => stepByCode.get(each))
  const usual = 10 ** ((step - baseStep) / 2) * redenominatedBy(code, day, AS_OF)
  return moveBetween(rate, usual)
}

/** Returns whether first rates have to be compared with another source, if one is configured. */
export function hasUnusualRates(
  { base, rates, derived }: { base: string; rates: object; derived?: Derivations | undefined },
  day: Day,
): boolean {
  return Object.entries(rates).some(
    ([code, rate]) =>
      !derived?.[code] && moveFromUsual({ base, code, rate }, day) > MIN_COMPARED_MOVE,
  )
}
