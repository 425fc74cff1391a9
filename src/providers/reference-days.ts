import { isCode } from '../rates/currency-code.ts'
import { isDay } from '../rates/day.ts'
import type { HistoryDay } from './provider.ts'

const DECIMAL = /^(?:0|[1-9]\d*)(?:\.\d+)?$/

/** A rate has no more characters than this: real ones have up to nine. */
export const MAX_CHARACTERS = 30

/** Whether `text` is a rate in plain digits. */
export function isRate(text: string): boolean {
  return text.length <= MAX_CHARACTERS && DECIMAL.test(text)
}

/** Where in an answer something is, for a message: it never quotes the answer itself. */
type Part = 'line' | 'column' | 'day'

/** Returns the rate in plain digits that `text` is, in the part of this `number`. */
export function parseRate(text: string, part: Part, number: number): number {
  if (!isRate(text)) throw new Error(`${part} ${number} has no plain rate`)
  return Number(text)
}

/** Returns `text`, an upper-case code in the part of this `number`. */
export function requireCode(text: string, part: Part, number: number): string {
  if (!isCode(text)) throw new Error(`${part} ${number} has a code that is not three capitals`)
  return text
}

/** Returns `text`, a day in the part of this `number`. */
export function requireDay(text: string, part: Part, number: number): string {
  if (!isDay(text)) throw new Error(`${part} ${number} has a date that is not YYYY-MM-DD`)
  return text
}

/** Keeps a rate; throws where `rates` has one of the currency. */
export function addRate(rates: Record<string, number>, code: string, rate: number): void {
  if (Object.hasOwn(rates, code)) throw new Error(`${code} is there twice on one day`)
  rates[code] = rate
}

/**
 * `days`, ascending.
 *
 * @throws {Error} where one is there twice, or there are none
 */
export function toPublishedDays(days: readonly HistoryDay[]): HistoryDay[] {
  const ascending = days.toSorted((a, b) => (a.date < b.date ? -1 : 1))
  const twice = ascending.find(({ date }, index) => date === ascending[index + 1]?.date)
  if (twice) throw new Error(`${twice.date} is there twice`)
  if (ascending.length === 0) throw new Error('there is no day')
  return ascending
}
