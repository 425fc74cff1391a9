// The rules for numbers (§5) and history (§6), implemented a second time with exact fractions and a separate calendar.
// Imports nothing from src/, so that an error has to be made twice to stay unnoticed.

/** n / d, with d > 0. */
export interface Exact {
  readonly n: bigint
  readonly d: bigint
}

/** Returns the value of an unsigned decimal text, or of a number in its shortest decimal form. */
export function toExact(decimal: string | number): Exact {
  const parts = /^(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(String(decimal))
  if (!parts) throw new Error(`not a decimal: ${decimal}`)
  const [, whole = '', decimals = '', exponent = '0'] = parts
  return scale({ n: BigInt(whole + decimals), d: 1n }, Number(exponent) - decimals.length)
}

export const divide = (a: Exact, b: Exact): Exact => ({ n: a.n * b.d, d: a.d * b.n })

export const multiply = (a: Exact, b: Exact): Exact => ({ n: a.n * b.n, d: a.d * b.d })

/** Rounds half away from zero. */
function roundDecimals({ n, d }: Exact, decimals: number): Exact {
  const scaled = scale({ n: n < 0n ? -n : n, d }, decimals)
  const whole = (2n * scaled.n + scaled.d) / (2n * scaled.d)
  return scale({ n: n < 0n ? -whole : whole, d: 1n }, -decimals)
}

/** Rounds half up; `value` must be positive. */
export function roundSignificant(value: Exact, digits: number): Exact {
  // 10 ** (length − 1) < value < 10 ** (length + 1)
  const length = String(value.n).length - String(value.d).length
  const unit = scale(value, -length)
  const magnitude = unit.n >= unit.d ? length : length - 1
  return roundDecimals(value, digits - 1 - magnitude)
}

/** Returns the double nearest to an exact value, ties to even, built bit by bit. */
export function nearestDouble({ n, d }: Exact): number {
  if (n < 0n) return -nearestDouble({ n: -n, d })
  if (n === 0n) return 0
  // A mantissa of 53 bits, or fewer among the subnormal numbers.
  let exponent = Math.max(bits(n) - bits(d) - 53, -1074)
  if (shift(n, -exponent) >= shift(d, exponent) << 53n) exponent += 1
  if (exponent > 971) return Infinity
  const [top, bottom] = [shift(n, -exponent), shift(d, exponent)]
  const [mantissa, rest] = [top / bottom, 2n * (top % bottom)]
  const roundsUp = rest > bottom || (rest === bottom && mantissa % 2n === 1n)
  const pattern = (BigInt(exponent + 1074) << 52n) + mantissa + (roundsUp ? 1n : 0n)
  return new Float64Array(new BigUint64Array([pattern]).buffer)[0] ?? NaN
}

function scale({ n, d }: Exact, power: number): Exact {
  const factor = 10n ** BigInt(Math.abs(power))
  return power < 0 ? { n, d: d * factor } : { n: n * factor, d }
}

const shift = (value: bigint, by: number): bigint => (by > 0 ? value << BigInt(by) : value)

const bits = (value: bigint): number => value.toString(2).length

/** Units of each currency for one unit of a base, in the feed's order, with the digits that it published. */
export type Rates = ReadonlyMap<string, Exact>

/** Reads every `"ABC":1.23` of a JSON text. */
export function readRates(json: string): Map<string, Exact> {
  const pairs = json.matchAll(/"([A-Z]{3})":\s*([^,}\s]+)/g)
  return new Map(Array.from(pairs, ([, code = '', digits = '']) => [code, toExact(digits)]))
}

/** §5: 1, or as published, or the quotient rounded to 10 significant digits. */
export function crossRate(rates: Rates, base: string, from: string, to: string): number {
  if (from === to) return 1
  const [one, other] = [rateOf(rates, from), rateOf(rates, to)]
  return nearestDouble(from === base ? other : roundSignificant(divide(other, one), 10))
}

/** §5: the exact product of two shortest decimal forms, rounded once. */
export function product(amount: number, rate: number): number {
  return nearestDouble(multiply(toExact(amount), toExact(rate)))
}

function rateOf(rates: Rates, code: string): Exact {
  const rate = rates.get(code)
  if (!rate) throw new Error(`no rate of ${code}`)
  return rate
}

/** §6: the mean of positive numbers to 10 significant digits. */
export function mean(values: readonly number[]): number {
  const exact = values.map(toExact)
  // Every denominator is a power of ten.
  const d = exact.reduce((max, value) => (value.d > max ? value.d : max), 1n)
  const n = exact.reduce((sum, value) => sum + value.n * (d / value.d), 0n)
  return nearestDouble(roundSignificant({ n, d: d * BigInt(values.length) }, 10))
}

/** §6: (close / open − 1) × 100 to 4 decimals. */
export function percentChange(open: number, close: number): number {
  const { n, d } = divide(toExact(close), toExact(open))
  return nearestDouble(roundDecimals({ n: 100n * (n - d), d }, 4))
}

export const PERIODS = ['1W', '1M', '3M', '6M', '1Y', '5Y'] as const

export type Period = (typeof PERIODS)[number]

/** The reference rates of one published day against EUR, which is 1. */
export interface Day {
  date: string
  rates: Rates
}

export interface Point {
  d: string
  r: number
}

/** Reads the published days of a Frankfurter body, in its order. */
export function readDays(json: string): Day[] {
  const one = toExact(1)
  return Array.from(json.matchAll(/"([\d-]{10})":(\{[^}]*\})/g), ([, date = '', rates = '']) => ({
    date,
    rates: readRates(rates).set('EUR', one),
  }))
}

