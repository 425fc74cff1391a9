import { isCode } from '../../rates/currency-code.ts'
import { isDay } from '../../rates/dates.ts'
import type { HistoryDay } from '../../upstream/provider.ts'

const DECIMAL = /^(?:0|[1-9]\d*)(?:\.\d+)?$/

/** Limit of a rate's length: real rates have up to nine characters. */
export const MAX_CHARACTERS = 30

/** Whether `text` is a rate in plain digits, such as `1.0923`. */
export function isRate(text: string): boolean {
  return text.length <= MAX_CHARACTERS && DECIMAL.test(text)
}

type Part = 'line' | 'column' | 'day'

/** Returns the rate in `text`; an error names `part` and `number`. */
export function parseRate(text: string, part: Part, number: number): number {
  if (isRate(text)) return Number(text)
  throw new Error(`${part} ${number} has an invalid rate; expected digits such as 1.0923`)
}

/** Returns `text` if it is an upper-case code; an error names `part` and `number`. */
export function requireCode(text: string, part: Part, number: number): string {
  if (isCode(text)) return text
  throw new Error(`${part} ${number} has an invalid code; expected three capital letters`)
}

/** Returns `text` if it is a day; an error names `part` and `number`. */
export function requireDay(text: string, part: Part, number: number): string {
  if (isDay(text)) return text
  throw new Error(`${part} ${number} has an invalid date; expected YYYY-MM-DD`)
}

/** Adds a rate to `rates`; throws if there is already one of the currency. */
export function addRate(rates: Record<string, number>, code: string, rate: number): void {
  if (Object.hasOwn(rates, code)) throw new Error(`duplicate ${code} on one day`)
  rates[code] = rate
}

/**
 * Returns `days` in ascending order.
 *
 * @throws {Error} if a day is duplicate, or there are no days
 */
export function toPublishedDays(days: readonly HistoryDay[]): HistoryDay[] {
  const ascending = days.toSorted((a, b) => (a.date < b.date ? -1 : 1))
  const duplicate = ascending.find(({ date }, index) => date === ascending[index + 1]?.date)
  if (duplicate) throw new Error(`duplicate day ${duplicate.date}`)
  if (ascending.length === 0) throw new Error('expected at least 1 day, got 0')
  return ascending
}
