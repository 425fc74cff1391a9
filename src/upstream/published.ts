import { mean } from '../rates/arithmetic.ts'
import { addDays, periodOf, piecesOf } from '../rates/dates.ts'
import type { Day, DaySpan } from '../rates/dates.ts'
import { divideSignificant, multiply, toDecimal, toNumber } from '../rates/decimal.ts'
import { MAX_CLOSED_DAYS } from './feed.ts'
import { readXml } from './xml.ts'
import type { XmlElement } from './xml.ts'

/** A published quote: either a `price` or a `rate`. Texts are plain decimals with a point; null, undefined or empty are gaps. */
export interface Quote {
  /** `YYYY-MM-DD`. */
  date: unknown
  code: unknown
  /** Units of the base for `units` of the currency. */
  price?: unknown
  /** Number of units that `price` is for (default 1). A bank that publishes it with every price has it with every quote. */
  units?: unknown
  /** Units of the currency for one unit of the base. */
  rate?: unknown
  tableNumber?: unknown
}

/** The prices at which a bank buys or sells a currency, or the middle of both. */
export type Side = 'buying' | 'selling' | 'middle'

/** What a response is of. */
export interface ReadRequest {
  span: DaySpan
  side: Side
  /** The only currency (default the whole table). */
  code?: string | undefined
  /** The part of the publication. */
  about?: string | undefined
}

/** Parses a response; throws where the format is unexpected. */
export type ReadQuotes = (text: string, request: ReadRequest) => Iterable<Quote>

type Row = Readonly<Record<string, unknown>>

/** Reads the array at `path` of a JSON body, such as `data.rows`; empty for the body. */
/* @__NO_SIDE_EFFECTS__ */
export function jsonRows(
  path: string,
  toQuotes: (row: Row, request: ReadRequest) => Iterable<Quote>,
): ReadQuotes {
  return function* read(text, request) {
    for (const row of parseRows(text, path)) yield* toQuotes(row, request)
  }
}

/** Reads the elements at `path` of an XML document, without those of which `toQuote` returns undefined. */
/* @__NO_SIDE_EFFECTS__ */
export function xmlRows(
  path: string,
  toQuote: (element: XmlElement, request: ReadRequest) => Quote | undefined,
  { mayBeEmpty = false }: { mayBeEmpty?: boolean } = {},
): ReadQuotes {
  return function* read(text, request) {
    let rows = 0
    for (const element of readXml(text, path)) {
      rows += 1
      const quote = toQuote(element, request)
      if (quote) yield quote
    }
    if (rows === 0 && !mayBeEmpty) throw new Error('no rates')
  }
}

/** Returns the words of a text such as `USD EUR`. */
/* @__NO_SIDE_EFFECTS__ */
export function words(text: string): readonly string[] {
  return text.split(' ')
}

/* @__NO_SIDE_EFFECTS__ */
export function keysOf(map: ReadonlyMap<string, string>): readonly string[] {
  return [...map.keys()]
}

/** Days from which banks that have one code for two currencies mean the later one. */
const RENAMED: ReadonlyMap<unknown, readonly [before: string, since: Day]> =
  /* @__PURE__ */ new Map([
    ['SLE', ['SLL', '2023-03-01']],
    ['TJS', ['TJR', '2000-10-30']],
  ])

/** Returns the ISO 4217 code of what a bank has under `code` on a day. */
export function codeOn(date: string, code: unknown): unknown {
  const [before, since = ''] = RENAMED.get(code) ?? []
  return date < since ? before : code
}

/** Returns the pairs of a text such as `US dollar:USD, Euro:EUR`. */
/* @__NO_SIDE_EFFECTS__ */
export function pairs(text: string, separator = ', '): ReadonlyMap<string, string> {
  return new Map(
    text.split(separator).map((pair) => {
      const [key = '', value = ''] = pair.split(':')
      return [key, value]
    }),
  )
}

/** Enough digits that the nearest double is that of the exact quotient. */
const QUOTIENT_DIGITS = 40

/** Returns the price of one of `units`, divided in decimals; NaN if one of the numbers is invalid. */
export function perUnit(price: unknown, units: unknown): number {
  const [value, divisor] = [numberOf(price), numberOf(units)]
  if (divisor === 1 || Number.isNaN(value)) return value
  if (!Number.isSafeInteger(divisor)) return NaN
  return toNumber(divideSignificant(toDecimal(value), toDecimal(divisor), QUOTIENT_DIGITS))
}

/** A troy ounce is exactly 31.1034768 g. */
const GRAMS_PER_TROY_OUNCE = 31.103_476_8