/** §6: the codes with a rate in the 14 days up to the newest published one, and EUR; sorted. */
export function coveredCodes(days: readonly Day[], newest: string): string[] {
  const first = daysBefore(newest, 13)
  const recent = days.filter(({ date }) => date >= first && date <= newest)
  return [...new Set(recent.flatMap(({ rates }) => [...rates.keys()]))].toSorted()
}

/** §6: one point for every day on which both currencies have a rate. */
export function pairPoints(days: readonly Day[], from: string, to: string): Point[] {
  return days
    .filter(({ rates }) => rates.has(from) && rates.has(to))
    .map(({ date, rates }) => ({ d: date, r: crossRate(rates, 'EUR', from, to) }))
}

/** §6: the points of the window that ends on the newest published day. */
export function inWindow(points: readonly Point[], newest: string, period: Period): Point[] {
  const start = periodStart(newest, period)
  return points.filter(({ d }) => d >= start && d <= newest)
}

/** §6: the summary of at least one point. */
export function statsOf(points: readonly Point[]): Record<string, number | string> {
  const rates = points.map(({ r }) => r)
  const [open = NaN, close = NaN] = [rates.at(0), rates.at(-1)]
  const [high, low] = [Math.max(...rates), Math.min(...rates)]
  return {
    open,
    close,
    high,
    low,
    changePct: percentChange(open, close),
    average: mean(rates),
    highDate: points.find(({ r }) => r === high)?.d ?? '',
    lowDate: points.find(({ r }) => r === low)?.d ?? '',
  }
}

const MONTHS = { '1M': 1, '3M': 3, '6M': 6, '1Y': 12, '5Y': 60 }

/** §6: 7 days or a number of months before `end`, with the day limited to the last of the month. */
export function periodStart(end: string, period: Period): string {
  return period === '1W' ? daysBefore(end, 7) : monthsBefore(end, MONTHS[period])
}

export function monthsBefore(date: string, count: number): string {
  let [year, month, day] = split(date)
  for (let step = 0; step < count; step += 1) [year, month] = monthBefore(year, month)
  return join(year, month, Math.min(day, lastOf(year, month)))
}

export function daysBefore(date: string, count: number): string {
  let [year, month, day] = split(date)
  for (let step = 0; step < count; step += 1) {
    day -= 1
    if (day > 0) continue
    ;[year, month] = monthBefore(year, month)
    day = lastOf(year, month)
  }
  return join(year, month, day)
}

/** Returns the days from `first` to `last`, both inclusive. */
export function daysOf(first: string, last: string): string[] {
  const dates: string[] = []
  for (let date = last; date >= first; date = daysBefore(date, 1)) dates.push(date)
  return dates.toReversed()
}

/** Returns whether a day is a Saturday or Sunday, by Zeller's congruence. */
export function isWeekend(date: string): boolean {
  const [year, month, day] = split(date)
  const [y, m] = month < 3 ? [year - 1, month + 12] : [year, month]
  const leaps = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400)
  return (day + Math.floor((13 * (m + 1)) / 5) + y + leaps) % 7 < 2
}

/** Returns Easter Sunday, by the golden number and the epact (Knuth, The Art of Computer Programming, 1.3.2, exercise 14). */
export function easterSunday(year: number): string {
  const golden = (year % 19) + 1
  const century = Math.floor(year / 100) + 1
  const leapYearsDropped = Math.floor((3 * century) / 4) - 12
  const moonCorrection = Math.floor((8 * century + 5) / 25) - 5
  const sunday = Math.floor((5 * year) / 4) - leapYearsDropped - 10
  const epact = (((11 * golden + 20 + moonCorrection - leapYearsDropped) % 30) + 30) % 30
  const isLate = epact === 24 || (epact === 25 && golden > 11)
  const beforeMoon = 44 - (isLate ? epact + 1 : epact)
  const fullMoon = beforeMoon < 21 ? beforeMoon + 30 : beforeMoon
  const marchDay = fullMoon + 7 - ((sunday + fullMoon) % 7)
  return marchDay > 31 ? join(year, 4, marchDay - 31) : join(year, 3, marchDay)
}

/** Returns whether the bank publishes on `date`: not at weekends, nor on the closing days of TARGET. */
export function isTargetDay(date: string): boolean {
  if (date === '1999-12-31' || date === '2001-12-31') return false
  const isHoliday = ['01-01', '05-01', '12-25', '12-26'].includes(date.slice(5))
  // TARGET did not close over Easter in its first year.
  if (date.startsWith('1999')) return !isWeekend(date) && !isHoliday
  const sunday = easterSunday(Number(date.slice(0, 4)))
  const isGoodFriday = date === daysBefore(sunday, 2)
  return !isWeekend(date) && !isHoliday && !isGoodFriday && daysBefore(date, 1) !== sunday
}

function monthBefore(year: number, month: number): [number, number] {
  return month === 1 ? [year - 1, 12] : [year, month - 1]
}

function lastOf(year: number, month: number): number {
  const isLeap = year % 400 === 0 || (year % 4 === 0 && year % 100 !== 0)
  if (month === 2) return isLeap ? 29 : 28
  return [4, 6, 9, 11].includes(month) ? 30 : 31
}

function split(date: string): [number, number, number] {
  return [Number(date.slice(0, 4)), Number(date.slice(5, 7)), Number(date.slice(8))]
}

function join(year: number, month: number, day: number): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`
}
