/** The currencies with a euro reference rate of the European Central Bank, and the euro. */
const REFERENCE_CODES = new Set(
  (
    'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF IDR ILS INR ISK JPY KRW MXN MYR NOK NZD PHP PLN RON SEK SGD THB ' +
    'TRY USD ZAR'
  ).split(' '),
)

/**
 * A rate that changes by a larger factor between two publications is doubtful. The worst day of a currency of the European
 * Central Bank's list since 1999 stayed below the first figure; other currencies are devalued now and then.
 */
const MAX_REFERENCE_MOVE = 1.2
const MAX_OTHER_MOVE = 3

/** A later publication confirms a doubtful rate when it differs from it by no larger factor. */
export const MAX_CONFIRMING_MOVE = 1.2

/** Another source confirms a doubtful rate when it differs from it by no larger factor. */
export const MAX_AGREEING_MOVE = 1.05

/** On no day so large a share of all rates has moved by more than a fifth; three may, in a table however small. */
const MARKET_MOVE = 1.2
const MAX_SHARE_MOVED = 0.1
const MIN_MANY_MOVED = 4

/** The lowest and the highest units of major currencies for one US dollar since 1999. */
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

/** A major currency beyond its range by a larger factor is a mistake. */
const MAX_BEYOND_RANGE = 3

/** This number of major currencies beyond their ranges makes the whole table a mistake. */
const MIN_IMPLAUSIBLE_MAJORS = 3

/** Rates against `base`, from any source. */
export interface QuotedRates {
  base: string
  /** Units of a currency for one unit of `base`; not a number where it is unknown. */
  rateOf(code: string): unknown
}

/** The factor between two rates: 1 for equal ones, NaN where one is not a number. */
export function moveBetween(rate: unknown, other: unknown): number {
  if (typeof rate !== 'number' || typeof other !== 'number') return NaN
  return Math.max(rate / other, other / rate)
}

/** Whether a rate of `code` that moved by the factor `move` since the publication before is doubtful. */
export function isDoubtfulMove(code: string, move: number): boolean {
  return move > (REFERENCE_CODES.has(code) ? MAX_REFERENCE_MOVE : MAX_OTHER_MOVE)
}

/** How many of `moves`, factors since the publication before, are large, where that is more than a market does at once. */
export function countManyMoved(moves: readonly number[]): number | undefined {
  const moved = moves.filter((move) => move > MARKET_MOVE).length
  return moved >= MIN_MANY_MOVED && moved > MAX_SHARE_MOVED * moves.length ? moved : undefined
}

/**
 * The major currencies whose rate against the US dollar is three times beyond all that it has been since 1999: the
 * codes, and whether they are too many, or the base itself, so that the whole table is not to be believed. None where the
 * dollar is not quoted.
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
