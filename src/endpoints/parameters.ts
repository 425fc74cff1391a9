import * as z from 'zod/mini'

import {
  invalidAmount,
  invalidCurrency,
  invalidParameter,
  invalidPeriod,
  missingParameter,
} from '../errors.ts'
import type { RatesError } from '../errors.ts'
import type { Failures } from '../http/query.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import { isDay } from '../rates/day.ts'
import type { Day } from '../rates/day.ts'
import { INTERVALS } from '../rates/interval.ts'
import type { Interval } from '../rates/interval.ts'
import { PERIODS } from '../rates/period.ts'
import type { Period } from '../rates/period.ts'

/** The most codes in `symbols`. */
export const MAX_SYMBOLS = 250

/** The most characters of `symbols`. */
export const MAX_SYMBOLS_CHARACTERS = 2_048

/** The most characters of an amount. */
export const MAX_AMOUNT_CHARACTERS = 64

/** The errors that the schemas below speak of in their messages. */
export const failures: Failures = {
  missing: missingParameter,
  currency: invalidCurrency,
  amount: (_parameter, sent) => invalidAmount(sent),
  period: (_parameter, sent) => invalidPeriod(sent, PERIODS),
  date: (parameter) => invalidParameter(parameter, 'YYYY-MM-DD'),
  interval: (parameter) => invalidParameter(parameter, 'day, week or month'),
  format: (parameter) => invalidParameter(parameter, 'json or csv'),
  overlong: tooManyCodes,
}

/** A list of codes that is too long. */
export function tooManyCodes(parameter: string): RatesError {
  const most = `at most ${MAX_SYMBOLS} codes in ${MAX_SYMBOLS_CHARACTERS} characters`
  return invalidParameter(parameter, most)
}

/** The form of a currency code, in either case; whether it exists is for the data to say. */
export const currency: z.ZodMiniType<string, string> = z
  .string('missing')
  .check(z.refine(isCodeShaped, 'currency'))

/** A currency code that may be left out. */
export const base: Optional<string> = z.optional(currency)

/** Codes separated by commas, with spaces around them or nothing between them. */
export const symbols: Optional<string[], string> = z.optional(
  z.pipe(
    z.pipe(z.string().check(atMost(MAX_SYMBOLS_CHARACTERS)), z.transform(splitSymbols)),
    z.array(currency).check(atMost(MAX_SYMBOLS)),
  ),
)

/** The text of a plain decimal, finite as a double, and not one that a double would turn into 0. */
export const amount: Optional<string> = z.optional(z.string().check(z.refine(isAmount, 'amount')))

/** One of the six periods, exactly. */
export const period: Optional<Period> = z.optional(z.custom<Period>(isOneOf(PERIODS), 'period'))

/** A calendar day, `YYYY-MM-DD`. */
export const date: Optional<Day> = z.optional(z.string().check(z.refine(isDay, 'date')))

/** One of the intervals, exactly. */
export const interval: Optional<Interval> = z.optional(
  z.custom<Interval>(isOneOf(INTERVALS), 'interval'),
)

/** What an answer is to be written in. */
export type Format = 'json' | 'csv'

/** One of the formats, exactly. */
export const format: Optional<Format> = z.optional(
  z.custom<Format>(isOneOf(['json', 'csv']), 'format'),
)

/** At most so many characters or codes. What zod itself has for lengths weighs more in a bundle than this file. */
function atMost(most: number): z.core.$ZodCheck<{ length: number }> {
  return z.refine(({ length }) => length <= most, 'overlong')
}

function isOneOf(known: readonly string[]): (text: unknown) => boolean {
  return (text) => known.some((each) => each === text)
}

type Optional<Read, Sent = Read> = z.ZodMiniType<Read | undefined, Sent | undefined>

/** The codes of a list, well-formed or not. */
export function splitSymbols(text: string): string[] {
  return text
    .split(',')
    .map(trimSpaces)
    .filter((item) => item !== '')
}

/** `text` without the spaces around it. `trim` would take every white space that Unicode knows. */
function trimSpaces(text: string): string {
  let start = 0
  let end = text.length
  while (text[start] === ' ') start += 1
  while (text[end - 1] === ' ') end -= 1
  return text.slice(start, end)
}

/** Whether `text` is an amount. */
export function isAmount(text: string): boolean {
  if (text.length > MAX_AMOUNT_CHARACTERS) return false
  if (!/^(\d+(\.\d+)?|\.\d+)([eE][+-]?\d+)?$/.test(text)) return false
  const value = Number(text)
  return Number.isFinite(value) && (value !== 0 || !/^[^eE]*[1-9]/.test(text))
}
