import { isCode } from '../rates/currency-code.ts'
import { isDay } from '../rates/day.ts'
import type { HistoryDay } from './provider.ts'

const DECIMAL = /^(?:0|[1-9]\d*)(?:\.\d+)?$/

/** A rate has no more characters than this: real ones have up to nine. */
export const MOST_CHARACTERS = 30

/** Whether `text` is a rate in plain digits. */
export function isRate(text: string): boolean {
  return text.length <= MOST_CHARACTERS && DECIMAL.test(text)
}

/** The rate that `text` stands for, in plain digits. */
export function parseRate(text: string): number {
  if (!isRate(text)) throw new Error(`${shown(text)} is no rate`)
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
 * @throws {Error} where one is there twice, or there are none
 */
export function toPublishedDays(days: readonly HistoryDay[]): HistoryDay[] {
  const ascending = days.toSorted((a, b) => (a.date < b.date ? -1 : 1))
  const twice = ascending.find(({ date }, index) => date === ascending[index + 1]?.date)
  if (twice) throw new Error(`${twice.date} is there twice`)
  if (ascending.length === 0) throw new Error('there is no day')
  return ascending
}

/** What is odd, short enough for a message. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 20 ? `${text.slice(0, 20)}…` : text)
}
