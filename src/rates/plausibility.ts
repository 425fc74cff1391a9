/** The euro, and the currencies with a reference rate of the European Central Bank. */
const REFERENCE_CODES = new Set(
  (
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

/** A later publication within this factor confirms a doubtful rate. */
export const MAX_CONFIRMING_MOVE = 1.2

/** Another source within this factor confirms a doubtful rate. */
export const MAX_AGREEING_MOVE = 1.05

/** On no day has more than a tenth of all rates moved by more than 20 %. Three may, even in a small table. */
const MARKET_MOVE = 1.2
const MAX_SHARE_MOVED = 0.1
const MIN_MANY_MOVED = 4

/** Lowest and highest units for one US dollar since 1999. */
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
}

const MAX_BEYOND_RANGE = 3

const MIN_IMPLAUSIBLE_MAJORS = 3

/** Rates of any source against `base`. */
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

/** Returns whether a move of `code` by the factor `move` since the previous publication is doubtful. */
export function isDoubtfulMove(code: string, move: number): boolean {
  return move > (REFERENCE_CODES.has(code) ? MAX_REFERENCE_MOVE : MAX_OTHER_MOVE)
}

/** Returns the number of large `moves` (factors since the previous publication) if it is implausible for one day, else undefined. */
export function countManyMoved(moves: readonly number[]): number | undefined {
  const moved = moves.filter((move) => move > MARKET_MOVE).length
  return moved >= MIN_MANY_MOVED && moved > MAX_SHARE_MOVED * moves.length ? moved : undefined
}

/**
 * Finds major currencies whose US dollar rate is more than three times outside its range since 1999. `isMany` is true if the
 * whole table is implausible: three or more codes, or the base. Finds none if the dollar is not quoted.
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
  return { codes, isMany: codes.length >= MIN_IMPLAUSIBLE_MAJORS || codes.includes(base) }
}
