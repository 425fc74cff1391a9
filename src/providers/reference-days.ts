import { isCode } from '../rates/currency-code.ts'
import { isDay } from '../rates/day.ts'
import type { HistoryDay } from './provider.ts'

const DECIMAL = /^\d+(?:\.\d+)?$/

/** A rate as it was published, in digits. */
export function parseRate(text: string): number {
  if (!DECIMAL.test(text)) throw new Error(`${shown(text)} is no rate`)
  return Number(text)
}

/** `text`, which is to be an upper-case code. */
export function requireCode(text: string): string {
  if (!isCode(text)) throw new Error(`${shown(text)} is no currency`)
  return text
}

/** `text`, which is to be a day. */
export function requireDay(text: string): string {
  if (!isDay(text)) throw new Error(`${shown(text)} is no day`)
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
 * @throws {Error} where one is there twice or has no rates, or there are none
 */
export function toPublishedDays(days: readonly HistoryDay[]): HistoryDay[] {
  const ascending = days.toSorted((a, b) => (a.date < b.date ? -1 : 1))
  for (const [index, { date, rates }] of ascending.entries()) {
    if (date === ascending[index + 1]?.date) throw new Error(`${date} is there twice`)
    if (!hasAny(rates)) throw new Error(`${date} has no rates`)
  }
  if (ascending.length === 0) throw new Error('there is no day')
  return ascending
}

/** What is odd, short enough for a message. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 20 ? `${text.slice(0, 20)}…` : text)
}

/** Whether there is a rate: without a list of forty codes for each of some thousand days. */
export function hasAny(rates: Record<string, number>): boolean {
  for (const code in rates) if (Object.hasOwn(rates, code)) return true
  return false
}
