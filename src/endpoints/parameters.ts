import {
  MAX_AGE_LIMIT,
  SOURCE_FORM,
  invalidMaxAge,
  invalidRule,
  invalidSource,
} from '../api/resolve-code.ts'
import {
  invalidAmount,
  invalidCurrency,
  invalidParameter,
  invalidPeriod,
  missingParameter,
} from '../errors.ts'
import type { RatesError } from '../errors.ts'
import type { Failures } from '../http/query.ts'
import { CODE_FORM } from '../rates/currency-code.ts'
import { DATE_RULES, INTERVALS, PERIODS, isDay } from '../rates/dates.ts'
import type { DateRule, Day, Interval, Period } from '../rates/dates.ts'
import * as z from 'zod/mini'

export const MAX_SYMBOLS = 250

export const MAX_SYMBOLS_CHARACTERS = 2_048

export const failures: Failures = {
  missing: missingParameter,
  currency: invalidCurrency,
  amount: (_parameter, sent) => invalidAmount(sent),
  period: (_parameter, sent) => invalidPeriod(sent, PERIODS),
  date: (parameter) => invalidParameter(parameter, 'must be YYYY-MM-DD'),
  rule: invalidRule,
  maxAge: invalidMaxAge,
  source: invalidSource,
  interval: (parameter) => invalidParameter(parameter, 'must be day, week, month, quarter or year'),
  format: (parameter) => invalidParameter(parameter, 'must be json or csv'),
  overlong: tooManyCodes,
}

export function tooManyCodes(parameter: string): RatesError {
  const limits = `${MAX_SYMBOLS} codes and ${MAX_SYMBOLS_CHARACTERS} characters`
  return invalidParameter(parameter, `must have at most ${limits}`)
}

export const currency: z.ZodMiniType<string, string> = z
  .string('missing')
  .check(z.regex(CODE_FORM, 'currency'))

export const base: Optional<string> = z.optional(currency)

/** Codes separated by commas; allows spaces around them and empty items. */
export const symbols: Optional<string[], string> = z.optional(
  z.pipe(
    z.pipe(z.string().check(atMost(MAX_SYMBOLS_CHARACTERS)), z.transform(splitSymbols)),
    z.array(currency).check(atMost(MAX_SYMBOLS)),
  ),
)

export const period: Optional<Period> = z.optional(z.custom<Period>(isOneOf(PERIODS), 'period'))

export const date: Optional<Day> = z.optional(z.string().check(z.refine(isDay, 'date')))

export const rule: Optional<DateRule> = z.optional(z.custom<DateRule>(isOneOf(DATE_RULES), 'rule'))

export const maxAge: Optional<number, string> = z.optional(
  z.pipe(z.string().check(z.refine(isMaxAge, 'maxAge')), z.transform(Number)),
)

function isMaxAge(text: string): boolean {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= MAX_AGE_LIMIT
}

export const source: Optional<string> = z.optional(z.string().check(z.regex(SOURCE_FORM, 'source')))

export const interval: Optional<Interval> = z.optional(
  z.custom<Interval>(isOneOf(INTERVALS), 'interval'),
)

export type Format = 'json' | 'csv'

export const format: Optional<Format> = z.optional(
  z.custom<Format>(isOneOf(['json', 'csv']), 'format'),
)

// zod's own length checks are larger in a bundle than this file.
function atMost(limit: number): z.core.$ZodCheck<{ length: number }> {
  return z.refine(({ length }) => length <= limit, 'overlong')
}

function isOneOf(known: readonly string[]): (text: unknown) => boolean {
  return (text) => known.some((each) => each === text)
}

export type Optional<Read, Sent = Read> = z.ZodMiniType<Read | undefined, Sent | undefined>

export function splitSymbols(text: string): string[] {
  return text
    .split(',')
    .map(trimSpaces)
    .filter((item) => item !== '')
}

// `trim` would remove all Unicode white space.
function trimSpaces(text: string): string {
  let start = 0
  let end = text.length
  while (text[start] === ' ') start += 1
  while (text[end - 1] === ' ') end -= 1
  return text.slice(start, end)
}
