import {
  MAX_SYMBOLS,
  MAX_SYMBOLS_CHARACTERS,
  splitSymbols,
  tooManyCodes,
} from '../endpoints/parameters.ts'
import { invalidAmount, invalidCurrency, invalidParameter, missingParameter } from '../errors.ts'
import { createQueryParser } from '../http/query.ts'
import { isAmount } from '../rates/arithmetic.ts'
import { isCodeShaped } from '../rates/currency-code.ts'
import { isDay } from '../rates/dates.ts'
import type { Day } from '../rates/dates.ts'
import * as z from 'zod/mini'

export type Query<Name extends string> = { readonly [Each in Name]?: string }

const text = z.optional(z.string())

/** By the rules of the native endpoints: throws for repeated and misspelt names, and ignores others. */
export function createQueryReader<Name extends string>(
  ...names: Name[]
): (query: string) => Query<Name> {
  const read = createQueryParser<Record<string, typeof text>, object>({
    parameters: Object.fromEntries(names.map((name) => [name, text])),
    failures: {},
    toParams: (values) => values,
  })
  const isQuery = (values: object): values is Query<Name> =>
    Object.keys(values).every((name) => names.some((known) => known === name))
  return (query) => {
    const values = read(query)
    if (isQuery(values)) return values
    throw new Error('the query parser read an unknown parameter')
  }
}

/** Returns the code in `sent` in upper case. Throws `invalid_currency`, or `missing_parameter` without a code. */
export function readCode(name: string, sent: string | undefined): string {
  if (sent === undefined) throw missingParameter(name)
  if (!isCodeShaped(sent)) throw invalidCurrency(name, sent)
  return sent.toUpperCase()
}

/** Returns the distinct items of a list of codes in upper case, well-formed or not; undefined for an empty list. */
export function readList(name: string, sent: string | undefined): string[] | undefined {
  if (sent === undefined) return undefined
  const items = sent.length > MAX_SYMBOLS_CHARACTERS ? undefined : splitSymbols(sent)
  if (!items || items.length > MAX_SYMBOLS) throw tooManyCodes(name)
  if (items.length === 0) return undefined
  return [...new Set(items.map((item) => item.toUpperCase()))]
}

/** Returns the amount in `sent` (default 1). Throws `invalid_amount`. */
export function readAmount(sent = '1'): number {
  if (!isAmount(sent)) throw invalidAmount(sent)
  return Number(sent)
}

/** Returns the day in `sent`. Throws `invalid_parameter`, or `missing_parameter` without a day. */
export function readDay(name: string, sent: string | undefined): Day {
  if (sent === undefined) throw missingParameter(name)
  if (!isDay(sent)) throw invalidParameter(name, 'YYYY-MM-DD')
  return sent
}
