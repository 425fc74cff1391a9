import {
  MAX_CODES,
  MAX_CODES_CHARACTERS,
  invalidAmount,
  invalidCurrency,
  invalidParameter,
  isAmount,
  isCodeShaped,
  isDay,
  minorUnitHint,
  missingParameter,
  splitCodes,
  tooManyCodes,
} from '../core.ts'
import type { Day, RouteRequest } from '../core.ts'

/** Returns the code in `sent` in upper case. Throws `invalid_currency`, or `missing_parameter` without a code. */
export function readCode(name: string, sent: string | undefined): string {
  if (sent === undefined) throw missingParameter(name)
  if (!isCodeShaped(sent)) throw invalidCurrency(name, sent, minorUnitHint(sent))
  return sent.toUpperCase()
}

/**
 * Returns the distinct items of a list of codes in upper case, well-formed or not; undefined for an empty list. Throws
 * `invalid_currency` for a part of a currency, such as `GBp`.
 */
export function readList(name: string, sent: string | undefined): string[] | undefined {
  if (sent === undefined) return undefined
  const items = sent.length > MAX_CODES_CHARACTERS ? undefined : splitCodes(sent)
  if (!items || items.length > MAX_CODES) throw tooManyCodes(name)
  if (items.length === 0) return undefined
  const part = items.find((item) => /^[A-Z]{2}[a-z]$/.test(item))
  if (part !== undefined) throw invalidCurrency(name, part, minorUnitHint(part))
  return [...new Set(items.map((item) => item.toUpperCase()))]
}

/** Returns the amount in `sent` (default 1). Throws `invalid_amount`. */
export function readAmount(sent = '1'): number {
  if (!isAmount(sent)) throw invalidAmount(sent)
  return Number(sent)
}

/** Of a range that takes more work than this, an amount has at most 6 digits: more take several times longer. */
const MAX_WORK_FOR_LONG_AMOUNTS = 60

/** Throws `invalid_amount` for an amount with which a range would take too long, or fail at its last day. */
export function requireRangeAmount(amount: number, work: number): void {
  const digits = work > MAX_WORK_FOR_LONG_AMOUNTS ? 6 : 15
  const isUsual = amount === 0 || (amount >= 1e-9 && amount < 1e15)
  if (isUsual && Number(amount.toPrecision(digits)) === amount) return
  throw invalidAmount(String(amount), `this range takes up to ${digits} digits, from 1e-9 to 1e15`)
}

/** Returns the day in `sent`. Throws `invalid_parameter`, or `missing_parameter` without a day. */
export function readDay(name: string, sent: string | undefined): Day {
  if (sent === undefined) throw missingParameter(name)
  if (!isDay(sent)) throw invalidParameter(name, 'YYYY-MM-DD')
  return sent
}

const MAX_COST = 10

/** Of a range without a list. */
const USUAL_CODES = 30

const FIVE_YEARS_MS = 5 * 365.25 * 86_400_000

/** Returns the cost of a range: its work, at most 10. */
export function costOfRange(...range: Parameters<typeof workOfRange>): number {
  return Math.min(MAX_COST, workOfRange(...range))
}

/** Returns currencies × started five years. */
export function workOfRange(
  list: RouteRequest['query'][string],
  start: unknown,
  end: unknown,
): number {
  const codes = typeof list === 'string' && list ? new Set(list.split(',')).size : USUAL_CODES
  const span = (instantOf(end) - instantOf(start)) / FIVE_YEARS_MS
  // An invalid day gets an error.
  return codes * Math.max(1, Math.ceil(span) || 1)
}

function instantOf(value: unknown): number {
  return typeof value === 'number' ? value : Date.parse(String(value))
}