/** Returns the price of a troy ounce from that of a gram, multiplied in decimals; NaN if it is invalid. */
export function perTroyOunce(pricePerGram: unknown): number {
  const value = numberOf(pricePerGram)
  if (Number.isNaN(value)) return NaN
  return toNumber(multiply(toDecimal(value), toDecimal(GRAMS_PER_TROY_OUNCE)))
}

/** Returns a positive number; NaN for anything else, such as a text with a decimal comma. */
function numberOf(published: unknown): number {
  const isDecimal = typeof published === 'string' && /^\d{1,20}(?:\.\d{1,20})?$/.test(published)
  const value = isDecimal ? Number(published) : published
  return typeof value === 'number' && value > 0 && value < Infinity ? value : NaN
}

/** Returns the middle of two published numbers, in decimals; NaN if one is invalid. */
export function middleOf(buying: unknown, selling: unknown): number {
  const values = Float64Array.of(numberOf(buying), numberOf(selling))
  return values.some(Number.isNaN) ? NaN : mean(values)
}

/** Returns one of two published numbers, or their middle. */
export function sideOf({ side }: ReadRequest, buying: unknown, selling: unknown): unknown {
  if (side === 'middle') return middleOf(buying, selling)
  return side === 'buying' ? buying : selling
}

/** Returns a text with a decimal comma as one with a point; other texts and values become invalid numbers. */
export function withPoint(text: unknown): string {
  return typeof text === 'string' && !text.includes('.') ? text.replace(',', '.') : 'invalid'
}

/** Returns a text such as `1,435.40` without commas between thousands; others, such as one with a decimal comma, unchanged. */
export function withoutGroups(text: string): string {
  return /^\d{1,3}(,\d{3})+\.\d+$/.test(text) ? text.replaceAll(',', '') : text
}

/** Returns `day` in a form such as `DD/MM/YYYY`. */
export function formatDay(day: Day, form: string): string {
  return form
    .replace('YYYY', day.slice(0, 4))
    .replace('MM', day.slice(5, 7))
    .replace('DD', day.slice(8))
    .replace('MON', MONTHS[Number(day.slice(5, 7)) - 1] ?? '')
}

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/**
 * Returns the day in a text with its numbers in the order day, month, year, as in `17.03.2026` or `17-Mar-2026`, or month,
 * day, year, as in `March 17, 2026`; an empty text for anything else.
 */
export function dayIn(text: unknown): string {
  const given = String(text)
  const [, day, month = '', year] =
    /^(\d\d?)[-./ ](\d\d|[A-Z][a-z]{2})[-./ ](\d{4})$/.exec(given) ?? []
  if (day !== undefined) return `${year}-${monthOf(month)}-${day.padStart(2, '0')}`
  const [, name = '', dayOfMonth, inYear] =
    /^([A-Z][a-z]{2})[a-z]* (\d\d?), (\d{4})$/.exec(given) ?? []
  return dayOfMonth === undefined ? '' : `${inYear}-${monthOf(name)}-${dayOfMonth.padStart(2, '0')}`
}

function monthOf(text: string): string {
  return /^\d/.test(text) ? text : String(MONTHS.indexOf(text) + 1).padStart(2, '0')
}

/** Each with the days before in which rates were published: a service may fail for a span without any. */
export function withDaysBefore(range: DaySpan, maxDays: number): DaySpan[] {
  return piecesOf(range, maxDays).map(({ start, end }) => {
    return { start: addDays(start, -MAX_CLOSED_DAYS), end }
  })
}

export function yearsOf({ start, end }: DaySpan): DaySpan[] {
  const [first, last] = [start, end].map((day) => Number(day.slice(0, 4)))
  return Array.from({ length: Math.max(0, (last ?? 0) - (first ?? 0) + 1) }, (_, index) => {
    const year = (first ?? 0) + index
    return { start: `${year}-01-01`, end: `${year}-12-31` }
  })
}

export function monthsOf({ start, end }: DaySpan): DaySpan[] {
  const months: DaySpan[] = []
  for (let day = start; day <= end;) {
    const { first, last } = periodOf(day)
    months.push({ start: first, end: last })
    day = addDays(last, 1)
  }
  return months
}

/** @throws {Error} if the last line has no end: the last number may be truncated */
export function requireWhole(text: string): string {
  if (text.endsWith('\n')) return text
  throw new Error('the table is truncated')
}

/** @throws {Error} if the text is not JSON, or has no array at `path` */
export function parseRows(text: string, path = ''): Row[] {
  let rows: unknown
  try {
    rows = JSON.parse(text)
  } catch {
    throw new Error('invalid JSON')
  }
  for (const name of path === '' ? [] : path.split('.')) rows = Object(rows)[name]
  if (!Array.isArray(rows)) throw new Error('rows')
  return rows.map(Object)
}
